import { z } from 'zod';
import type { EnvironmentChange, Environment } from '../../../ci/index.ts';
import { environmentPath } from '../../../ci/index.ts';
import { numericId } from '../../../gitea-shapes/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { notFound } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import type { Viewer } from '../../../access/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { Operation } from '../../operation.ts';
import { environmentValueOperations } from './environment-values.ts';
import { isoTime } from '../shapes/payloads.ts';
import { pendingDeploymentOperations } from './pending-deployments.ts';
import { paging } from '../shapes/schemas.ts';

/** Environments in GitHub's shapes, with our own fields. */

const at = '/repos/{owner}/{name}/environments';
const one = `${at}/{environment}` as const;
const common = { tag: 'Environments', cost: 'rows' } as const;
const time = z.iso.datetime();

const rule = z.strictObject({
  id: z.int(),
  type: z.enum(['wait_timer', 'required_reviewers', 'branch_policy']),
  wait_timer: z.int().optional(),
  prevent_self_review: z.boolean().optional(),
  reviewers: z
    .array(
      z.strictObject({
        type: z.enum(['User', 'Team']),
        reviewer: z.strictObject({ id: z.int(), login: z.string().optional(), name: z.string().optional() }),
      }),
    )
    .optional(),
});
const branchPolicy = z
  .strictObject({ protected_branches: z.boolean(), custom_branch_policies: z.boolean() })
  .nullable();

const environment = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    url: z.string(),
    html_url: z.string(),
    can_admins_bypass: z.boolean(),
    reviewers_need_write: z.boolean().describe('Whether reviewers need push access'),
    protection_rules: z.array(rule),
    deployment_branch_policy: branchPolicy,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Environment' });

type EnvironmentPayload = z.output<typeof environment>;

interface Context {
  found: Found;
  deps: Pick<WebDeps, 'ci' | 'accounts' | 'organisations'>;
  origin: string;
}

async function show({ found, deps, origin }: Context, row: Environment): Promise<EnvironmentPayload> {
  const people = await deps.accounts.peopleById(row.reviewers.flatMap(({ userId }) => userId ?? []));
  const teams = await deps.organisations.teams.byId(row.reviewers.flatMap(({ teamId }) => teamId ?? []));
  const reviewers = row.reviewers.flatMap(({ userId, teamId }) => {
    const person = people.get(userId ?? '');
    const team = teams.get(teamId ?? '');
    if (person !== undefined)
      return { type: 'User' as const, reviewer: { id: numericId(person.id), login: person.username ?? 'ghost' } };
    if (team === undefined) return [];
    return { type: 'Team' as const, reviewer: { id: team.team.serial, name: team.team.name } };
  });
  const { owner, name } = found.canonical;
  const path = environmentPath(row.name);
  return {
    id: row.id,
    name: row.name,
    url: `${origin}/api/v1/repos/${owner}/${name}/environments/${encodeURIComponent(row.name)}`,
    html_url: `${origin}/repos/${owner}/${name}/environments/${path}`,
    can_admins_bypass: row.adminsBypass,
    reviewers_need_write: row.needsWrite,
    protection_rules: [
      ...(row.waitMinutes > 0 ? [{ id: row.id, type: 'wait_timer' as const, wait_timer: row.waitMinutes }] : []),
      ...(row.needsReview
        ? [
            {
              id: row.id,
              type: 'required_reviewers' as const,
              prevent_self_review: row.preventsSelfReview,
              reviewers,
            },
          ]
        : []),
      ...(row.refPolicy === 'all' ? [] : [{ id: row.id, type: 'branch_policy' as const }]),
    ],
    deployment_branch_policy:
      row.refPolicy === 'all'
        ? null
        : { protected_branches: row.refPolicy === 'protected', custom_branch_policies: row.refPolicy === 'custom' },
    created_at: isoTime(row.createdAt),
    updated_at: isoTime(row.updatedAt),
  };
}

const listEnvironments = operation({
  ...common,
  id: 'listEnvironments',
  method: 'GET',
  path: at,
  summary: 'List a repository’s environments',
  access: 'repository:read',
  status: 200,
  query: z.object({ page: z.int().min(1).max(10_000).default(1), limit: paging.limit }),
  response: z.strictObject({ total_count: z.int(), environments: z.array(environment) }),
  async run({ found, query: { page, limit }, deps, origin }) {
    const all = await deps.ci.environments.list(found);
    const shown = all.slice((page - 1) * limit, page * limit);
    return json({
      total_count: all.length,
      environments: await Promise.all(shown.map((row) => show({ found, deps, origin }, row))),
    });
  },
});

const getEnvironment = operation({
  ...common,
  id: 'getEnvironment',
  method: 'GET',
  path: one,
  summary: 'Get an environment',
  access: 'repository:read',
  status: 200,
  response: environment,
  run: async ({ found, params, deps, origin }) =>
    json(await show({ found, deps, origin }, await deps.ci.environments.find(found, params.environment))),
});

const settings = z.object({
  wait_timer: z.int().optional().describe('Minutes'),
  prevent_self_review: z.boolean().optional(),
  reviewers: z
    .array(
      z.union([
        z.string().describe('Username, or organisation/team'),
        z.object({ type: z.enum(['User', 'Team']), id: z.int() }),
      ]),
    )
    .max(100)
    .nullable()
    .optional()
    .describe('Names, or numeric IDs from the API'),
  deployment_branch_policy: z
    .object({ protected_branches: z.boolean(), custom_branch_policies: z.boolean() })
    .nullable()
    .optional(),
  can_admins_bypass: z.boolean().optional(),
  reviewers_need_write: z.boolean().optional(),
});

