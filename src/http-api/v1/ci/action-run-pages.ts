import { z } from 'zod';
import type { WebDeps } from '../../../web/index.ts';
import { json } from '../../responses.ts';
import { showActionRuns, statusesOf } from './actions-schemas.ts';
import type { ActionsContext } from './actions-schemas.ts';
import type { Found } from '../../../repositories/index.ts';
import { paging } from '../shapes/schemas.ts';

/** Numbered pages of runs and jobs, as in Gitea and GitHub. */
export const pages = { limit: paging.limit, page: z.int().min(1).max(10_000).default(1) };

export const runStatus = z.enum(Object.keys(statusesOf) as [string, ...string[]]);

export const runQuery = z.object({
  ...pages,
  event: z.string().max(100).optional(),
  branch: z.string().max(1000).optional(),
  status: runStatus.optional(),
  actor: z.string().max(100).optional().describe('Username'),
  head_sha: z.string().max(64).optional(),
});

type RunQuery = z.output<typeof runQuery>;

/** An unknown user has started no runs. */
export async function readRunFilter({ accounts }: Pick<WebDeps, 'accounts'>, query: RunQuery) {
  const { event, branch, status, actor, head_sha: sha } = query;
  const person = actor === undefined ? null : await accounts.personByUsername(actor).catch(() => ({ id: 'absent' }));
  return {
    event,
    sha,
    ref: branch === undefined ? undefined : `refs/heads/${branch}`,
    statuses: status === undefined ? undefined : statusesOf[status],
    actorId: person?.id,
  };
}

/**
 * @param workflow only runs of this file; all runs if omitted
 */
export async function pageOfRuns(where: ActionsContext & { found: Found }, query: RunQuery, workflow?: string) {
  const { limit, page } = query;
  const { found, deps } = where;
  const filter = { workflow, ...(await readRunFilter(deps, query)) };
  const { runs, total } = await deps.ci.runs.page(found, filter, { limit, skip: (page - 1) * limit });
  return json({ total_count: total, workflow_runs: await showActionRuns(where, runs) });
}
