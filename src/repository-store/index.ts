export { repositoryStoreEntities } from './schema.ts';
export { createRepositoryStore, hasStoredRepositories } from './repository-store.ts';
