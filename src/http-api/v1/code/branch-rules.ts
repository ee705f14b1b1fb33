import { z } from 'zod';
import type { PersonViewer, RuleTarget } from '../../../access/index.ts';
import { invalid, notFound } from '../../../kernel/index.ts';
import { isUsualRule } from '../../../repositories/index.ts';
import type { Found, GrantInput, ListedRule, MergeConditionsInput, RuleInput } from '../../../repositories/index.ts';
import { numericId } from '../../../gitea-shapes/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { created, json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import {
  branchProtection,
  branchProtectionEdit,
  newBranchProtection,
  newTagProtection,
  tagProtection,
  tagProtectionEdit,
} from './branch-rule-schemas.ts';
import { showBranchRule, showTagRule } from './branch-rule-payloads.ts';

const branchRules = '/repos/{owner}/{name}/branch_protections';
const tagRules = '/repos/{owner}/{name}/tag_protections';
const common = { tag: 'Branch rules', access: 'repository:admin', cost: 'rows' } as const;

interface Call {
  viewer: PersonViewer;
  found: Found;
  deps: WebDeps;
}

async function rulesFor({ viewer, found: { canonical }, deps }: Call, target: RuleTarget): Promise<ListedRule[]> {
  const rules = await deps.repositories.rules.list(viewer, canonical.owner, canonical.name);
  return rules.filter((rule) => rule.target === target);
}

/** The branch rule with exactly this pattern. Throws `rule_not_found`. */
async function branchRule(call: Call, pattern: string): Promise<ListedRule> {
  return present((await rulesFor(call, 'BRANCH')).find((rule) => rule.pattern === pattern));
}

async function tagRule(call: Call, id: string): Promise<ListedRule> {
  return present((await rulesFor(call, 'TAG')).find((rule) => String(numericId(rule.id)) === id));
}

function present(rule: ListedRule | undefined): ListedRule {
  if (rule === undefined) throw notFound('rule_not_found', 'There is no such rule.');
  return rule;
}

/** Permitted actors, from Gitea's switches; our own level takes precedence. */
function grantOf(
  switches: {
    enabled: boolean | undefined;
    whitelist: boolean | undefined;
    usernames: string[] | undefined;
    teams: string[] | undefined;
    deployKeys?: boolean | undefined;
  },
  own: { level: string | undefined; tasks: boolean | undefined; deployKeys?: boolean | undefined },
): GrantInput {
  const { enabled, whitelist } = switches;
  const everyone = enabled === true || whitelist === false ? 'write' : undefined;
  const level = enabled === false || whitelist === true ? 'nobody' : everyone;
  const named = enabled === false ? { people: [], teams: [] } : { people: switches.usernames, teams: switches.teams };
  // If a list decides in Gitea, it also decides about deploy keys.
  const keys = enabled === false ? false : whitelist === true ? (switches.deployKeys ?? false) : switches.deployKeys;
  return {
    level: own.level ?? level,
    ...named,
    tasks: own.tasks ?? (enabled === false ? false : undefined),
    deployKeys: own.deployKeys ?? keys ?? (everyone === undefined ? undefined : true),
  };
}

type BranchBody = z.output<typeof branchProtectionEdit>;

/** The rules for merges from Gitea's switches and our own fields. */
function mergingInput(body: BranchBody): MergeConditionsInput {
  const isStale = body.dismiss_stale_approvals ?? undefined;
  const survive = isStale === undefined ? undefined : isStale ? 'nothing' : 'rebase';
  return {
    grant: grantOf(
      {
        enabled: undefined,
        whitelist: body.enable_merge_whitelist ?? undefined,
        usernames: body.merge_whitelist_usernames ?? undefined,
        teams: body.merge_whitelist_teams ?? undefined,
      },
      { level: body.merge_level ?? undefined, tasks: body.merge_tasks ?? undefined },
    ),
    approvals: body.required_approvals ?? undefined,
    approvers: {
      isOn: body.enable_approvals_whitelist ?? undefined,
      people: body.approvals_whitelist_username ?? undefined,
      teams: body.approvals_whitelist_teams ?? undefined,
    },
    approvalsSurvive: body.approvals_survive ?? survive,
    ownersApprove: body.block_on_codeowner_reviews ?? undefined,
    threadsResolved: body.block_on_unresolved_threads ?? undefined,
    checks: body.enable_status_check === false ? [] : (body.status_check_contexts ?? undefined),
    upToDate: body.merge_queue
      ? 'queue'
      : (body.block_on_outdated_branch ?? (body.merge_queue === false ? 'no' : undefined)),
    styles: body.merge_styles ?? undefined,
    adminsToo: body.block_admin_merge_override ?? undefined,
  };
}

/** Gitea's clients send false even without a list to which it could apply. */
const whitelisted = (
  isList: boolean | null | undefined,
  deployKeys: boolean | null | undefined,
): boolean | undefined => (isList === true || deployKeys === true ? (deployKeys ?? undefined) : undefined);

