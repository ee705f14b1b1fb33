import { z } from 'zod';
import { ruleLevels } from '../../../access/index.ts';

const time = z.iso.datetime().describe('ISO 8601, UTC');
const level = z
  .enum([...ruleLevels] as [string, ...string[]])
  .describe('Minimum role, in addition to the listed users and teams');
const usernames = z
  .array(z.string())
  .describe('Users allowed regardless of role; they need push access to the repository');
const teams = z
  .array(z.string())
  .describe('Teams of the owning organisation that are allowed; they need push access to the repository');
const tasks = z.boolean().describe('Whether CI jobs are allowed');
const deployKeys = z.boolean().describe('Whether deploy keys with write access are allowed');
const whitelistedKeys = z.boolean().describe('Whether deploy keys are on the allowlist');
const pattern = z.string().describe('Name or pattern with * ** ? [a-z] {a,b}; ~DEFAULT_BRANCH for the default branch');

const branchFields = {
  enable_push: z.boolean().describe('Whether pushing is allowed at all'),
  enable_push_whitelist: z.boolean().describe('Whether only allowlisted users, teams and keys are allowed'),
  push_whitelist_usernames: usernames,
  push_whitelist_teams: teams,
  push_whitelist_deploy_keys: whitelistedKeys,
  enable_force_push: z.boolean().describe('Whether force pushes are allowed at all'),
  enable_force_push_allowlist: z.boolean().describe('Whether only allowlisted users, teams and keys are allowed'),
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
  require_linear_history: z.boolean().describe('Whether merge commits are rejected'),
  require_signed_commits: z.boolean().describe('Whether commits without a verified signature are rejected'),
  enable_merge_whitelist: z.boolean().describe('Whether only allowlisted users and teams can merge pull requests'),
  merge_whitelist_usernames: usernames,
  merge_whitelist_teams: teams,
  merge_level: level,
  merge_tasks: tasks,
  required_approvals: z.int().min(0).describe('Number of approvals required for a merge'),
  enable_approvals_whitelist: z.boolean().describe('Whether only approvals by allowlisted users and teams count'),
  approvals_whitelist_username: z.array(z.string()).describe('Users whose approvals count; they need push access'),
  approvals_whitelist_teams: z.array(z.string()).describe('Teams of the owning organisation whose approvals count'),
  approvals_survive: z
    .enum(['nothing', 'rebase', 'anything'])
    .describe('Which pushes keep existing approvals; rebase means pushes that change only the base'),
  dismiss_stale_approvals: z.boolean().describe('Gitea’s equivalent: true means that no push keeps approvals'),
  block_on_codeowner_reviews: z.boolean().describe('Whether owners of the changed code must approve'),
  block_on_unresolved_threads: z.boolean().describe('Whether all threads must be resolved'),
  enable_status_check: z.boolean().describe('Whether status checks must pass'),
  status_check_contexts: z
    .array(z.string())
    .describe('Contexts of the required checks; a trailing * matches any ending'),
  block_on_outdated_branch: z.boolean().describe('Whether the head must contain the branch tip'),
  merge_queue: z.boolean().describe('Whether a merge queue tests and merges pull requests one at a time'),
  merge_styles: z.array(z.enum(['merge', 'squash', 'rebase', 'forward'])).describe('Allowed merge methods'),
  block_admin_merge_override: z.boolean().describe('Whether the requirements also apply to administrators'),
};

const tagFields = {
  whitelist_usernames: usernames.describe(
    'Users allowed to create, move and delete matching tags; others are allowed by role',
  ),
  whitelist_teams: teams,
  create_level: level,
  move_level: level,
  delete_level: level,
};

/** A branch rule in Gitea's shape; properties unknown to Gitea are our own fields. */
export const branchProtection = z
  .strictObject({
    id: z.int().describe('Derived from the rule’s UUID'),
    rule_name: pattern,
    branch_name: pattern,
    priority: z.int().describe('Position of the pattern; the first matching pattern applies'),
    ...branchFields,
    block_on_rejected_reviews: z.literal(true).describe('A request for changes always blocks the merge'),
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
const off = z.literal(false).nullish().describe('Must be false: Hearth does not have this rule');
const none = z.array(z.string()).max(0).nullish().describe('Must be empty: Hearth does not have this rule');
const unused = {
  approvals_whitelist_usernames: none,
  block_on_rejected_reviews: z.boolean().nullish().describe('A request for changes always blocks the merge'),
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
  branch_name: pattern.nullish().describe('Alias of rule_name'),
});

export const tagProtection = z
  .strictObject({
    id: z.int().describe('Derived from the rule’s UUID'),
    name_pattern: pattern,
    ...tagFields,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'TagProtection' });
export const tagProtectionEdit = z.strictObject(optional({ name_pattern: pattern, ...tagFields }));
export const newTagProtection = z.strictObject({ ...tagProtectionEdit.shape, name_pattern: pattern });
