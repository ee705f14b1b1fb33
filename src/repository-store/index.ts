export { repositoryStoreEntities } from './schema.ts';
export type { CacheStatistics } from './cache-metrics.ts';
export { shareOfDisk } from './evict-folders.ts';
export { createRepositoryStore, hasStoredRepositories } from './repository-store.ts';
export { createInstanceMark, takeBucket } from './instance-mark.ts';
export type { InstanceMark } from './instance-mark.ts';
export { replayJournal } from './replay-journal.ts';
export type { Replay } from './replay-journal.ts';
export { provePacks } from './prove-packs.ts';