const branchInput = (body: BranchBody): RuleInput => ({
  linear: body.require_linear_history ?? undefined,
  signed: body.require_signed_commits ?? undefined,
  merging: mergingInput(body),
  grants: {
    push: grantOf(
      {
        enabled: body.enable_push ?? undefined,
        whitelist: body.enable_push_whitelist ?? undefined,
        usernames: body.push_whitelist_usernames ?? undefined,
        teams: body.push_whitelist_teams ?? undefined,
        deployKeys: whitelisted(body.enable_push_whitelist, body.push_whitelist_deploy_keys),
      },
      {
        level: body.push_level ?? undefined,
        tasks: body.push_tasks ?? undefined,
        deployKeys: body.push_deploy_keys ?? undefined,
      },
    ),
    force: grantOf(
      {
        enabled: body.enable_force_push ?? undefined,
        whitelist: body.enable_force_push_allowlist ?? undefined,
        usernames: body.force_push_allowlist_usernames ?? undefined,
        teams: body.force_push_allowlist_teams ?? undefined,
        deployKeys: whitelisted(body.enable_force_push_allowlist, body.force_push_allowlist_deploy_keys),
      },
      {
        level: body.force_push_level ?? undefined,
        tasks: body.force_push_tasks ?? undefined,
        deployKeys: body.force_push_deploy_keys ?? undefined,
      },
    ),
    create: {
      level: body.create_level ?? undefined,
      people: body.create_usernames ?? undefined,
      teams: body.create_teams ?? undefined,
      tasks: body.create_tasks ?? undefined,
      deployKeys: body.create_deploy_keys ?? undefined,
    },
    delete: {
      level: body.delete_level ?? undefined,
      people: body.delete_usernames ?? undefined,
      teams: body.delete_teams ?? undefined,
      tasks: body.delete_tasks ?? undefined,
      deployKeys: body.delete_deploy_keys ?? undefined,
    },
  },
});

function tagInput(body: z.output<typeof tagProtectionEdit>): RuleInput {
  const people = body.whitelist_usernames ?? undefined;
  const teams = body.whitelist_teams ?? undefined;
  // In Gitea, a list of users or teams excludes everyone else.
  const otherwise = people === undefined && teams === undefined ? undefined : 'nobody';
  const grant = (level: string | null | undefined): GrantInput => ({
    level: level ?? otherwise,
    people,
    teams,
    tasks: otherwise === undefined ? undefined : false,
  });
  return {
    grants: { create: grant(body.create_level), force: grant(body.move_level), delete: grant(body.delete_level) },
  };
}

const listBranchProtections = operation({
  ...common,
  id: 'listBranchProtections',
  method: 'GET',
  path: branchRules,
  summary: 'List branch rules in order',
  description: 'Omits the built-in rule `~DEFAULT_BRANCH` until it is edited. Get it by its pattern.',
  status: 200,
  response: z.array(branchProtection),
  run: async (call) => json((await rulesFor(call, 'BRANCH')).filter((rule) => !isUsualRule(rule)).map(showBranchRule)),
});

const addBranchProtection = operation({
  ...common,
  id: 'addBranchProtection',
  method: 'POST',
  path: branchRules,
  summary: 'Create a branch rule',
  description:
    'Omitted fields get defaults: users with push access can push and create matching branches; no one can rewrite or delete them.',
  status: 201,
  refuses: [409],
  refusesUnknownKeys: true,
  body: newBranchProtection,
  response: branchProtection,
  async run(call) {
    const { rule_name: name, branch_name: sameName, ...body } = call.body;
    // Gitea's SDK sends the unset one as empty text.
    const pattern = name || sameName;
    if (!pattern) throw invalid('invalid_pattern', 'Name the branches of the rule.', { field: 'rule_name' });
    const { owner, name: repository } = call.found.canonical;
    const rule = { ...branchInput(body), target: 'branch', pattern };
    const id = await call.deps.repositories.rules.add(call.viewer, owner, repository, rule);
    const added = present((await rulesFor(call, 'BRANCH')).find((each) => each.id === id));
    return created(
      showBranchRule(added),
      `/repos/${owner}/${repository}/branch_protections/${encodeURIComponent(added.pattern)}`,
    );
  },
});

const orderBranchProtections = operation({
  ...common,
  id: 'orderBranchProtections',
  method: 'POST',
  path: `${branchRules}/priority`,
  summary: 'Reorder branch rules',
  description:
    'The first matching pattern applies; a rule for an exact name takes precedence. Identify rules by `id`; omitted rules follow in their current order.',
  status: 204,
  body: z.object({ ids: z.array(z.int()).max(100) }).meta({ id: 'BranchProtectionOrder' }),
  async run(call) {
    const rules = await rulesFor(call, 'BRANCH');
    const ids = call.body.ids.map((number) => present(rules.find(({ id }) => numericId(id) === number)).id);
    const { owner, name } = call.found.canonical;
    await call.deps.repositories.rules.order(call.viewer, owner, name, 'BRANCH', ids);
    return noContent();
  },
});

