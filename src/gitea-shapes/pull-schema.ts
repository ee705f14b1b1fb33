import { z } from 'zod';
import { issue } from './issue-schema.ts';
import { giteaRepository } from './repository-schema.ts';
import { team } from './team-schema.ts';
import { giteaUser } from './user-schema.ts';

/** Pull requests in Gitea's form, with fields of our own. */

const time = z.iso.datetime().describe('ISO 8601, UTC');
const oid = z.string().describe('Full commit ID');

const branch = z
  .strictObject({
    label: z.string(),
    ref: z.string().describe('Branch name; refs/pull/{number}/head if the caller cannot read a head branch'),
    sha: oid,
    repo_id: z.int().describe('-1 if deleted or hidden, and for pull requests opened by a push'),
    repo: giteaRepository.nullable(),
  })
  .meta({ id: 'PullBranch' });

export const pullRequest = z
  .strictObject({
    id: issue.shape.id,
    url: z.string(),
    number: z.int().describe('Number within the repository'),
    user: giteaUser,
    title: z.string(),
    body: z.string().describe('Markdown'),
    labels: issue.shape.labels,
    milestone: issue.shape.milestone,
    assignee: issue.shape.assignee,
    assignees: issue.shape.assignees,
    requested_reviewers: z.array(giteaUser).describe('Reviewers who have not responded yet'),
    requested_reviewers_teams: z
      .array(team)
      .describe('Teams that have not responded yet; only those visible to the caller'),
    state: issue.shape.state.describe('Merged pull requests are closed'),
    draft: z.boolean(),
    is_locked: z.boolean(),
    comments: z.int(),
    html_url: z.string(),
    diff_url: z.string(),
    patch_url: z.string(),
    mergeable: z.boolean().describe('Whether it merges without conflicts; false until this has been computed'),
    merged: z.boolean(),
    merged_at: time.nullable(),
    merge_commit_sha: oid.nullable(),
    merged_by: giteaUser.nullable(),
    allow_maintainer_edit: z.boolean(),
    base: branch,
    head: branch,
    merge_base: oid,
    due_date: issue.shape.due_date,
    created_at: time,
    updated_at: time,
    closed_at: time.nullable(),
    content_version: issue.shape.content_version,
    pin_order: z.int(),
    round: z.int().describe('Latest round; every accepted push creates a round'),
    source: z.enum(['BRANCH', 'FORK', 'PUSH', 'PATCH', 'REMOTE']),
    merge_state: z.enum(['UNKNOWN', 'CLEAN', 'CONFLICT', 'EMPTY', 'UNRELATED']),
    conflicts: z.array(z.string()).describe('Paths'),
    merge_style: z.enum(['MERGE', 'SQUASH', 'REBASE', 'FORWARD']).nullable().describe('Merge method used'),
    merge_when_ready_round: z.int().nullable().describe('Round to merge once all requirements are met'),
    revision: issue.shape.revision,
    held: z.boolean(),
  })
  .meta({ id: 'PullRequest' });
