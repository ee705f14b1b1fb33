import path from 'node:path';
import type { Config } from '../config/index.ts';
import { createGit } from '../git/index.ts';
import type { Git } from '../git/index.ts';
import type { Logger } from '../kernel/index.ts';
import { openStoreAs } from '../objects/index.ts';
import { createInstanceMark, createRepositoryStore, hasStoredRepositories } from '../repository-store/index.ts';
import type { CacheStatistics, InstanceMark } from '../repository-store/index.ts';
import { storeOptions } from './data-folders.ts';
import type { Storage } from './open-storage.ts';

/** Folders of repositories whose primary copy is in the store. */
export const cacheFolder = ({ dataDir }: Config): string => path.join(dataDir, 'cache', 'repositories');

export function createGitOf(config: Config, logger: Logger): Promise<Git> {
  const caches = `${cacheFolder(config)}${path.sep}`;
  return createGit({ config, logger, isCache: (repository) => repository.startsWith(caches) });
}

/** git as the modules use it: only on folders, unless repositories are in the store or new ones are created there. */
export async function openGit(
  { config, db, clock, random, logger }: Storage,
  local: Git,
  onReplaced: (sentence: string) => void,
): Promise<{ git: Git; bucket: InstanceMark | null; repositoryCache: () => CacheStatistics | null }> {
  const createsHere = config.git.storage === 'store';
  if (!createsHere && !(await hasStoredRepositories(db)))
    return { git: local, bucket: null, repositoryCache: () => null };
  const tools = { clock, random, logger };
  const roots = [config.storage.root, path.join(config.dataDir, 'trash')];
  // Without the cache of recent uploads, so that responses reflect the content of the store.
  const { store, close } = await openStoreAs(storeOptions(config, tools), config.objects.store);
  const { git, cache } = createRepositoryStore(
    { ...tools, db, local, objects: store, roots, directory: cacheFolder(config) },
    { createsHere, cacheBytes: config.git.cacheBytes },
  );
  const bucket = createInstanceMark({ ...tools, db, objects: store }, onReplaced);
  return {
    bucket,
    repositoryCache: cache,
    git: {
      ...git,
      async stop(graceMs) {
        bucket.stop();
        await git.stop(graceMs);
        close();
      },
    },
  };
}
