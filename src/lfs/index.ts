import { lfsLockSchema, lfsObjectSchema, lfsRepositorySchema } from './schema/lfs-schema.ts';

export { createLfs } from './lfs.ts';
export type { Lfs } from './lfs.ts';
export { lfsSettingsOf } from './settings.ts';
export type { LfsContext } from './lfs-context.ts';
export { AlreadyLocked } from './locks/locks.ts';
export type { LfsLock } from './locks/locks.ts';
export type { LfsFault } from './integrity/check-objects.ts';
export type { ScannedRepository } from './gc/collect-garbage.ts';
export { isOid, objectKey as lfsKey, objectPrefix as lfsPrefix } from './object-key.ts';
export { readPointer } from './pointers/read-pointer.ts';
export type { LfsPointer } from './pointers/read-pointer.ts';
export type { LfsObjectRow } from './schema/lfs-schema.ts';
export { looksLikeTransferToken, tokenTtlMs } from './tokens/transfer-token.ts';
export type { LfsOperation, TransferGrant } from './tokens/transfer-token.ts';
export type { BatchEntry, NamedObject } from './transfers/batch.ts';

export const lfsEntities = [lfsObjectSchema, lfsRepositorySchema, lfsLockSchema];
