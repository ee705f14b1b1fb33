import { z } from 'zod';
import { issueLimits } from '../../../issues/index.ts';
import { pullRequest } from '../../../gitea-shapes/schemas.ts';
import { giteaUser, issue, labelRefs } from './issues-schemas.ts';

export { pullRequest };

/** The input of pull requests, and shapes of our own; shapes of Gitea's API are in gitea-shapes. */

const time = z.iso.datetime().describe('ISO 8601, UTC');
const text = z.string().max(issueLimits.bodyBytes).describe('Markdown');
const oid = z.string().describe('Full commit ID');

const dueDate = z.string().max(40).nullish().describe('Date, or a time on that date');
const usernames = z.array(z.string()).max(issueLimits.assigneesPerIssue * 2);

export const newPull = z
  .object({
    head: z.string().max(500).describe('branch, owner:branch or owner/name:branch'),
    base: z.string().max(255).nullish().describe('Defaults to the default branch'),
    title: z.string(),
    body: text.nullish(),
    labels: labelRefs.nullish().describe('IDs or names'),
    assignee: z.string().nullish(),
    assignees: usernames.nullish(),
    milestone: z.int().nullish().describe('ID; 0 for none'),
    due_date: dueDate,
    draft: z.boolean().nullish(),
    allow_maintainer_edit: z
      .boolean()
      .nullish()
      .describe('Allows users with write access to the base repository to push to the fork’s branch'),
    publish_private: z
      .boolean()
      .nullish()
      .describe('Confirms that everyone with access to this repository can see the private fork’s commits'),
  })
  .meta({ id: 'NewPullRequest' });

export const proposedPatch = z
  .object({
    patch: z.string().describe('Emails from git format-patch (mbox), or output of git diff'),
    encoding: z
      .enum(['utf-8', 'base64'])
      .nullish()
      .describe('Encoding of patch; base64 preserves the bytes of other character sets'),
    base: z.string().max(255).nullish().describe('Defaults to the default branch'),
    title: z.string().nullish().describe('Defaults to the subject of the emails; required for output of git diff'),
    body: text.nullish(),
    draft: z.boolean().nullish(),
    pull: z.int().min(1).nullish().describe('Number of an open pull request to which to add a round'),
  })
  .meta({ id: 'ProposedPatch' });

export const pullEdit = z
  .object({
    title: z.string().nullish().describe('An empty value leaves it unchanged'),
    body: text.nullish(),
    state: issue.shape.state.nullish(),
    base: z.string().max(255).nullish().describe('New base branch'),
    draft: z.boolean().nullish(),
    allow_maintainer_edit: z.boolean().nullish(),
    labels: labelRefs.nullish().describe('Complete list of labels, by ID or name'),
    assignee: z.string().nullish(),
    assignees: usernames.nullish(),
    milestone: z.int().nullish().describe('ID; 0 for none'),
    due_date: dueDate,
    unset_due_date: z.boolean().nullish(),
    revision: z
      .int()
      .nullish()
      .describe('Revision of the body that was edited; a different revision is rejected with 409'),
  })
  .meta({ id: 'PullRequestEdit' });

export const changedFile = z
  .strictObject({
    filename: z.string(),
    previous_filename: z.string(),
    status: z.enum(['added', 'deleted', 'changed', 'renamed', 'copied']),
    additions: z.int(),
    deletions: z.int(),
    changes: z.int(),
    html_url: z.string(),
    contents_url: z.string(),
    raw_url: z.string(),
  })
  .meta({ id: 'ChangedFile' });

const conflictLine = z
  .strictObject({
    line: z.int().describe('Line in the file with conflict markers, counted from 1'),
    kind: z.enum(['context', 'mark', 'ours', 'base', 'theirs']),
    text: z.string(),
  })
  .meta({ id: 'ConflictLine' });
