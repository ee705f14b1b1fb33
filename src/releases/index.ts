import { releaseCountsSchema, releaseFileSchema, releaseSchema } from './schema/release-schema.ts';

export { createReleases } from './releases.ts';
export type { Releases } from './releases.ts';
export { releaseSettingsOf } from './settings.ts';
export type { ReleaseSettings } from './settings.ts';
export type { ReleaseEvent, ReleaseListener } from './deps.ts';
export { numberOf as releaseNumberOf } from './find-release.ts';
export type { ReleaseKey } from './find-release.ts';
export { releaseFilePath, releasePath } from './release-paths.ts';
export { limits as releaseLimits, releaseUploadMs } from './limits.ts';
export { fileKey as releaseFileKey, filePrefix as releaseFilePrefix } from './files/receive-file.ts';
export type { PendingFile } from './files/receive-file.ts';
export { orphansIn as orphanedReleaseObjects } from './files/remove-orphans.ts';
export { compareReleaseCounts, recountReleases } from './recount-releases.ts';
export type { ReleaseEdit } from './lifecycle/edit-release.ts';
export type { DescribedRelease } from './lists/describe-releases.ts';
export type { ForeignFile, ForeignRelease } from './transfer/import-foreign.ts';
export type { ReleaseSource } from './transfer/import-releases.ts';
export type { ReleaseCounts, ReleaseFile, ReleaseRow } from './schema/release-schema.ts';

export const releaseEntities = [releaseSchema, releaseFileSchema, releaseCountsSchema];
