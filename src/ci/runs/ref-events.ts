import type { AnnouncedPush, Located } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { isNoRef } from './push-event.ts';
import type { MovedRef } from './push-event.ts';
import { readRef } from './run-context.ts';
import type { NewRun } from './start-run.ts';
import { planRuns } from './plan-event-runs.ts';

/**
 * Runs of `create`, which uses the workflows of the commit of a new branch or tag, and of `delete`, which uses those of
 * the default branch.
 */
export async function runsOfRefEvent(
  deps: CiDeps,
  located: Located,
  { ref, oldId, newId }: MovedRef,
  { pusherId, deployKey }: Pick<AnnouncedPush, 'pusherId' | 'deployKey'>,
): Promise<NewRun[]> {
  const isDeleted = isNoRef(newId);
  if (!isDeleted && !isNoRef(oldId)) return [];
  const { defaultBranch, description } = located.repository;
  const { type, name } = readRef(ref);
  const readFrom = isDeleted ? `refs/heads/${defaultBranch}` : ref;
  const sha = await deps.git.refs.resolve(located.path, isDeleted ? readFrom : newId).catch(() => null);
  if (sha === null) return [];
  const planned = await planRuns(deps, located, {
    event: isDeleted ? 'delete' : 'create',
    action: null,
    details: {
      ref: name,
      ref_type: type,
      master_branch: defaultBranch,
      description,
      pusher_type: deployKey === null ? 'user' : 'deploy_key',
    },
    ref: readFrom,
    sha,
    isTrusted: true,
    actorId: pusherId,
  });
  return (planned?.runs ?? []).map((run) => ({ ...run, deployKey }));
}
