export { createFolderStore } from './folder-store.ts';
export { incomingFolder } from './incoming.ts';
export { describeStore, openStore, openStoreAs } from './open-store.ts';
export type { OpenedStore, StoreOptions } from './open-store.ts';
export type { StoreStatistics } from './store-metrics.ts';
export type { ByteRange, ListedObject, ObjectStore, OpenedObject, PutOptions, StoredObject } from './object-store.ts';
export { listReferencedObjects } from './referenced-objects.ts';
export type { QueryRows, ReferencedObject, ObjectKind } from './referenced-objects.ts';
export { describeStoreFailure } from './describe-store-failure.ts';