const oneBranchRule = `${branchRules}/{rule}` as const;

const getBranchProtection = operation({
  ...common,
  id: 'getBranchProtection',
  method: 'GET',
  path: oneBranchRule,
  summary: 'Get a branch rule by its pattern',
  status: 200,
  response: branchProtection,
  run: async (call) => json(showBranchRule(await branchRule(call, call.params.rule))),
});

const editBranchProtection = operation({
  ...common,
  id: 'editBranchProtection',
  method: 'PATCH',
  path: oneBranchRule,
  summary: 'Edit a branch rule',
  description: 'Omitted fields remain unchanged.',
  status: 200,
  refusesUnknownKeys: true,
  body: branchProtectionEdit,
  response: branchProtection,
  async run(call) {
    const { id } = await branchRule(call, call.params.rule);
    const { owner, name } = call.found.canonical;
    await call.deps.repositories.rules.change(call.viewer, owner, name, id, branchInput(call.body));
    return json(showBranchRule(await branchRule(call, call.params.rule)));
  },
});

const deleteBranchProtection = operation({
  ...common,
  id: 'deleteBranchProtection',
  method: 'DELETE',
  path: oneBranchRule,
  summary: 'Delete a branch rule',
  status: 204,
  async run(call) {
    const { id } = await branchRule(call, call.params.rule);
    const { owner, name } = call.found.canonical;
    await call.deps.repositories.rules.remove(call.viewer, owner, name, id);
    return noContent();
  },
});

const listTagProtections = operation({
  ...common,
  id: 'listTagProtections',
  method: 'GET',
  path: tagRules,
  summary: 'List tag rules in order',
  status: 200,
  response: z.array(tagProtection),
  run: async (call) => json((await rulesFor(call, 'TAG')).map(showTagRule)),
});

const addTagProtection = operation({
  ...common,
  id: 'addTagProtection',
  method: 'POST',
  path: tagRules,
  summary: 'Create a tag rule',
  description:
    'Omitted fields get defaults: users with push access can create matching tags; no one can move or delete them.',
  status: 201,
  refuses: [409],
  refusesUnknownKeys: true,
  body: newTagProtection,
  response: tagProtection,
  async run(call) {
    const { owner, name } = call.found.canonical;
    const rule = { ...tagInput(call.body), target: 'tag', pattern: call.body.name_pattern };
    const id = await call.deps.repositories.rules.add(call.viewer, owner, name, rule);
    const added = present((await rulesFor(call, 'TAG')).find((each) => each.id === id));
    return created(showTagRule(added), `/repos/${owner}/${name}/tag_protections/${numericId(id)}`);
  },
});

const oneTagRule = `${tagRules}/{id}` as const;

const getTagProtection = operation({
  ...common,
  id: 'getTagProtection',
  method: 'GET',
  path: oneTagRule,
  summary: 'Get a tag rule',
  status: 200,
  response: tagProtection,
  run: async (call) => json(showTagRule(await tagRule(call, call.params.id))),
});

const editTagProtection = operation({
  ...common,
  id: 'editTagProtection',
  method: 'PATCH',
  path: oneTagRule,
  summary: 'Edit a tag rule',
  description: 'Omitted fields remain unchanged.',
  status: 200,
  refuses: [409],
  refusesUnknownKeys: true,
  body: tagProtectionEdit,
  response: tagProtection,
  async run(call) {
    const { id } = await tagRule(call, call.params.id);
    const { owner, name } = call.found.canonical;
    const input = { ...tagInput(call.body), pattern: call.body.name_pattern ?? undefined };
    await call.deps.repositories.rules.change(call.viewer, owner, name, id, input);
    return json(showTagRule(await tagRule(call, call.params.id)));
  },
});

const deleteTagProtection = operation({
  ...common,
  id: 'deleteTagProtection',
  method: 'DELETE',
  path: oneTagRule,
  summary: 'Delete a tag rule',
  status: 204,
  async run(call) {
    const { id } = await tagRule(call, call.params.id);
    const { owner, name } = call.found.canonical;
    await call.deps.repositories.rules.remove(call.viewer, owner, name, id);
    return noContent();
  },
});

export const branchRuleOperations = [
  listBranchProtections,
  addBranchProtection,
  // Must precede `{rule}`, which would also match.
  orderBranchProtections,
  getBranchProtection,
  editBranchProtection,
  deleteBranchProtection,
  listTagProtections,
  addTagProtection,
  getTagProtection,
  editTagProtection,
  deleteTagProtection,
];
