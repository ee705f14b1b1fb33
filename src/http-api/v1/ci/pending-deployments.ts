import { z } from 'zod';
import type { PendingDeployment } from '../../../ci/index.ts';
import { environmentPath } from '../../../ci/index.ts';
import { userPayload } from '../../../gitea-shapes/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { operation } from '../../operation.ts';
import type { Operation } from '../../operation.ts';
import { json } from '../../responses.ts';
import { idOf } from './actions-schemas.ts';
import { giteaUser } from '../shapes/issues-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';

/** Environments that jobs of a run wait for, and their reviewers. */

const common = { tag: 'Environments', cost: 'rows' } as const;
const time = z.iso.datetime();

interface Context {
  found: Found;
  deps: Pick<WebDeps, 'ci'>;
  origin: string;
}

const runs = '/repos/{owner}/{name}/actions/runs/{run}';
const pending = z.strictObject({
  environment: z.strictObject({ id: z.int(), name: z.string(), html_url: z.string() }),
  wait_timer: z.int(),
  wait_timer_started_at: time,
  current_user_can_approve: z.boolean(),
  reviewers: z.array(z.strictObject({ name: z.string() })).describe('Usernames and organisation/team'),
});

const showPending = async (
  { found, deps, origin }: Context,
  { environment: row, since, mayDecide }: PendingDeployment,
): Promise<z.output<typeof pending>> => ({
  environment: {
    id: row.id,
    name: row.name,
    html_url: `${origin}/repos/${found.canonical.owner}/${found.canonical.name}/environments/${environmentPath(row.name)}`,
  },
  wait_timer: row.waitMinutes,
  wait_timer_started_at: isoTime(since),
  current_user_can_approve: mayDecide,
  reviewers: (await deps.ci.environments.namesOfReviewers(row)).map((name) => ({ name })),
});

const listPending = operation({
  ...common,
  id: 'listPendingDeployments',
  method: 'GET',
  path: `${runs}/pending_deployments`,
  summary: 'List the environments that a run’s jobs are waiting for',
  access: 'repository:read',
  status: 200,
  response: z.array(pending),
  async run({ viewer, found, params, deps, origin }) {
    const run = await deps.ci.runs.byId(found, idOf(params.run));
    const rows = await deps.ci.environments.pending(viewer, found, run);
    return json(await Promise.all(rows.map((row) => showPending({ found, deps, origin }, row))));
  },
});

const review = z.strictObject({
  state: z.enum(['approved', 'rejected']),
  comment: z.string(),
  environments: z.array(z.strictObject({ name: z.string() })),
  user: giteaUser.nullable(),
});

const reviewPending = operation({
  ...common,
  id: 'reviewPendingDeployments',
  method: 'POST',
  path: `${runs}/pending_deployments`,
  summary: 'Approve or reject a run’s pending deployments as a reviewer',
  description:
    'Only users can review, not deploy keys or job tokens. Select environments by numeric ID, as on GitHub, or by name.',
  access: 'repository:read',
  scope: 'write',
  status: 200,
  refuses: [409],
  body: z.object({
    environment_ids: z.array(z.int()).max(200).optional(),
    environments: z.array(z.string()).max(200).optional(),
    state: z.enum(['approved', 'rejected']),
    comment: z.string().default(''),
  }),
  response: z.array(review),
  async run({ viewer, found, params, body, deps, origin }) {
    const { environments } = deps.ci;
    const run = await deps.ci.runs.byId(found, idOf(params.run));
    const ids = body.environment_ids;
    const known = ids === undefined ? [] : await environments.list(found);
    const names =
      ids === undefined
        ? (body.environments ?? null)
        : ids.map((id) => known.find((row) => row.id === id)?.name ?? `#${id}`);
    const made = await environments.review(viewer, found, run.number, {
      verdict: body.state,
      environments: names,
      comment: body.comment,
    });
    return json(await showReviews(deps, made, origin));
  },
});

async function showReviews(
  deps: Pick<WebDeps, 'accounts'>,
  rows: Awaited<ReturnType<WebDeps['ci']['environments']['reviewsOfRun']>>,
  origin: string,
): Promise<z.output<typeof review>[]> {
  const people = await deps.accounts.peopleById(rows.flatMap(({ reviewerId }) => reviewerId ?? []));
  return rows.map(({ verdict, comment, environment: name, reviewerId }) => ({
    state: verdict,
    comment,
    environments: [{ name }],
    user: reviewerId === null ? null : userPayload(people.get(reviewerId) ?? null, { baseUrl: origin }),
  }));
}

const listReviews = operation({
  ...common,
  id: 'listDeploymentReviews',
  method: 'GET',
  path: `${runs}/approvals`,
  summary: 'List the deployment reviews of a run',
  access: 'repository:read',
  status: 200,
  response: z.array(review),
  async run({ found, params, deps, origin }) {
    const run = await deps.ci.runs.byId(found, idOf(params.run));
    return json(await showReviews(deps, await deps.ci.environments.reviewsOfRun(run.id), origin));
  },
});

export const pendingDeploymentOperations: readonly Operation[] = [listPending, reviewPending, listReviews];
