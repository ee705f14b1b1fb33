export { createFolderStore, incomingFolder } from './folder-store.ts';
export type { FolderStoreOptions } from './folder-store.ts';
export type { ByteRange, ListedObject, ObjectStore, OpenedObject, PutOptions, StoredObject } from './object-store.ts';