const setEnvironment = operation({
  ...common,
  id: 'setEnvironment',
  method: 'PUT',
  path: one,
  summary: 'Create an environment or update its deployment rules',
  description: 'Omitted fields remain unchanged.',
  access: 'repository:admin',
  status: 200,
  refuses: [409],
  body: settings,
  response: environment,
  async run({ viewer, found, params, body, deps, origin }) {
    const change: EnvironmentChange = {
      waitMinutes: body.wait_timer,
      preventsSelfReview: body.prevent_self_review,
      needsWrite: body.reviewers_need_write,
      adminsBypass: body.can_admins_bypass,
      refPolicy: policyOf(body.deployment_branch_policy),
      reviewers:
        body.reviewers === undefined ? undefined : await namesOf({ found, deps, viewer }, body.reviewers ?? []),
    };
    return json(
      await show({ found, deps, origin }, await deps.ci.environments.set(viewer, found, params.environment, change)),
    );
  },
});

function policyOf(policy: z.output<typeof settings>['deployment_branch_policy']): EnvironmentChange['refPolicy'] {
  if (policy === undefined) return undefined;
  if (policy === null || (!policy.protected_branches && !policy.custom_branch_policies)) return 'all';
  // GitHub refuses to set both.
  return policy.protected_branches ? (policy.custom_branch_policies ? ('both' as never) : 'protected') : 'custom';
}

type Named = NonNullable<z.output<typeof settings>['reviewers']>;

/** Names of users and teams from numeric ids; an unknown number is refused like an unknown name. */
async function namesOf(
  { found, deps, viewer }: Pick<Context, 'found'> & { deps: WebDeps; viewer: Viewer },
  reviewers: Named,
): Promise<string[]> {
  return Promise.all(
    reviewers.map(async (reviewer) => {
      if (typeof reviewer === 'string') return reviewer;
      const { type, id } = reviewer;
      if (type === 'User') {
        const personId = await deps.accounts.idByNumber(id);
        const person = personId === null ? undefined : (await deps.accounts.peopleById([personId])).get(personId);
        return person?.username ?? `#${id}`;
      }
      const teams = await deps.organisations.teams.list(viewer, found.canonical.owner).catch(() => []);
      const team = teams.find(({ serial }) => serial === id);
      return `${found.canonical.owner}/${team?.name ?? `#${id}`}`;
    }),
  );
}

const deleteEnvironment = operation({
  ...common,
  id: 'deleteEnvironment',
  method: 'DELETE',
  path: one,
  summary: 'Delete an environment with its secrets; jobs waiting for it fail',
  access: 'repository:admin',
  status: 204,
  async run({ viewer, found, params, deps }) {
    await deps.ci.environments.remove(viewer, found, params.environment);
    return noContent();
  },
});

const policies = `${one}/deployment-branch-policies` as const;
const policy = z.strictObject({ id: z.int(), name: z.string(), type: z.enum(['branch', 'tag']) });

const listPolicies = operation({
  ...common,
  id: 'listEnvironmentPolicies',
  method: 'GET',
  path: policies,
  summary: 'List the branch and tag patterns allowed to deploy to an environment',
  access: 'repository:read',
  status: 200,
  response: z.strictObject({ total_count: z.int(), branch_policies: z.array(policy) }),
  async run({ found, params, deps }) {
    const { refs } = await deps.ci.environments.find(found, params.environment);
    return json({
      total_count: refs.length,
      branch_policies: refs.map(({ id, kind, pattern }) => ({ id, name: pattern, type: kind })),
    });
  },
});

const addPolicy = operation({
  ...common,
  id: 'addEnvironmentPolicy',
  method: 'POST',
  path: policies,
  summary: 'Add a branch or tag pattern allowed to deploy to an environment',
  access: 'repository:admin',
  status: 200,
  refuses: [409],
  body: z.object({ name: z.string(), type: z.enum(['branch', 'tag']).default('branch') }),
  response: policy,
  async run({ viewer, found, params, body, deps }) {
    const { environments } = deps.ci;
    const { refs } = await environments.find(found, params.environment);
    const added = { kind: body.type, pattern: body.name };
    const changed = await environments.set(viewer, found, params.environment, { refs: [...refs, added] });
    const { id, pattern, kind } = changed.refs.at(-1)!;
    return json({ id, name: pattern, type: kind });
  },
});

const removePolicy = operation({
  ...common,
  id: 'removeEnvironmentPolicy',
  method: 'DELETE',
  path: `${policies}/{policy}`,
  summary: 'Remove a branch or tag pattern allowed to deploy to an environment',
  access: 'repository:admin',
  status: 204,
  async run({ viewer, found, params, deps }) {
    const { environments } = deps.ci;
    const { refs } = await environments.find(found, params.environment);
    const rest = refs.filter(({ id }) => String(id) !== params.policy);
    if (rest.length === refs.length) throw notFound('ref_pattern_not_found', 'There is no such pattern.');
    await environments.set(viewer, found, params.environment, { refs: rest });
    return noContent();
  },
});

export const environmentOperations: readonly Operation[] = [
  listEnvironments,
  getEnvironment,
  setEnvironment,
  deleteEnvironment,
  listPolicies,
  addPolicy,
  removePolicy,
  ...environmentValueOperations,
  ...pendingDeploymentOperations,
];
