import type { Tx } from '../../db/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { commitCountSchema, countedCommitsSchema } from '../schema/commit-count-schema.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';

const dayMs = 86_400_000;
/** The year that profiles show, plus some days, because commits are older than the push that brings them. */
const countedDays = 400;
/** Limits per repository: commits to read, and rows to write. */
const maxCommits = 200_000;
const maxRows = 100_000;
/** Rows per transaction. */
const batchSize = 500;

type CountDeps = Pick<RepositoryDeps, 'db' | 'git' | 'accounts' | 'clock'>;
type Counted = Pick<Repository, 'id' | 'forkedFromId'>;

/**
 * Counts last year's commits on the default branch by author and day: those since the last count, or all if the branch
 * was rewritten. Skips forks, because their commits belong to the source.
 */
export async function recordCommitCounts(deps: CountDeps, repository: Counted, path: string): Promise<void> {
  const { db, git, accounts, clock } = deps;
  const { id, forkedFromId } = repository;
  const { oid } = forkedFromId === null ? await git.refs.head(path) : { oid: null };
  const before = await db.read.findOneBy(countedCommitsSchema, { repositoryId: id });
  if (before !== null && before.commitId === oid) return;
  const since = clock.now() - countedDays * dayMs;
  const last = before?.commitId ?? null;
  const isForward = oid !== null && last !== null && (await git.refs.isForward(path, last, oid).catch(() => false));
  const known = isForward ? last : null;
  const days = oid === null ? [] : await git.objects.commitDays(path, { oid, known, since, limit: maxCommits });
  // The next push tries again.
  if (days === null) return;

  const counts = new Map<string, { repositoryId: string; authorKey: string; day: number; commits: number }>();
  for (const { email, day, commits } of days) {
    const authorKey = accounts.addresses.authorKeyOf(email);
    if (authorKey === null || day < since / dayMs) continue;
    const key = `${day} ${authorKey}`;
    const found = counts.get(key);
    if (found !== undefined) found.commits += commits;
    else if (counts.size < maxRows) counts.set(key, { repositoryId: id, authorKey, day, commits });
  }
  const rows = [...counts.values()];
  const add = async (manager: Tx['manager'], some: typeof rows) => {
    for (const { authorKey, day, commits } of some)
      await manager.query(
        `INSERT INTO commit_counts (repository_id, author_key, day, commits) VALUES (?, ?, ?, ?)
         ON CONFLICT (repository_id, author_key, day) DO UPDATE SET commits = commit_counts.commits + excluded.commits`,
        [id, authorKey, day, commits],
      );
  };
  const note = (manager: Tx['manager']) =>
    manager.upsert(countedCommitsSchema, { repositoryId: id, commitId: oid }, ['repositoryId']);
  if (known !== null && rows.length <= batchSize) {
    await db.write(async ({ manager }) => {
      if (!(await manager.existsBy(repositorySchema, { id }))) return;
      const oldest = Math.floor(since / dayMs);
      await manager.query('DELETE FROM commit_counts WHERE repository_id = ? AND day < ?', [id, oldest]);
      await add(manager, rows);
      await note(manager);
    });
    return;
  }
  // Many rows take several transactions, so that other writes need not wait. Only the last one marks the commits as
  // counted, so an interrupted count starts over.
  if (known !== null) return recountCommits(deps, repository, path);
  const begun = await db.write(async ({ manager }) => {
    await manager.delete(commitCountSchema, { repositoryId: id });
    await manager.delete(countedCommitsSchema, { repositoryId: id });
    return manager.existsBy(repositorySchema, { id });
  });
  for (let from = 0; begun && from <= rows.length; from += batchSize) {
    await db.write(async ({ manager }) => {
      if (!(await manager.existsBy(repositorySchema, { id }))) return;
      await add(manager, rows.slice(from, from + batchSize));
      if (from + batchSize > rows.length) await note(manager);
    });
  }
}

async function recountCommits(deps: CountDeps, repository: Counted, path: string): Promise<void> {
  await deps.db.write(({ manager }) => manager.delete(countedCommitsSchema, { repositoryId: repository.id }));
  await recordCommitCounts(deps, repository, path);
}
