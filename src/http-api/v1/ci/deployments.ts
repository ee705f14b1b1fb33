import { z } from 'zod';
import type { DeploymentRow, DeploymentStatusRow } from '../../../ci/index.ts';
import type { Person } from '../../../accounts/index.ts';
import { deploymentPayload, deploymentStatusPayload } from '../../../gitea-shapes/index.ts';
import { deployment, deploymentStatus } from '../../../gitea-shapes/schemas.ts';
import { conflict, notFound } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { created, json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { Operation } from '../../operation.ts';
import { run as runShape } from './ci-schemas.ts';
import { showRun } from './runs.ts';
import { paging } from '../shapes/schemas.ts';
import { resolveRef } from '../code/trees-and-archives.ts';

/** Deployments and their statuses, in GitHub's shapes. */

const at = '/repos/{owner}/{name}/deployments';
const one = `${at}/{deployment}` as const;
const common = { tag: 'Deployments', cost: 'rows' } as const;
type People = ReadonlyMap<string, Person>;

const fullName = ({ canonical }: Found): string => `${canonical.owner}/${canonical.name}`;

const show = (row: DeploymentRow, people: People, found: Found, origin: string) =>
  deploymentPayload(row, people.get(row.creatorId ?? '') ?? null, fullName(found), { baseUrl: origin });

const showStatus = (status: DeploymentStatusRow, row: DeploymentRow, people: People, found: Found, origin: string) =>
  deploymentStatusPayload(status, row, people.get(status.creatorId ?? '') ?? null, fullName(found), {
    baseUrl: origin,
  });

/** Throws `deployment_not_found`, also for an invalid number. */
function numberIn(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw notFound('deployment_not_found', 'There is no such deployment.');
  return Number(text);
}

const creatorsOf = (rows: readonly { creatorId: string | null }[]): string[] =>
  rows.flatMap(({ creatorId }) => creatorId ?? []);

const listDeployments = operation({
  ...common,
  id: 'listDeployments',
  method: 'GET',
  path: at,
  summary: 'List a repository’s deployments, newest first',
  access: 'repository:read',
  status: 200,
  query: z.object({
    page: z.int().min(1).max(10_000).default(1),
    limit: paging.limit,
    sha: z.string().max(64).optional(),
    ref: z.string().max(1000).optional().describe('Branch or tag'),
    task: z.string().max(100).optional(),
    environment: z.string().max(255).optional(),
  }),
  response: z.array(deployment),
  async run({ found, query: { page, limit, ...filter }, deps, origin }) {
    const { deployments } = await deps.ci.environments.deployments.list(found, filter, {
      limit,
      skip: (page - 1) * limit,
    });
    const people = await deps.accounts.peopleById(creatorsOf(deployments));
    return json(deployments.map((row) => show(row, people, found, origin)));
  },
});

const getDeployment = operation({
  ...common,
  id: 'getDeployment',
  method: 'GET',
  path: one,
  summary: 'Get a deployment',
  access: 'repository:read',
  status: 200,
  response: deployment,
  async run({ found, params, deps, origin }) {
    const row = await deps.ci.environments.deployments.find(found, numberIn(params.deployment));
    return json(show(row, await deps.accounts.peopleById(creatorsOf([row])), found, origin));
  },
});

const createDeployment = operation({
  ...common,
  id: 'createDeployment',
  method: 'POST',
  path: at,
  summary: 'Record a deployment made outside this server',
  description:
    'Environment rules apply only to jobs. As on GitHub, all of the commit’s statuses must be successful, or only those in `required_contexts`; an empty list requires none. Hearth never merges branches first.',
  access: 'repository:write',
  cost: 'objects',
  status: 201,
  refuses: [409],
  body: z.object({
    ref: z.string().max(1000),
    task: z.string().max(100).default('deploy'),
    auto_merge: z.boolean().optional().describe('Ignored'),
    required_contexts: z.array(z.string()).max(100).nullable().optional(),
    payload: z.unknown().optional(),
    environment: z.string().default('production'),
    description: z.string().max(1000).nullable().default(''),
    transient_environment: z.boolean().default(false),
    production_environment: z.boolean().optional(),
  }),
  response: deployment,
  async run({ viewer, found, body, deps, origin }) {
    const sha = await resolveRef(deps, found, body.ref);
    const combined = (await deps.repositories.statuses.ofCommits(found.repository.id, [sha])).get(sha);
    const states = new Map((combined?.statuses ?? []).map(({ context, state }) => [context, state]));
    const missing = (body.required_contexts ?? [...states.keys()]).filter(
      (context) => states.get(context) !== 'success',
    );
    if (missing.length > 0)
      throw conflict('statuses_not_successful', `Not successful: ${missing.slice(0, 5).join(', ')}.`);
    const row = await deps.ci.environments.deployments.create(viewer, found, {
      ref: body.ref,
      sha,
      environment: body.environment,
      task: body.task,
      description: body.description ?? '',
      payload: (body.payload ?? {}) as never,
      isTransient: body.transient_environment,
      isProduction: body.production_environment ?? null,
    });
    const shown = show(row, await deps.accounts.peopleById(creatorsOf([row])), found, origin);
    return created(shown, shown.url.slice(`${origin}/api/v1`.length));
  },
});

const deleteDeployment = operation({
  ...common,
  id: 'deleteDeployment',
  method: 'DELETE',
  path: one,
  summary: 'Delete an inactive deployment or the only deployment to its environment',
  access: 'repository:write',
  status: 204,
  refuses: [409],
  async run({ found, params, deps }) {
    await deps.ci.environments.deployments.remove(found, numberIn(params.deployment));
    return noContent();
  },
});

const redeploy = operation({
  ...common,
  id: 'redeploy',
  method: 'POST',
  path: `${one}/redeploy`,
  summary: 'Redeploy a commit with a new attempt of the job that deployed it',
  description: 'The job requests access to its environment again: earlier approvals no longer count.',
  access: 'repository:write',
  status: 202,
  refuses: [404, 409],
  response: runShape,
  async run({ viewer, found, params, deps, origin }) {
    const run = await deps.ci.environments.deployments.again(viewer, found, numberIn(params.deployment));
    return json(await showRun({ found, deps, origin }, run));
  },
});

const listStatuses = operation({
  ...common,
  id: 'listDeploymentStatuses',
  method: 'GET',
  path: `${one}/statuses`,
  summary: 'List a deployment’s statuses, newest first',
  access: 'repository:read',
  status: 200,
  response: z.array(deploymentStatus),
  async run({ found, params, deps, origin }) {
    const { deployments } = deps.ci.environments;
    const row = await deployments.find(found, numberIn(params.deployment));
    const statuses = await deployments.statuses(found, row.id);
    const people = await deps.accounts.peopleById(creatorsOf(statuses));
    return json(statuses.map((status) => showStatus(status, row, people, found, origin)));
  },
});

const getStatus = operation({
  ...common,
  id: 'getDeploymentStatus',
  method: 'GET',
  path: `${one}/statuses/{status}`,
  summary: 'Get a deployment status',
  access: 'repository:read',
  status: 200,
  response: deploymentStatus,
  async run({ found, params, deps, origin }) {
    const { deployments } = deps.ci.environments;
    const row = await deployments.find(found, numberIn(params.deployment));
    const status = (await deployments.statuses(found, row.id)).find(({ id }) => String(id) === params.status);
    if (status === undefined) throw notFound('deployment_status_not_found', 'There is no such status.');
    return json(showStatus(status, row, await deps.accounts.peopleById(creatorsOf([status])), found, origin));
  },
});

const createStatus = operation({
  ...common,
  id: 'createDeploymentStatus',
  method: 'POST',
  path: `${one}/statuses`,
  summary: 'Report the state of a deployment made outside this server',
  access: 'repository:write',
  status: 201,
  refuses: [404, 409],
  body: z.object({
    state: z.enum(['queued', 'in_progress', 'pending', 'success', 'failure', 'error', 'inactive']),
    description: z.string().nullable().default(''),
    environment_url: z.string().nullable().optional(),
    target_url: z.string().nullable().optional(),
    log_url: z.string().nullable().optional(),
    auto_inactive: z.boolean().default(true),
  }),
  response: deploymentStatus,
  async run({ viewer, found, params, body, deps, origin }) {
    const { deployments } = deps.ci.environments;
    const status = await deployments.report(viewer, found, numberIn(params.deployment), {
      state: body.state,
      description: body.description ?? '',
      url: body.environment_url || null,
      logUrl: body.log_url || body.target_url || null,
      endsEarlier: body.auto_inactive,
    });
    const row = await deployments.find(found, status.deploymentId);
    const shown = showStatus(status, row, await deps.accounts.peopleById(creatorsOf([status])), found, origin);
    return created(shown, shown.url.slice(`${origin}/api/v1`.length));
  },
});

export const deploymentOperations: readonly Operation[] = [
  listDeployments,
  createDeployment,
  getDeployment,
  deleteDeployment,
  redeploy,
  listStatuses,
  createStatus,
  getStatus,
];
