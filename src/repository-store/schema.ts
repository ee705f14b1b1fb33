import { EntitySchema } from 'typeorm';

/** A repository whose refs are rows and whose packs are objects of the store. */
export interface StoredRepository {
  /** UUID of the repository; `<uuid>.wiki` for its wiki. */
  id: string;
  /** The branch that HEAD names. */
  head: string;
  /** Grows with every change of refs, HEAD or packs. */
  generation: number;
  /** The last generation at which objects were left out of the packs. */
  droppedGeneration: number;
  /** The last generation that is known to be in an object of the journal. */
  journalled: number;
  createdAt: number;
  /** The generation as of which the journal has the whole repository in one object. */
  snapshotGeneration: number;
  /** When objects that no ref leads to were left out last. */
  collectedAt: number;
}

export const storedRepositorySchema = new EntitySchema<StoredRepository>({
  name: 'storedRepository',
  tableName: 'stored_repositories',
  columns: {
    id: { type: 'text', primary: true },
    head: { type: 'text' },
    generation: { type: 'integer' },
    droppedGeneration: { name: 'dropped_generation', type: 'integer' },
    journalled: { type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    snapshotGeneration: { name: 'snapshot_generation', type: 'integer' },
    collectedAt: { name: 'collected_at', type: 'integer' },
  },
});

interface StoredRef {
  repository: string;
  name: string;
  /** Null once it is deleted: followers that are behind have to hear of it. */
  oid: string | null;
  peeled: string | null;
  /** Of its last change. */
  generation: number;
  changedAt: number;
}

export const storedRefSchema = new EntitySchema<StoredRef>({
  name: 'storedRef',
  tableName: 'git_refs',
  columns: {
    repository: { type: 'text', primary: true },
    name: { type: 'text', primary: true },
    oid: { type: 'text', nullable: true },
    peeled: { type: 'text', nullable: true },
    generation: { type: 'integer' },
    changedAt: { name: 'changed_at', type: 'integer' },
  },
});

/** A pack of the store. A fork names the packs of its source by rows of its own. */
export interface StoredPack {
  repository: string;
  /** `packs/<repository>/<random>`: the objects are `<key>.pack` and `<key>.idx`. New for every upload. */
  key: string;
  /** The name that git gave it: 40 hexadecimal digits. */
  name: string;
  packSha256: string;
  indexSha256: string;
  packBytes: number;
  indexBytes: number;
  /** When it appeared. */
  generation: number;
  createdAt: number;
  /** When others took its place; then it is no longer part of the repository. */
  replacedGeneration: number | null;
  replacedAt: number | null;
}

export const storedPackSchema = new EntitySchema<StoredPack>({
  name: 'storedPack',
  tableName: 'git_packs',
  columns: {
    repository: { type: 'text', primary: true },
    key: { type: 'text', primary: true },
    name: { type: 'text' },
    packSha256: { name: 'pack_sha256', type: 'text' },
    indexSha256: { name: 'index_sha256', type: 'text' },
    packBytes: { name: 'pack_bytes', type: 'integer' },
    indexBytes: { name: 'index_bytes', type: 'integer' },
    generation: { type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    replacedGeneration: { name: 'replaced_generation', type: 'integer', nullable: true },
    replacedAt: { name: 'replaced_at', type: 'integer', nullable: true },
  },
});

export const repositoryStoreEntities = [storedRepositorySchema, storedRefSchema, storedPackSchema];
