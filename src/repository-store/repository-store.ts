import { rows } from '../db/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import { createCacheMetrics } from './cache-metrics.ts';
import type { CacheStatistics } from './cache-metrics.ts';
import { createChangeGate } from './change-gate.ts';
import { createFolderLocks } from './folder-lock.ts';
import { createCacheFolders } from './follow-folder.ts';
import { createJournal } from './journal.ts';
import type { StoreDeps } from './deps.ts';
import { createStoredGit } from './stored-git.ts';
import type { StoredGitOptions } from './stored-git.ts';

interface RepositoryStore {
  /** Handles repositories of both kinds by the same paths: those in the store, and those in folders. */
  git: Git;
  /** Of the folders on this machine. */
  cache(): CacheStatistics;
}

/** Whether there are repositories in the store, so that an instance needs this module. */
export async function hasStoredRepositories(db: Database): Promise<boolean> {
  return (await rows(db.read, "SELECT id FROM stored_repositories WHERE id > '' ORDER BY id LIMIT 1")).length > 0;
}

/** Repositories whose refs are rows and whose packs are objects of an object store. */
export function createRepositoryStore(given: Omit<StoreDeps, 'metrics'>, options: StoredGitOptions): RepositoryStore {
  const metrics = createCacheMetrics();
  const deps: StoreDeps = { ...given, metrics };
  const folders = createCacheFolders(deps, createFolderLocks());
  const journal = createJournal(deps);
  const git = createStoredGit({ ...deps, folders, journal, gate: createChangeGate() }, options);
  return { git, cache: metrics.read };
}
