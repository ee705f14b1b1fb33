import { EntitySchema } from 'typeorm';

/** Content of an owner, stored once for all of its references. Digests are hex; times are epoch milliseconds. */
export interface PackageBlobRow {
  ownerId: string;
  sha256: string;
  /** Known if a client has used it. */
  sha512: string | null;
  bytes: number;
  storedAt: number;
  /** Time when an upload, a mount or a version last referenced it. */
  neededAt: number;
  /**
   * The last part of its object's key, which is never reused, so that removing an old object cannot remove its
   * successor. Null for an object of an earlier program, which has the digest there.
   */
  objectName: string | null;
}

export const packageBlobSchema = new EntitySchema<PackageBlobRow>({
  name: 'packageBlob',
  tableName: 'package_blobs',
  columns: {
    ownerId: { name: 'owner_id', type: 'text', primary: true },
    sha256: { type: 'text', primary: true },
    sha512: { type: 'text', nullable: true },
    bytes: { type: 'integer' },
    storedAt: { name: 'stored_at', type: 'integer' },
    neededAt: { name: 'needed_at', type: 'integer' },
    objectName: { name: 'object_name', type: 'text', nullable: true },
  },
});

/** An upload or a mount has made a blob visible in a package before a version references it. */
interface PackageBlobNameRow {
  packageId: string;
  sha256: string;
  namedAt: number;
}

export const packageBlobNameSchema = new EntitySchema<PackageBlobNameRow>({
  name: 'packageBlobName',
  tableName: 'package_blob_names',
  columns: {
    packageId: { name: 'package_id', type: 'text', primary: true },
    sha256: { type: 'text', primary: true },
    namedAt: { name: 'named_at', type: 'integer' },
  },
});

/** An upload in chunks, possibly over several connections and nodes. */
export interface PackageUploadRow {
  id: string;
  packageId: string;
  /** Bytes received. */
  bytes: number;
  createdAt: number;
  updatedAt: number;
}

export const packageUploadSchema = new EntitySchema<PackageUploadRow>({
  name: 'packageUpload',
  tableName: 'package_uploads',
  columns: {
    id: { type: 'text', primary: true },
    packageId: { name: 'package_id', type: 'text' },
    bytes: { type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});

/** A chunk; its content is the object `chunkKey(objectId)`. */
export interface PackageUploadChunkRow {
  uploadId: string;
  firstByte: number;
  bytes: number;
  sha256: string;
  objectId: string;
}

export const packageUploadChunkSchema = new EntitySchema<PackageUploadChunkRow>({
  name: 'packageUploadChunk',
  tableName: 'package_upload_chunks',
  columns: {
    uploadId: { name: 'upload_id', type: 'text', primary: true },
    firstByte: { name: 'first_byte', type: 'integer', primary: true },
    bytes: { type: 'integer' },
    sha256: { type: 'text' },
    objectId: { name: 'object_id', type: 'text' },
  },
});

/** Bytes used by an owner's blobs; maintained by triggers. */
interface PackageUsageRow {
  ownerId: string;
  blobs: number;
  bytes: number;
}

export const packageUsageSchema = new EntitySchema<PackageUsageRow>({
  name: 'packageUsage',
  tableName: 'package_usage',
  columns: {
    ownerId: { name: 'owner_id', type: 'text', primary: true },
    blobs: { type: 'integer' },
    bytes: { type: 'integer' },
  },
});
