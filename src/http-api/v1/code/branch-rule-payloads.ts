import type { z } from 'zod';
import { teamNameOf, usernamesOf } from '../../../access/index.ts';
import type { RuleAct } from '../../../access/index.ts';
import type { ListedRule } from '../../../repositories/index.ts';
import { numericId } from '../../../gitea-shapes/index.ts';
import type { branchProtection, tagProtection } from './branch-rule-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';

/** Only the names of teams: all belong to the repository owner. */
const teams = (rule: ListedRule, act: keyof ListedRule['teams']): string[] => rule.teams[act].map(teamNameOf);

/** Gitea's names of permitted actors. */
function giteaGrant(rule: ListedRule, act: RuleAct | 'merge') {
  const [named, ofTeams] = [usernamesOf(rule.named[act]), teams(rule, act)];
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

/** A branch rule in Gitea's shape, with our own fields. */
export function showBranchRule(rule: ListedRule): z.output<typeof branchProtection> {
  const [push, force, merge] = [giteaGrant(rule, 'push'), giteaGrant(rule, 'force'), giteaGrant(rule, 'merge')];
  const { grants, merging } = rule;
  return {
    id: numericId(rule.id),
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
    create_usernames: usernamesOf(rule.named.create),
    create_teams: teams(rule, 'create'),
    create_tasks: grants.create.tasks,
    create_deploy_keys: grants.create.deployKeys ?? false,
    delete_level: grants.delete.level,
    delete_usernames: usernamesOf(rule.named.delete),
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
    enable_approvals_whitelist: merging.approvers !== null,
    approvals_whitelist_username: usernamesOf(rule.named.approve),
    approvals_whitelist_teams: teams(rule, 'approve'),
    approvals_survive: merging.approvalsSurvive,
    dismiss_stale_approvals: merging.approvalsSurvive === 'nothing',
    block_on_codeowner_reviews: merging.ownersApprove,
    block_on_unresolved_threads: merging.threadsResolved,
    enable_status_check: merging.checks.length > 0,
    status_check_contexts: [...merging.checks],
    block_on_outdated_branch: merging.upToDate === 'yes',
    merge_queue: merging.upToDate === 'queue',
    merge_styles: merging.styles.map((style) => style.toLowerCase()) as ('merge' | 'squash' | 'rebase' | 'forward')[],
    block_admin_merge_override: merging.adminsToo,
    block_on_rejected_reviews: true,
    created_at: isoTime(rule.createdAt),
    updated_at: isoTime(rule.updatedAt),
  };
}

/** A tag rule in Gitea's shape, with our own fields. */
export const showTagRule = (rule: ListedRule): z.output<typeof tagProtection> => ({
  id: numericId(rule.id),
  name_pattern: rule.pattern,
  whitelist_usernames: usernamesOf(rule.named.create),
  whitelist_teams: teams(rule, 'create'),
  create_level: rule.grants.create.level,
  move_level: rule.grants.force.level,
  delete_level: rule.grants.delete.level,
  created_at: isoTime(rule.createdAt),
  updated_at: isoTime(rule.updatedAt),
});
