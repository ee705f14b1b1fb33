import { repositorySchema } from '../schema/repository-schema.ts';
import { noRef } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { folderOf } from '../lifecycle/trash.ts';
import type { PushJournal } from './push-journal.ts';
import type { PushRow } from '../schema/push-schema.ts';
import type { RunningPushes } from './receive-push.ts';
import { inferPushResults } from './infer-push-results.ts';

/** Settles unsettled pushes that are not running. */
export async function finishPushes(deps: RepositoryDeps, journal: PushJournal, running: RunningPushes): Promise<void> {
  const abandoned = (await journal.unsettled()).filter(({ id }) => !running.has(id));
  for (const [repositoryId, pushes] of Map.groupBy(abandoned, (push) => push.repositoryId))
    await settlePushes(deps, journal, repositoryId, pushes, { clean: false });
}

/**
 * Settles pushes of one repository by comparing its refs. Logs and keeps a push that cannot be settled now (in a
 * damaged repository, say).
 * @param clean also removes locks and half-written objects of an earlier run
 */
export async function settlePushes(
  deps: RepositoryDeps,
  journal: PushJournal,
  repositoryId: string,
  pushes: readonly PushRow[],
  { clean }: { clean: boolean },
): Promise<void> {
  try {
    const row = await deps.db.read.findOneByOrFail(repositorySchema, { id: repositoryId });
    const folder = folderOf(deps, row);
    if (clean) {
      for (const action of await deps.git.maintenance.recover(folder))
        deps.logger.warn('repository.recovered', { repositoryId, ...action });
    }
    const unsynced = await refsToMake(journal, pushes);
    for (const ref of await deps.git.refs.repairNew(folder, unsynced))
      deps.logger.warn('repository.recovered', { repositoryId, kind: 'removed', file: ref });
    const verdicts = await inferPushResults(journal, pushes, await deps.git.refs.list(folder));
    for (const [pushId, results] of verdicts) {
      deps.logger.info('push.settled_late', {
        pushId,
        repositoryId,
        accepted: results.filter(({ ok }) => ok).length,
      });
    }
  } catch (error) {
    deps.logger.error('push.settle_failed', { repositoryId, error });
  }
}

/** Refs that interrupted pushes were creating: git may have written them without a sync. */
async function refsToMake(journal: PushJournal, pushes: readonly PushRow[]): Promise<string[]> {
  const refs: string[] = [];
  for (const { id } of pushes)
    for (const { ref, oldId } of await journal.updatesOf(id)) if (noRef.test(oldId)) refs.push(ref);
  return refs;
}
