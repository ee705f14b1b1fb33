import { z } from 'zod';
import { giteaUser } from './user-schema.ts';

const time = z.iso.datetime().describe('ISO 8601, UTC');
const always = (value: boolean, why: string) => z.literal(value).describe(why);

const fields = {
  id: z.int().describe('Derived from the UUID'),
  owner: giteaUser,
  name: z.string(),
  full_name: z.string(),
  description: z.string(),
  empty: z.boolean(),
  private: z.boolean(),
  fork: z.boolean(),
  template: z.boolean(),
  mirror: z.boolean(),
  size: z.int().describe('Size in KiB'),
  language: z.string().describe('Main language; empty until it has been computed'),
  languages_url: z.string(),
  html_url: z.string(),
  url: z.string(),
  link: z.string(),
  ssh_url: z.string().describe('Empty while SSH is disabled'),
  clone_url: z.string(),
  original_url: z.string(),
  website: z.string(),
  stars_count: z.int(),
  forks_count: z.int().describe('Number of public forks'),
  watchers_count: z.int(),
  open_issues_count: z.int(),
  open_pr_counter: z.int(),
  release_counter: z.int(),
  default_branch: z.string(),
  archived: z.boolean().describe('Read-only'),
  created_at: time,
  updated_at: time,
  archived_at: time.describe('1970 if not archived'),
  permissions: z
    .strictObject({ admin: z.boolean(), push: z.boolean(), pull: z.boolean() })
    .describe('The caller’s permissions; in webhook payloads, those of an anonymous user'),
  has_code: z.boolean(),
  has_issues: z.boolean(),
  internal_tracker: z.strictObject({
    enable_time_tracker: z.boolean(),
    allow_only_contributors_to_track_time: z.boolean(),
    enable_issue_dependencies: z.boolean(),
  }),
  has_wiki: z.boolean(),
  has_pull_requests: z.boolean(),
  has_projects: z.boolean(),
  projects_mode: z.string(),
  has_releases: z.boolean(),
  has_packages: z.boolean(),
  has_actions: z.boolean(),
  ignore_whitespace_conflicts: always(false, 'Always false: conflicts are those that git reports'),
  allow_merge_commits: z.boolean(),
  allow_rebase: z.boolean(),
  allow_rebase_explicit: z.boolean(),
  allow_squash_merge: z.boolean(),
  allow_fast_forward_only_merge: z.boolean(),
  allow_rebase_update: z.boolean(),
  allow_manual_merge: z.boolean(),
  autodetect_manual_merge: z.boolean(),
  default_delete_branch_after_merge: z.boolean(),
  default_merge_style: z.string(),
  default_allow_maintainer_edit: z.boolean(),
  default_target_branch: z.string(),
  avatar_url: z.string().describe('URL of the image; empty if none'),
  internal: always(false, 'Always false: repositories are public or private'),
  mirror_interval: z.string(),
  mirror_updated: time,
  object_format_name: z.enum(['sha1', 'sha256']),
  repo_transfer: z.null(),
  topics: z.array(z.string()),
  licenses: z.array(z.string()),
};

/** The source of a fork. */
const parentRepository = z.strictObject({ ...fields, parent: z.null() }).meta({ id: 'ParentRepository' });

/** A repository in Gitea's form. */
export const giteaRepository = z
  .strictObject({
    ...fields,
    parent: parentRepository
      .nullable()
      .describe('Source of the fork; null if it is not a fork or the caller cannot read the source'),
  })
  .meta({ id: 'GiteaRepository' });
