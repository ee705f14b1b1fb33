import { mirrorSchema } from './mirror-schema.ts';

export { exportParcel, importParcel } from './parcels.ts';
export type { Imported, ImportWishes, ParcelRoom } from './parcels.ts';
export { createMirrors } from './mirrors.ts';
export type { MirrorOptions, Mirrors } from './mirrors.ts';
export type { RepositoryElsewhere } from './elsewhere.ts';
export type { ImportInput, Mirror, MirrorInput } from './manage-mirrors.ts';
export type { MirrorDirection } from './mirror-schema.ts';

export const mirrorEntities = [mirrorSchema];
