import { IsNull } from 'typeorm';
import { createKeyedMutex } from '../kernel/index.ts';
import { ownerIdOf } from './find-repository.ts';
import { countLanguages } from './languages/count-languages.ts';
import { repositorySchema } from './schema/repository-schema.ts';
import type { Repository } from './schema/repository-schema.ts';
import type { RepositoryDeps } from './deps.ts';

/** Pushes often come in rows; what is found here is for people, who can wait so long. */
const settleMs = 3_000;
/** What one run of the job looks at, at most. */
const maxPerRun = 500;

export interface RepositoryStatistics {
  /** Looks at a repository before long: once, however often it is asked. */
  schedule(repositoryId: string): void;
  /** For a job: looks at what was pushed to and not looked at since, at any time. Answers how many. */
  due(): Promise<number>;
  /** For a job: measures every repository, since packing makes them smaller. Answers how many have changed. */
  measureAll(): Promise<number>;
  /** By hand: counts the languages of every repository anew. Answers how many it could look into. */
  recount(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Keeps what is known of a repository by looking into it, its size and its main languages, true.
 * Nothing waits for it: a push is over when it is looked at, and what a stop leaves undone is due.
 */
export function createRepositoryStatistics(deps: RepositoryDeps): RepositoryStatistics {
  const waiting = new Map<string, NodeJS.Timeout>();
  const mutex = createKeyedMutex<'all'>();
  let stopped = false;

  /** One at a time. */
  const inTurn = <Result>(work: () => Promise<Result>, ifStopped: Result): Promise<Result> =>
    mutex('all', async () => (stopped ? ifStopped : work()));
  const look = (id: string) => inTurn(() => lookInto(deps, id), false);

  return {
    schedule(repositoryId) {
      clearTimeout(waiting.get(repositoryId));
      if (stopped) return;
      const timer = setTimeout(() => {
        waiting.delete(repositoryId);
        void look(repositoryId);
      }, settleMs);
      waiting.set(repositoryId, timer.unref());
    },
    async due() {
      const rows: { id: string }[] = await deps.db.read.query(
        `SELECT r.id FROM repositories r LEFT JOIN language_counts c ON c.repository_id = r.id
         WHERE r.deleted_at IS NULL AND r.pushed_at IS NOT NULL AND (c.counted_at IS NULL OR c.counted_at <= r.pushed_at)
         ORDER BY r.pushed_at DESC LIMIT ?`,
        [maxPerRun],
      );
      let seen = 0;
      for (const { id } of rows) if (await look(id)) seen += 1;
      return seen;
    },
    async measureAll() {
      let changed = 0;
      for (const repository of await deps.db.read.findBy(repositorySchema, { deletedAt: IsNull() })) {
        if (await inTurn(() => measureOrLog(deps, repository), false)) changed += 1;
      }
      return changed;
    },
    async recount() {
      const rows: { id: string }[] = await deps.db.read.query(
        'SELECT id FROM repositories WHERE deleted_at IS NULL AND pushed_at IS NOT NULL ORDER BY id',
      );
      await deps.db.write(({ manager }) => manager.query('DELETE FROM language_counts'));
      let seen = 0;
      for (const { id } of rows) if (await look(id)) seen += 1;
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
  git.repositoryPath(ownerIdOf(repository), repository.id);

/** Answers whether all is known now. Of a repository that cannot be read, what was known stays. */
async function lookInto(deps: RepositoryDeps, id: string): Promise<boolean> {
  const startedAt = deps.clock.now();
  try {
    const repository = await deps.db.read.findOneBy(repositorySchema, { id });
    if (repository === null || repository.deletedAt !== null) return false;
    await measure(deps, repository);
    await countLanguages(deps, id, pathOf(deps, repository), startedAt);
    return true;
  } catch (error) {
    deps.logger.warn('repository.not_surveyed', { repositoryId: id, error });
    return false;
  }
}

/** One that cannot be read keeps what was known of it, and the others are measured all the same. */
async function measureOrLog(deps: RepositoryDeps, repository: Repository): Promise<boolean> {
  try {
    return await measure(deps, repository);
  } catch (error) {
    deps.logger.warn('repository.not_measured', { repositoryId: repository.id, error });
    return false;
  }
}

/** Answers whether its size is another one now. */
async function measure(deps: RepositoryDeps, repository: Repository): Promise<boolean> {
  const sizeBytes = await deps.git.size(pathOf(deps, repository));
  if (sizeBytes === repository.sizeBytes) return false;
  await deps.db.write(({ manager }) => manager.update(repositorySchema, { id: repository.id }, { sizeBytes }));
  return true;
}
