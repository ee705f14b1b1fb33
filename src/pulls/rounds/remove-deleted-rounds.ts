import { In } from 'typeorm';
import type { PullDeps } from '../deps.ts';
import { removedRoundSchema, roundSchema } from '../schema/round-schema.ts';
import type { RemovedRoundRow } from '../schema/round-schema.ts';

/** Rows per batch of the task. */
const batch = 500;

/**
 * Scheduled task: removes the refs of permanently deleted pull requests. Keeps commits that another pull request of the
 * repository also has; maintenance removes the objects of the others.
 * @returns the number of released commits
 */
export async function removeDeletedRounds(deps: Pick<PullDeps, 'db' | 'git' | 'repositories'>): Promise<number> {
  const rows = await deps.db.read.find(removedRoundSchema, { take: batch, order: { repositoryId: 'ASC' } });
  const located = await deps.repositories.locate(rows.map(({ repositoryId }) => repositoryId));
  let released = 0;
  for (const [repositoryId, removed] of Map.groupBy(rows, (row) => row.repositoryId)) {
    const path = located.get(repositoryId)?.path;
    if (path !== undefined) released += await release(deps, path, removed);
    await deps.db.write(({ manager }) =>
      manager.remove(
        removedRoundSchema,
        removed.map((row) => ({ ...row })),
      ),
    );
  }
  return released;
}

async function release(
  { db, git }: Pick<PullDeps, 'db' | 'git'>,
  path: string,
  removed: readonly RemovedRoundRow[],
): Promise<number> {
  for (const number of new Set(removed.map((row) => row.number))) {
    await git.refs.setPull(path, number, 'head', null);
    await git.refs.setPull(path, number, 'merge', null);
  }
  const oids = [...new Set(removed.map(({ oid }) => oid))];
  const used = new Set<string>();
  for (const column of ['headOid', 'baseOid'] as const)
    for (const row of await db.read.find(roundSchema, { where: { [column]: In(oids) } })) used.add(row[column]);
  const unused = oids.filter((oid) => !used.has(oid));
  await git.objects.release(
    path,
    unused.map((oid) => `rounds/${oid}`),
  );
  return unused.length;
}
