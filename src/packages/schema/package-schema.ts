import { EntitySchema } from 'typeorm';
import type { Visibility } from '../../access/index.ts';
import type { FormatName } from '../formats/format.ts';

/** A package of one owner; times are epoch milliseconds. */
export interface PackageRow {
  id: string;
  ownerId: string;
  ownerKind: 'user' | 'organisation';
  format: FormatName;
  /** As its publisher first spelled it. */
  name: string;
  /** Unique for an owner and a format; see `nameKey` of the format. */
  nameKey: string;
  /** The linked repository. */
  repositoryId: string | null;
  /** Applies while the package is not linked; PRIVATE while it is, so that removing the link exposes nothing. */
  visibility: Visibility;
  /** Number of versions outside the trash. */
  versions: number;
  /** Rules as JSON; null for none. */
  retention: string | null;
  createdAt: number;
  updatedAt: number;
}

export const packageSchema = new EntitySchema<PackageRow>({
  name: 'package',
  tableName: 'packages',
  columns: {
    id: { type: 'text', primary: true },
    ownerId: { name: 'owner_id', type: 'text' },
    ownerKind: { name: 'owner_kind', type: 'text' },
    format: { type: 'text' },
    name: { type: 'text' },
    nameKey: { name: 'name_key', type: 'text' },
    repositoryId: { name: 'repository_id', type: 'text', nullable: true },
    visibility: { type: 'text' },
    versions: { type: 'integer' },
    retention: { type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});

/** A version of a package; for a container image, a manifest by its digest. */
export interface PackageVersionRow {
  id: string;
  packageId: string;
  version: string;
  versionKey: string;
  /** JSON, in a form that the format defines. */
  metadata: string;
  /** Digest of the manifest that this one, such as a signature or a bill of materials, is about. */
  subject: string | null;
  /** Total size of all files. */
  bytes: number;
  downloads: number;
  publisherId: string | null;
  taskId: number | null;
  createdAt: number;
  updatedAt: number;
  /** Set while it is in the trash. */
  deletedAt: number | null;
  deletedBy: string | null;
}

export const packageVersionSchema = new EntitySchema<PackageVersionRow>({
  name: 'packageVersion',
  tableName: 'package_versions',
  columns: {
    id: { type: 'text', primary: true },
    packageId: { name: 'package_id', type: 'text' },
    version: { type: 'text' },
    versionKey: { name: 'version_key', type: 'text' },
    metadata: { type: 'text' },
    subject: { type: 'text', nullable: true },
    bytes: { type: 'integer' },
    downloads: { type: 'integer' },
    publisherId: { name: 'publisher_id', type: 'text', nullable: true },
    taskId: { name: 'task_id', type: 'integer', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
    deletedAt: { name: 'deleted_at', type: 'integer', nullable: true },
    deletedBy: { name: 'deleted_by', type: 'text', nullable: true },
  },
});

/** A file of a version; its content is the blob of its owner and digest. Digests are hex. */
export interface PackageFileRow {
  id: string;
  versionId: string;
  packageId: string;
  ownerId: string;
  name: string;
  nameKey: string;
  sha256: string;
  bytes: number;
  sha1: string | null;
  md5: string | null;
  sha512: string | null;
  mediaType: string | null;
  metadata: string | null;
  downloads: number;
  createdAt: number;
}

export const packageFileSchema = new EntitySchema<PackageFileRow>({
  name: 'packageFile',
  tableName: 'package_files',
  columns: {
    id: { type: 'text', primary: true },
    versionId: { name: 'version_id', type: 'text' },
    packageId: { name: 'package_id', type: 'text' },
    ownerId: { name: 'owner_id', type: 'text' },
    name: { type: 'text' },
    nameKey: { name: 'name_key', type: 'text' },
    sha256: { type: 'text' },
    bytes: { type: 'integer' },
    sha1: { type: 'text', nullable: true },
    md5: { type: 'text', nullable: true },
    sha512: { type: 'text', nullable: true },
    mediaType: { name: 'media_type', type: 'text', nullable: true },
    metadata: { type: 'text', nullable: true },
    downloads: { type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** A movable name of a version: `latest`. */
export interface PackageTagRow {
  packageId: string;
  name: string;
  versionId: string;
  updatedAt: number;
}

export const packageTagSchema = new EntitySchema<PackageTagRow>({
  name: 'packageTag',
  tableName: 'package_tags',
  columns: {
    packageId: { name: 'package_id', type: 'text', primary: true },
    name: { type: 'text', primary: true },
    versionId: { name: 'version_id', type: 'text' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});
