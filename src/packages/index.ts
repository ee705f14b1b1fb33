import {
  packageBlobNameSchema,
  packageBlobSchema,
  packageUploadChunkSchema,
  packageUploadSchema,
  packageUsageSchema,
} from './schema/blob-schema.ts';
import { packageRetentionSchema } from './schema/retention-schema.ts';
import { packageFileSchema, packageSchema, packageTagSchema, packageVersionSchema } from './schema/package-schema.ts';

export { createPackages } from './packages.ts';
export type { Packages } from './packages.ts';
export type { RetentionRules } from './retention/retention-rules.ts';
export type { RetentionFormat } from './retention/retention.ts';
export { packageSettingsOf } from './settings.ts';
export type { PackageEvent, PackageListener } from './deps.ts';
export {
  blobKey as packageBlobKey,
  blobPrefix as packageBlobPrefix,
  chunkKey as packageChunkKey,
  chunkPrefix as packageChunkPrefix,
  readDigest,
} from './blobs/blob-key.ts';
export type { Digest } from './blobs/blob-key.ts';
export type { StoredBlob } from './blobs/store-blob.ts';
export { formatNames } from './formats/format.ts';
export type { FormatName } from './formats/format.ts';
export { formatOf, isFileName } from './formats/formats.ts';
export { blobMissing, packageNotFound, packagesOff, versionNotFound } from './package-errors.ts';
export type { FoundPackage, PackageAt, PublishTarget } from './rights/find-package.ts';
export type { PackageFileRow, PackageRow, PackageVersionRow } from './schema/package-schema.ts';
export { readChunkRange } from './uploads/chunked-upload.ts';
export { findNamedBlob } from './blobs/named-blobs.ts';
export type { NamedVersion } from './versions/read-versions.ts';
export type { ListedVersion } from './lists/list-versions.ts';
export { hasVersion } from './versions/read-versions.ts';
export type { NewFile } from './versions/publish-version.ts';

export const packageEntities = [
  packageSchema,
  packageVersionSchema,
  packageFileSchema,
  packageTagSchema,
  packageBlobSchema,
  packageBlobNameSchema,
  packageUploadSchema,
  packageUploadChunkSchema,
  packageUsageSchema,
  packageRetentionSchema,
];
