import { z } from 'zod';
import { ruleLevels } from '../../../access/index.ts';

const time = z.iso.datetime().describe('ISO 8601, UTC');
const level = z.enum([...ruleLevels] as [string, ...string[]]).describe('Which role may, besides those who are named');
const usernames = z.array(z.string()).describe('Who may, whatever the role; people who may push to the repository');
const teams = z
  .array(z.string())
  .describe('Teams of the owning organisation, whose people may; those who may push to the repository');
const tasks = z.boolean().describe('Whether tasks of the CI may');
const deployKeys = z.boolean().describe('Whether deploy keys that may write may');
const whitelistedKeys = z.boolean().describe('Whether deploy keys are among those who are named');
const pattern = z
  .string()
  .describe('A name, or a pattern with * ** ? [a-z] {a,b}; ~DEFAULT_BRANCH for the default branch');

const branchFields = {
  enable_push: z.boolean().describe('Whether anybody may push'),
  enable_push_whitelist: z.boolean().describe('Whether only those who are named may'),
  push_whitelist_usernames: usernames,
  push_whitelist_teams: teams,
  push_whitelist_deploy_keys: whitelistedKeys,
  enable_force_push: z.boolean().describe('Whether anybody may rewrite the branch'),
  enable_force_push_allowlist: z.boolean().describe('Whether only those who are named may'),
  force_push_allowlist_usernames: usernames,
  force_push_allowlist_teams: teams,
  force_push_allowlist_deploy_keys: whitelistedKeys,
  push_level: level,
  push_tasks: tasks,
  push_deploy_keys: deployKeys,
  force_push_level: level,
  force_push_tasks: tasks,
  force_push_deploy_keys: deployKeys,
  create_level: level,
  create_usernames: usernames,
  create_teams: teams,
  create_tasks: tasks,
  create_deploy_keys: deployKeys,
  delete_level: level,
  delete_usernames: usernames,
  delete_teams: teams,
  delete_tasks: tasks,
  delete_deploy_keys: deployKeys,
  require_linear_history: z.boolean().describe('Whether merge commits are refused'),
  require_signed_commits: z.boolean().describe('Whether commits without a verified signature are refused'),
  enable_merge_whitelist: z.boolean().describe('Whether only those who are named may merge pull requests'),
  merge_whitelist_usernames: usernames,
  merge_whitelist_teams: teams,
  merge_level: level,
  merge_tasks: tasks,
  required_approvals: z.int().min(0).describe('Approvals that a merge needs'),
  enable_approvals_whitelist: z.boolean().describe('Whether only approvals of those who are named count'),
  approvals_whitelist_username: z.array(z.string()).describe('Whose approvals count; people who may push'),
  approvals_whitelist_teams: z.array(z.string()).describe('Teams of the owning organisation whose approvals count'),
  approvals_survive: z
    .enum(['nothing', 'rebase', 'anything'])
    .describe('Which pushes leave an approval in effect; rebase is a push that changes nothing but the base'),
  dismiss_stale_approvals: z.boolean().describe('The same in Gitea’s words: true is nothing'),
  block_on_codeowner_reviews: z.boolean().describe('Whether owners of changed code must have approved'),
  block_on_unresolved_threads: z.boolean().describe('Whether all threads must be resolved'),
  enable_status_check: z.boolean().describe('Whether checks must have passed'),
  status_check_contexts: z.array(z.string()).describe('Their contexts; a * at the end stands for any ending'),
  block_on_outdated_branch: z.boolean().describe('Whether the head must contain the tip of the branch'),
  merge_queue: z.boolean().describe('Whether a queue tests and merges, one pull request after the other'),
  merge_styles: z.array(z.enum(['merge', 'squash', 'rebase', 'forward'])).describe('Ways to merge'),
  block_admin_merge_override: z.boolean().describe('Whether the conditions hold for administrators, too'),
};

const tagFields = {
  whitelist_usernames: usernames.describe('Who may make, move and delete the tags; others may by their role'),
  whitelist_teams: teams,
  create_level: level,
  move_level: level,
  delete_level: level,
};

/** A branch rule in Gitea's shape; properties unknown to Gitea are our own fields. */
export const branchProtection = z
  .strictObject({
    id: z.int().describe('Follows from the UUID of the rule'),
    rule_name: pattern,
    branch_name: pattern,
    priority: z.int().describe('Order of patterns; of several that match, the first decides'),
    ...branchFields,
    block_on_rejected_reviews: z.literal(true).describe('A request for changes always blocks'),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'BranchProtection' });

/** Gitea's clients send null for a list that they do not set. */
const optional = <Fields extends z.ZodRawShape>(fields: Fields) => {
  const nullish = Object.entries(fields).map(([name, field]) => [name, (field as unknown as z.ZodType).nullish()]);
  return Object.fromEntries(nullish) as { [Name in keyof Fields]: z.ZodOptional<z.ZodNullable<Fields[Name]>> };
};

/** Other fields that Gitea's clients send, accepted unless they request something. */
const off = z.literal(false).nullish().describe('Only false: there is no such rule here');
const none = z.array(z.string()).max(0).nullish().describe('Only empty: there is no such rule here');
const unused = {
  approvals_whitelist_usernames: none,
  block_on_rejected_reviews: z.boolean().nullish().describe('A request for changes always blocks'),
  block_on_official_review_requests: off,
  ignore_stale_approvals: off,
  protected_file_patterns: z.literal('').nullish(),
  unprotected_file_patterns: z.literal('').nullish(),
};

/**
 * The properties that a call sets; omitted ones get the default in a new rule and stay unchanged in an existing one.
 */
export const branchProtectionEdit = z.strictObject({ ...optional(branchFields), ...unused });
export const newBranchProtection = z.strictObject({
  ...branchProtectionEdit.shape,
  rule_name: pattern.nullish(),
  branch_name: pattern.nullish().describe('The same as rule_name'),
});

export const tagProtection = z
  .strictObject({
    id: z.int().describe('Follows from the UUID of the rule'),
    name_pattern: pattern,
    ...tagFields,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'TagProtection' });
export const tagProtectionEdit = z.strictObject(optional({ name_pattern: pattern, ...tagFields }));
export const newTagProtection = z.strictObject({ ...tagProtectionEdit.shape, name_pattern: pattern });
