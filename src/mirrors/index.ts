import { mirrorSchema } from './mirror-schema.ts';

export { exportParcel, importParcel } from './parcels.ts';
export type { Imported, ImportWishes, ParcelRoom } from './parcels.ts';
export { createMirrors } from './mirrors.ts';
export type { MirrorOptions, Mirrors } from './mirrors.ts';
export type { RepositoryElsewhere } from './elsewhere.ts';
export type { Mirror } from './describe-mirror.ts';
export type { ImportInput } from './import-repository.ts';
export type { MirrorInput } from './mirror-input.ts';
export { plainHttpRisk as plainHttpMirrorRisk } from './reach-remote.ts';
export type { MirrorDirection } from './mirror-schema.ts';

export const mirrorEntities = [mirrorSchema];
