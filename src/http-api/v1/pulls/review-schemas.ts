import { z } from 'zod';
import { issueLimits } from '../../../issues/index.ts';
import { team } from '../../../gitea-shapes/schemas.ts';
import { giteaUser } from '../shapes/issues-schemas.ts';

/** The shapes of reviews: those of Gitea's API, with fields of our own. */

const time = z.iso.datetime().describe('ISO 8601, UTC');
const text = z.string().max(issueLimits.bodyBytes).describe('Markdown');
const line = z
  .int()
  .min(0)
  .max(2 ** 31)
  .nullish();

export const pullReview = z
  .strictObject({
    id: z.int().describe('Follows from the UUID'),
    user: giteaUser.nullable().describe('Null for a team that was asked'),
    team: team.nullable().describe('A team that was asked'),
    state: z
      .enum(['APPROVED', 'REQUEST_CHANGES', 'COMMENT', 'PENDING', 'REQUEST_REVIEW'])
      .describe('PENDING is seen by its author alone; REQUEST_REVIEW stands for a person or a team that was asked'),
    body: z.string(),
    commit_id: z.string().describe('The head of the round that was reviewed'),
    round: z.int(),
    stale: z.boolean().describe('Whether a later round is there'),
    official: z.boolean().describe('Whether its author may write to the repository now'),
    dismissed: z.boolean(),
    dismissal_reason: z.string().nullable(),
    comments_count: z.int(),
    submitted_at: time.nullable(),
    updated_at: time,
    html_url: z.string(),
    pull_request_url: z.string(),
  })
  .meta({ id: 'PullReview' });

export const pullReviewComment = z
  .strictObject({
    id: z.int(),
    body: z.string(),
    user: giteaUser,
    resolver: giteaUser.nullable().describe('Who resolved the thread'),
    pull_request_review_id: z.int(),
    created_at: time,
    updated_at: time,
    path: z.string().describe('Empty for the round as a whole'),
    commit_id: z.string().describe('The last head'),
    original_commit_id: z.string().describe('The commit that was commented on'),
    diff_hunk: z.string().describe('The lines as they were'),
    position: z.int().describe('Last line in the new file, as of the last round; 0 for one of the old file, or none'),
    original_position: z.int().describe('The same in the old file'),
    html_url: z.string(),
    pull_request_url: z.string(),
    thread_id: z.string(),
    thread_position: z.int().describe('Its number in the thread, from 1'),
    round: z.int(),
    state: z
      .enum(['same', 'moved', 'changed', 'gone'])
      .nullable()
      .describe('What became of the lines in the last round'),
    resolved: z.boolean(),
  })
  .meta({ id: 'PullReviewComment' });

const event = z
  .enum(['APPROVED', 'APPROVE', 'REQUEST_CHANGES', 'COMMENT', 'PENDING', ''])
  .nullish()
  .describe('PENDING, empty or left out: the comments wait until the review is submitted');

export const newPullReview = z
  .object({
    event,
    body: text.nullish().describe('Markdown; not for a pending review'),
    commit_id: z.string().max(64).nullish().describe('The head of the round that is reviewed; left out, the last'),
    comments: z
      .array(
        z.object({
          path: z.string().max(4096).nullish().describe('Left out: the round as a whole'),
          body: text,
          new_position: line.describe('Line of the new file; 0 or left out with old_position, too: the file'),
          old_position: line.describe('Line of the old file'),
          first_line: line.describe('Where the lines begin that end there'),
          thread_id: z.string().max(100).nullish().describe('The thread that this answers; its place counts then'),
        }),
      )
      .max(200)
      .nullish(),
  })
  .meta({ id: 'NewPullReview' });

export const pullReviewSubmission = z.object({ event, body: text.nullish() }).meta({ id: 'PullReviewSubmission' });

export const pullReviewDismissal = z
  .object({
    message: z.string().max(10_000).describe('Why'),
    priors: z.boolean().nullish().describe('Also earlier reviews of the same person'),
  })
  .meta({ id: 'PullReviewDismissal' });

export const appliedSuggestions = z
  .object({
    comments: z.array(z.object({ thread_id: z.string().max(100), thread_position: z.int().min(1) })).max(100),
    round: z.int().nullish().describe('Only if this is still the last round'),
    message: z.string().max(1_000).nullish().describe('The subject of the commit'),
  })
  .meta({ id: 'AppliedSuggestionsInput' });

const people = z.array(z.string().max(100)).max(50);
export const pullReviewRequest = z
  .object({
    reviewers: people.nullish().describe('Usernames'),
    team_reviewers: people.nullish().describe('Names of teams of the organisation that owns the repository'),
  })
  .meta({ id: 'PullReviewRequest' });
