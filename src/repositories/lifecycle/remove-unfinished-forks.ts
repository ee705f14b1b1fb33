import { belongsHere, belongsToNobody } from '../../nodes/index.ts';
import { unfinishedForkSchema } from '../schema/unfinished-fork-schema.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';

/**
 * Removes the folders that interrupted forks left without a repository.
 * @param before only forks begun before this time, in epoch milliseconds; another process may be creating a younger one
 * @returns how many
 */
export async function removeUnfinishedForks(deps: RepositoryDeps, before = Infinity): Promise<number> {
  const rows = await deps.db.read
    .createQueryBuilder(unfinishedForkSchema, 'f')
    .where(`(${belongsHere(deps.db, 'f.node')} OR ${belongsToNobody('f.node')})`)
    .getMany();
  let removed = 0;
  for (const { repositoryId, ownerId, createdAt } of rows) {
    if (createdAt >= before) continue;
    if (!(await deps.db.read.existsBy(repositorySchema, { id: repositoryId }))) {
      await deps.git.storage.remove(deps.git.storage.pathOf(ownerId, repositoryId));
      removed += 1;
    }
    // The row goes last: after an interruption the next start finds it again.
    await deps.db.write(({ manager }) => manager.delete(unfinishedForkSchema, { repositoryId }));
    deps.logger.warn('repository.fork_removed', { repositoryId });
  }
  return removed;
}
