import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { refuseArchived, requireLevel } from '../require-level.ts';
import { changeRuns } from './change-runs.ts';
import { startRun } from './start-run.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { Json } from '../workflows/json-value.ts';
import { planRuns } from './plan-event-runs.ts';

const maxTypeLength = 100;
const maxPayloadLength = 64 * 1024;

/**
 * Starts the workflows of the default branch that name a type of `repository_dispatch`. Throws `repository_not_found`,
 * `repository_archived`, `revision_not_found` for an empty repository, `invalid_event_type`, `payload_too_large`.
 */
export async function dispatchEvent(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  { type, payload }: { type: string; payload: { [key: string]: Json } },
): Promise<RunRow[]> {
  requireLevel(found, 'write');
  refuseArchived(found);
  if (type.trim() === '' || type.length > maxTypeLength)
    throw invalid('invalid_event_type', `An event type has 1 to ${maxTypeLength} characters.`, { field: 'event_type' });
  if (JSON.stringify(payload).length > maxPayloadLength)
    throw invalid('payload_too_large', 'The payload can be at most 64 KiB.', { field: 'client_payload' });
  const ref = `refs/heads/${found.repository.defaultBranch}`;
  const sha = await deps.git.refs.resolve(found.path, ref).catch(() => null);
  if (sha === null) throw notFound('revision_not_found', 'The default branch has no commit.');
  const planned = await planRuns(deps, found, {
    event: 'repository_dispatch',
    action: type,
    details: { action: type, branch: found.repository.defaultBranch, client_payload: payload },
    ref,
    sha,
    isTrusted: true,
    actorId: personIdOf(viewer),
  });
  if (planned === null) return [];
  return changeRuns(deps, async (tx, after) => {
    const runs: RunRow[] = [];
    for (const run of planned.runs) runs.push(await startRun(deps, tx, after, planned.surroundings, run));
    return runs;
  });
}
