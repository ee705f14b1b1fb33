export { createOwners } from './owners.ts';
export type { Owners } from './owners.ts';
export { foldHandle, maxHandleLength, parseHandle, reservedHandles } from './handle-rules.ts';
export type { Handle } from './handle-rules.ts';
export type { HandleClaim } from './claim-handle.ts';
export type { Owner } from './resolve-handle.ts';
export { handleSchema } from './handle-schema.ts';
export type { OwnerKind } from './handle-schema.ts';