export const pullConflicts = z
  .strictObject({
    base_sha: z.string().describe('Tip of the base branch, the side that git calls ours'),
    head_sha: z.string(),
    total: z.int().describe('Total number of conflicting files, including those not listed'),
    files: z.array(
      z.strictObject({
        filename: z.string(),
        kind: z
          .enum(['marked', 'binary', 'too_large', 'gone_in_base', 'gone_in_head', 'other'])
          .describe('Lines are listed only for files with conflict markers'),
        hunks: z.array(z.array(conflictLine)),
        truncated: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'PullConflicts' });

const flag = z.boolean().nullish();
const style = z.enum(['merge', 'rebase', 'squash', 'fast-forward-only']);
const message = z.string().max(issueLimits.bodyBytes).nullish();
export const pullMerge = z
  .object({
    Do: style.nullish().describe('Merge method; required'),
    do: style.nullish(),
    MergeTitleField: message.describe('First line of the commit message; defaults to the web form’s initial value'),
    merge_title_field: message,
    MergeMessageField: message.describe('Rest of the commit message'),
    merge_message_field: message,
    head_commit_id: z
      .string()
      .max(64)
      .nullish()
      .describe('Head commit that the caller has seen; a different head is rejected'),
    delete_branch_after_merge: flag.describe('Defaults to the repository’s setting'),
    merge_when_checks_succeed: flag.describe('Merges as soon as all requirements are met, which may be immediately'),
    force_merge: flag.describe('Overrides the branch rule, if the rule allows this for administrators'),
  })
  .meta({ id: 'PullRequestMerge' });

export const pullQueuePlace = z
  .strictObject({
    number: z.int(),
    title: z.string(),
    base: z.string().describe('Base branch'),
    state: z.enum(['waiting', 'testing']),
    place: z.int().describe('Counted from 1'),
    length: z.int().describe('Number of pull requests in the branch’s queue'),
    round: z.int().describe('Round to merge; a newer round removes it from the queue'),
    user: giteaUser.nullable().describe('User who added it'),
    added_at: time,
    candidate_sha: oid.nullable().describe('Merge commit under test, which becomes the tip of the branch'),
    tested_since: time.nullable(),
  })
  .meta({ id: 'PullRequestQueuePlace' });

export const stackedPull = z
  .strictObject({
    number: z.int(),
    title: z.string(),
    state: z.enum(['open', 'closed', 'merged']),
    draft: z.boolean(),
    head_sha: oid,
    needs: z.array(z.int()).describe('Numbers of the pull requests directly below it, which must be merged first'),
    behind: z.boolean().describe('Whether a pull request below it has newer commits than it is based on'),
  })
  .meta({ id: 'StackedPullRequest' });

export const pullQueueEntry = z
  .object({
    Do: style.nullish().describe('Merge method; defaults to merge'),
    MergeTitleField: message,
    MergeMessageField: message,
    head_commit_id: z
      .string()
      .max(64)
      .nullish()
      .describe('Head commit that the caller has seen; a different head is rejected'),
  })
  .meta({ id: 'PullRequestQueueEntry' });

const roundFields = {
  round: z.int().describe('Counted from 1'),
  head_sha: oid,
  base_sha: oid.describe('Merge base at the time of the round'),
  commits_count: z.int(),
  change: z
    .enum(['first', 'added', 'rebased', 'edited', 'unknown'])
    .describe('Type of change since the previous round: `rebased` means that only the base changed'),
  note: z.string(),
  user: giteaUser.nullable().describe('User who pushed it'),
  created_at: time,
};
export const pullRound = z.strictObject(roundFields).meta({ id: 'PullRound' });
export const pullRoundCommits = z
  .strictObject({
    ...roundFields,
    commits: z
      .array(z.strictObject({ sha: oid, subject: z.string(), change_id: z.string().nullable() }))
      .describe('At most the newest 250, oldest first'),
  })
  .meta({ id: 'PullRoundCommits' });
