import type { z } from 'zod';
import type { RuleAct } from '../../access/index.ts';
import type { GrantInput, ListedRule, MergingInput, RuleInput } from '../../repositories/index.ts';
import { numericId } from '../../webhooks/index.ts';
import type {
  branchProtection,
  branchProtectionEdit,
  tagProtection,
  tagProtectionEdit,
} from './branch-rule-schemas.ts';
import { isoTime } from './show.ts';

const usernames = (rule: ListedRule, act: RuleAct | 'merge'): string[] =>
  rule.named[act].flatMap(({ person }) => person.username ?? []);

/** The names of teams alone: all belong to the owner of the repository. */
const teams = (rule: ListedRule, act: RuleAct | 'merge'): string[] =>
  rule.teams[act].map((name) => name.slice(name.indexOf('/') + 1));

/** Gitea's words for who may do an act. */
function giteaGrant(rule: ListedRule, act: RuleAct | 'merge') {
  const [named, ofTeams] = [usernames(rule, act), teams(rule, act)];
  const { level, deployKeys = false } = act === 'merge' ? rule.merging.grant : rule.grants[act];
  const hasNames = named.length + ofTeams.length > 0 || deployKeys;
  const isWhitelist = level === 'nobody' && hasNames;
  return {
    isEnabled: level !== 'nobody' || hasNames,
    isWhitelist,
    usernames: named,
    teams: ofTeams,
    deployKeys: isWhitelist && deployKeys,
  };
}

/** A rule for branches in Gitea's words. */
export function showBranchRule(rule: ListedRule): z.output<typeof branchProtection> {
  const [push, force, merge] = [giteaGrant(rule, 'push'), giteaGrant(rule, 'force'), giteaGrant(rule, 'merge')];
  const { grants, merging } = rule;
  return {
    rule_name: rule.pattern,
    branch_name: rule.pattern,
    priority: rule.position,
    enable_push: push.isEnabled,
    enable_push_whitelist: push.isWhitelist,
    push_whitelist_usernames: push.usernames,
    push_whitelist_teams: push.teams,
    push_whitelist_deploy_keys: push.deployKeys,
    enable_force_push: force.isEnabled,
    enable_force_push_allowlist: force.isWhitelist,
    force_push_allowlist_usernames: force.usernames,
    force_push_allowlist_teams: force.teams,
    force_push_allowlist_deploy_keys: force.deployKeys,
    push_level: grants.push.level,
    push_tasks: grants.push.tasks,
    push_deploy_keys: grants.push.deployKeys ?? false,
    force_push_level: grants.force.level,
    force_push_tasks: grants.force.tasks,
    force_push_deploy_keys: grants.force.deployKeys ?? false,
    create_level: grants.create.level,
    create_usernames: usernames(rule, 'create'),
    create_teams: teams(rule, 'create'),
    create_tasks: grants.create.tasks,
    create_deploy_keys: grants.create.deployKeys ?? false,
    delete_level: grants.delete.level,
    delete_usernames: usernames(rule, 'delete'),
    delete_teams: teams(rule, 'delete'),
    delete_tasks: grants.delete.tasks,
    delete_deploy_keys: grants.delete.deployKeys ?? false,
    require_linear_history: rule.linear,
    require_signed_commits: rule.signed,
    enable_merge_whitelist: merge.isWhitelist,
    merge_whitelist_usernames: merge.usernames,
    merge_whitelist_teams: merge.teams,
    merge_level: merging.grant.level,
    merge_tasks: merging.grant.tasks,
    required_approvals: merging.approvals,
    approvals_survive: merging.approvalsSurvive,
    dismiss_stale_approvals: merging.approvalsSurvive === 'nothing',
    block_on_codeowner_reviews: merging.ownersApprove,
    block_on_unresolved_threads: merging.threadsResolved,
    enable_status_check: merging.checks.length > 0,
    status_check_contexts: [...merging.checks],
    block_on_outdated_branch: merging.upToDate !== 'no',
    merge_styles: merging.styles.map((style) => style.toLowerCase()) as ('merge' | 'squash' | 'rebase' | 'forward')[],
    block_admin_merge_override: merging.adminsToo,
    block_on_rejected_reviews: true,
    created_at: isoTime(rule.createdAt),
    updated_at: isoTime(rule.updatedAt),
  };
}

export const showTagRule = (rule: ListedRule): z.output<typeof tagProtection> => ({
  id: numericId(rule.id),
  name_pattern: rule.pattern,
  whitelist_usernames: usernames(rule, 'create'),
  whitelist_teams: teams(rule, 'create'),
  create_level: rule.grants.create.level,
  move_level: rule.grants.force.level,
  delete_level: rule.grants.delete.level,
  created_at: isoTime(rule.createdAt),
  updated_at: isoTime(rule.updatedAt),
});

/** Who may do an act, from Gitea's switches; our own level goes before them. */
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
  // Where a list decides in Gitea, it decides about deploy keys, too.
  const keys = enabled === false ? false : whitelist === true ? (switches.deployKeys ?? false) : switches.deployKeys;
  return {
    level: own.level ?? level,
    ...named,
    tasks: own.tasks ?? (enabled === false ? false : undefined),
    deployKeys: own.deployKeys ?? keys ?? (everyone === undefined ? undefined : true),
  };
}

type BranchBody = z.output<typeof branchProtectionEdit>;

/** What Gitea's switches and our own fields say of merges. */
function mergingInput(body: BranchBody): MergingInput {
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
    approvalsSurvive: body.approvals_survive ?? survive,
    ownersApprove: body.block_on_codeowner_reviews ?? undefined,
    threadsResolved: body.block_on_unresolved_threads ?? undefined,
    checks: body.enable_status_check === false ? [] : (body.status_check_contexts ?? undefined),
    upToDate: body.block_on_outdated_branch ?? undefined,
    styles: body.merge_styles ?? undefined,
    adminsToo: body.block_admin_merge_override ?? undefined,
  };
}

/** Clients of Gitea send false where there is no list for it to be about. */
const whitelisted = (
  isList: boolean | null | undefined,
  deployKeys: boolean | null | undefined,
): boolean | undefined => (isList === true || deployKeys === true ? (deployKeys ?? undefined) : undefined);

/** What a call says of a rule for branches. */
export const branchInput = (body: BranchBody): RuleInput => ({
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

/** What a call says of a rule for tags. */
export function tagInput(body: z.output<typeof tagProtectionEdit>): RuleInput {
  const people = body.whitelist_usernames ?? undefined;
  const teams = body.whitelist_teams ?? undefined;
  // In Gitea, a list of people or teams leaves everyone else out.
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
