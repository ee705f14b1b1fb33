import { z } from 'zod';
import { issue } from './issue-schema.ts';
import { giteaRepository } from './repository-schema.ts';
import { team } from './team-schema.ts';
import { giteaUser } from './user-schema.ts';

/** Pull requests in Gitea's form, with fields of our own. */

const time = z.iso.datetime().describe('ISO 8601, UTC');
const oid = z.string().describe('Full id of a commit');

const branch = z
  .strictObject({
    label: z.string(),
    ref: z.string().describe('The branch; refs/pull/{number}/head where there is none that the caller may read'),
    sha: oid,
    repo_id: z.int().describe('-1 where it is gone or hidden, and for a push'),
    repo: giteaRepository.nullable(),
  })
  .meta({ id: 'PullBranch' });

export const pullRequest = z
  .strictObject({
    id: issue.shape.id,
    url: z.string(),
    number: z.int().describe('Of the repository'),
    user: giteaUser,
    title: z.string(),
    body: z.string().describe('Markdown'),
    labels: issue.shape.labels,
    milestone: issue.shape.milestone,
    assignee: issue.shape.assignee,
    assignees: issue.shape.assignees,
    requested_reviewers: z.array(giteaUser).describe('Those who have not answered'),
    requested_reviewers_teams: z.array(team).describe('The same; only teams that the caller may know of'),
    state: issue.shape.state.describe('A merged one is closed'),
    draft: z.boolean(),
    is_locked: z.boolean(),
    comments: z.int(),
    html_url: z.string(),
    diff_url: z.string(),
    patch_url: z.string(),
    mergeable: z.boolean().describe('Whether it merges without conflicts; false until that is known'),
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
    round: z.int().describe('The last one; each accepted push is one'),
    source: z.enum(['BRANCH', 'FORK', 'PUSH', 'PATCH', 'REMOTE']),
    merge_state: z.enum(['UNKNOWN', 'CLEAN', 'CONFLICT', 'EMPTY', 'UNRELATED']),
    conflicts: z.array(z.string()).describe('Paths'),
    merge_style: z.enum(['MERGE', 'SQUASH', 'REBASE', 'FORWARD']).nullable().describe('How it was merged'),
    merge_when_ready_round: z.int().nullable().describe('The round that is merged when nothing stands in its way'),
    revision: issue.shape.revision,
    held: z.boolean(),
  })
  .meta({ id: 'PullRequest' });
