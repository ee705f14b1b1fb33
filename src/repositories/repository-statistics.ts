import { IsNull } from 'typeorm';
import { createKeyedMutex } from '../kernel/index.ts';
import { ownerIdOf } from './find-repository.ts';
import { recordCommitCounts } from './commit-counts/record-commit-counts.ts';
import { recordLanguages } from './languages/record-languages.ts';
import { repositorySchema } from './schema/repository-schema.ts';
import type { Repository } from './schema/repository-schema.ts';
import type { RepositoryDeps } from './deps.ts';

/** Debounce time in milliseconds: pushes often come in series, and only people read the result. */
const debounceMs = 3_000;
/** Limit of repositories per run of the scheduled task. */
const maxPerRun = 500;

interface RepositoryStatistics {
  /** Schedules a statistics update of a repository; merges repeated calls. */
  schedule(repositoryId: string): void;
  /** For the scheduled task: updates repositories that were pushed to since their last update. Returns how many. */
  due(): Promise<number>;
  /** For the scheduled task: measures every repository, since packing shrinks them. Returns how many changed. */
  measureAll(): Promise<number>;
  /** Manually recounts languages and commits of every repository. Returns how many could be read. */
  recount(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Maintains repository statistics: size, commits by author, and main languages. Nothing waits for it: the push has
 * ended, and work interrupted by a shutdown stays due.
 */
export function createRepositoryStatistics(deps: RepositoryDeps): RepositoryStatistics {
  const waiting = new Map<string, NodeJS.Timeout>();
  const mutex = createKeyedMutex<'all'>();
  let stopped = false;

  /** One at a time. */
  const enqueue = <Result>(work: () => Promise<Result>, ifStopped: Result): Promise<Result> =>
    mutex('all', async () => (stopped ? ifStopped : work()));
  const refresh = (id: string) => enqueue(() => updateStatistics(deps, id), false);

  return {
    schedule(repositoryId) {
      clearTimeout(waiting.get(repositoryId));
      if (stopped) return;
      const timer = setTimeout(() => {
        waiting.delete(repositoryId);
        void refresh(repositoryId);
      }, debounceMs);
      waiting.set(repositoryId, timer.unref());
    },
    async due() {
      const rows: { id: string }[] = await deps.db.read.query(
        `SELECT r.id FROM repositories r LEFT JOIN language_counts c ON c.repository_id = r.id
           LEFT JOIN counted_commits k ON k.repository_id = r.id
         WHERE r.deleted_at IS NULL AND r.pushed_at IS NOT NULL
           AND (c.counted_at IS NULL OR c.counted_at <= r.pushed_at OR k.repository_id IS NULL)
         ORDER BY r.pushed_at DESC LIMIT ?`,
        [maxPerRun],
      );
      let seen = 0;
      for (const { id } of rows) if (await refresh(id)) seen += 1;
      return seen;
    },
    async measureAll() {
      let changed = 0;
      for (const repository of await deps.db.read.findBy(repositorySchema, { deletedAt: IsNull() })) {
        if (await enqueue(() => measureOrLog(deps, repository), false)) changed += 1;
      }
      return changed;
    },
    async recount() {
      const rows: { id: string }[] = await deps.db.read.query(
        'SELECT id FROM repositories WHERE deleted_at IS NULL AND pushed_at IS NOT NULL ORDER BY id',
      );
      await deps.db.write(({ manager }) => manager.query('DELETE FROM language_counts'));
      await deps.db.write(({ manager }) => manager.query('DELETE FROM counted_commits'));
      let seen = 0;
      for (const { id } of rows) if (await refresh(id)) seen += 1;
      return seen;
    },
    async stop() {
      stopped = true;
      for (const timer of waiting.values()) clearTimeout(timer);
      await mutex.settled();
    },
  };
}

const pathOf = ({ git }: RepositoryDeps, repository: Repository): string =>
  git.storage.pathOf(ownerIdOf(repository), repository.id);

/** Returns whether all statistics are up to date. An unreadable repository keeps its previous ones. */
async function updateStatistics(deps: RepositoryDeps, id: string): Promise<boolean> {
  const startedAt = deps.clock.now();
  try {
    const repository = await deps.db.read.findOneBy(repositorySchema, { id });
    if (repository === null || repository.deletedAt !== null) return false;
    await measure(deps, repository);
    await recordCommitCounts(deps, repository, pathOf(deps, repository));
    await recordLanguages(deps, id, pathOf(deps, repository), startedAt);
    return true;
  } catch (error) {
    deps.logger.warn('repository.not_surveyed', { repositoryId: id, error });
    return false;
  }
}

/** An unreadable repository keeps its previous size; the others are still measured. */
async function measureOrLog(deps: RepositoryDeps, repository: Repository): Promise<boolean> {
  try {
    return await measure(deps, repository);
  } catch (error) {
    deps.logger.warn('repository.not_measured', { repositoryId: repository.id, error });
    return false;
  }
}

/** Returns whether the size has changed. */
async function measure(deps: RepositoryDeps, repository: Repository): Promise<boolean> {
  const { bytes: sizeBytes, sharedBytes } = await deps.git.storage.measure(pathOf(deps, repository));
  if (sizeBytes === repository.sizeBytes && sharedBytes === repository.sharedBytes) return false;
  const { id } = repository;
  await deps.db.write(({ manager }) => manager.update(repositorySchema, { id }, { sizeBytes, sharedBytes }));
  return true;
}
