import { z } from 'zod';
import { issueLimits } from '../../../issues/index.ts';
import { pullRequest } from '../../../gitea-shapes/schemas.ts';
import { giteaUser, issue, labelRefs } from './issues-schemas.ts';

export { pullRequest };

/** The input of pull requests, and shapes of our own; shapes of Gitea's API are in gitea-shapes. */

const time = z.iso.datetime().describe('ISO 8601, UTC');
const text = z.string().max(issueLimits.bodyBytes).describe('Markdown');
const oid = z.string().describe('Full id of a commit');

const dueDate = z.string().max(40).nullish().describe('A date, or a time of that day');
const usernames = z.array(z.string()).max(issueLimits.assigneesPerIssue * 2);

export const newPull = z
  .object({
    head: z.string().max(500).describe('branch, owner:branch or owner/name:branch'),
    base: z.string().max(255).nullish().describe('Left out: the default branch'),
    title: z.string(),
    body: text.nullish(),
    labels: labelRefs.nullish().describe('Ids or names'),
    assignee: z.string().nullish(),
    assignees: usernames.nullish(),
    milestone: z.int().nullish().describe('Id; 0 for none'),
    due_date: dueDate,
    draft: z.boolean().nullish(),
    allow_maintainer_edit: z
      .boolean()
      .nullish()
      .describe('Lets people who may write here push to the branch of the fork'),
    publish_private: z
      .boolean()
      .nullish()
      .describe('Confirms that commits of a private fork may be seen by all who see this repository'),
  })
  .meta({ id: 'NewPullRequest' });

export const proposedPatch = z
  .object({
    patch: z.string().describe('Mails of git format-patch (mbox), or the output of git diff'),
    encoding: z
      .enum(['utf-8', 'base64'])
      .nullish()
      .describe('Of patch; base64 keeps the bytes of other character sets'),
    base: z.string().max(255).nullish().describe('Left out: the default branch'),
    title: z.string().nullish().describe('Left out: by the mails; the output of git diff needs one'),
    body: text.nullish(),
    draft: z.boolean().nullish(),
    pull: z.int().min(1).nullish().describe('The number of an open pull request, of which this becomes the next round'),
  })
  .meta({ id: 'ProposedPatch' });

export const pullEdit = z
  .object({
    title: z.string().nullish().describe('Empty stays as it is'),
    body: text.nullish(),
    state: issue.shape.state.nullish(),
    base: z.string().max(255).nullish().describe('Another branch to merge into'),
    draft: z.boolean().nullish(),
    allow_maintainer_edit: z.boolean().nullish(),
    labels: labelRefs.nullish().describe('All labels, by id or name'),
    assignee: z.string().nullish(),
    assignees: usernames.nullish(),
    milestone: z.int().nullish().describe('Id; 0 for none'),
    due_date: dueDate,
    unset_due_date: z.boolean().nullish(),
    revision: z.int().nullish().describe('Of the body that was edited; another one is refused with 409'),
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
    line: z.int().describe('In the file with its marks, from 1'),
    kind: z.enum(['context', 'mark', 'ours', 'base', 'theirs']),
    text: z.string(),
  })
  .meta({ id: 'ConflictLine' });
export const pullConflicts = z
  .strictObject({
    base_sha: z.string().describe('The tip of the base branch: the side that git calls ours'),
    head_sha: z.string(),
    total: z.int().describe('Files in conflict; those beyond the first ones are only counted'),
    files: z.array(
      z.strictObject({
        filename: z.string(),
        kind: z
          .enum(['marked', 'binary', 'too_large', 'gone_in_base', 'gone_in_head', 'other'])
          .describe('Only for marked there are lines'),
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
    Do: style.nullish().describe('How; needed'),
    do: style.nullish(),
    MergeTitleField: message.describe('First line of the new commit; left out, what the form begins with'),
    merge_title_field: message,
    MergeMessageField: message.describe('The rest of its message'),
    merge_message_field: message,
    head_commit_id: z.string().max(64).nullish().describe('The head that the caller has seen; another one is refused'),
    delete_branch_after_merge: flag.describe('Left out: as the repository is set'),
    merge_when_checks_succeed: flag.describe('Merges once nothing stands in its way, which may be at once'),
    force_merge: flag.describe('Merges in spite of the rule of the branch, where it lets administrators'),
  })
  .meta({ id: 'PullRequestMerge' });

export const pullQueuePlace = z
  .strictObject({
    number: z.int(),
    title: z.string(),
    base: z.string().describe('The branch'),
    state: z.enum(['waiting', 'testing']),
    place: z.int().describe('From 1'),
    length: z.int().describe('How many are in the queue of the branch'),
    round: z.int().describe('The round that is merged; a later one is out'),
    user: giteaUser.nullable().describe('Who added it'),
    added_at: time,
    candidate_sha: oid.nullable().describe('The merge that is tested, and becomes the tip of the branch'),
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
    needs: z.array(z.int()).describe('Numbers of those directly below it, which are merged first'),
    behind: z.boolean().describe('Whether one below has newer commits than those on which it is built'),
  })
  .meta({ id: 'StackedPullRequest' });

export const pullQueueEntry = z
  .object({
    Do: style.nullish().describe('How it is merged; left out: merge'),
    MergeTitleField: message,
    MergeMessageField: message,
    head_commit_id: z.string().max(64).nullish().describe('The head that the caller has seen; another one is refused'),
  })
  .meta({ id: 'PullRequestQueueEntry' });

const roundFields = {
  round: z.int().describe('From 1'),
  head_sha: oid,
  base_sha: oid.describe('The merge base when the round came'),
  commits_count: z.int(),
  change: z
    .enum(['first', 'added', 'rebased', 'edited', 'unknown'])
    .describe('What the author changed since the round before: nothing but the base is `rebased`'),
  note: z.string(),
  user: giteaUser.nullable().describe('Who pushed it'),
  created_at: time,
};
export const pullRound = z.strictObject(roundFields).meta({ id: 'PullRound' });
export const pullRoundCommits = z
  .strictObject({
    ...roundFields,
    commits: z
      .array(z.strictObject({ sha: oid, subject: z.string(), change_id: z.string().nullable() }))
      .describe('The oldest first; the newest 250'),
  })
  .meta({ id: 'PullRoundCommits' });
