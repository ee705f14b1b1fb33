import { EntitySchema } from 'typeorm';

/** A repository whose refs are rows and whose packs are objects of the store. */
export interface StoredRepository {
  /** UUID of the repository; `<uuid>.wiki` for its wiki. */
  id: string;
  /** The branch of HEAD. */
  head: string;
  /** Incremented by every change of refs, HEAD or packs. */
  generation: number;
  /** The last generation at which objects were dropped from the packs. */
  droppedGeneration: number;
  /** The last generation known to be in a journal object. */
  journalled: number;
  createdAt: number;
  /** The generation at which the journal has the whole repository in one object. */
  snapshotGeneration: number;
  /** Time when unreachable objects were last dropped. */
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
  /** Null once deleted: followers that are behind must learn of the deletion. */
  oid: string | null;
  peeled: string | null;
  /** Time of its last change. */
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

/** A pack in the store. A fork refers to the packs of its source by its own rows. */
export interface StoredPack {
  repository: string;
  /** `packs/<repository>/<random>`: the objects are `<key>.pack` and `<key>.idx`. New for every upload. */
  key: string;
  /** The name given by git: 40 hexadecimal digits. */
  name: string;
  packSha256: string;
  indexSha256: string;
  packBytes: number;
  indexBytes: number;
  /** Time when it was added. */
  generation: number;
  createdAt: number;
  /** Time when other packs replaced it; it is then no longer part of the repository. */
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
