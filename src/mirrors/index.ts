import { mirrorSchema } from './mirror-schema.ts';

export { exportBundle, importBundle, updateIssues } from './export-bundle.ts';
export type { Imported, ImportRequest, BundleDeps } from './export-bundle.ts';
export { updateFromBundle } from './update-from-bundle.ts';
export { createMirrors } from './mirrors.ts';
export type { MirrorOptions, Mirrors } from './mirrors.ts';
export type { RemoteRepository } from './forge-client.ts';
export type { CopyAllowance } from './copy-limits.ts';
export type { ReleasePage } from './releases/fetch-releases.ts';
export type { RemoteRelease } from './releases/remote-release.ts';
export type { Mirror } from './describe-mirror.ts';
export type { MirrorInput } from './mirror-input.ts';
export { plainHttpRisk as plainHttpMirrorRisk } from './remote-credentials.ts';

export const mirrorEntities = [mirrorSchema];
