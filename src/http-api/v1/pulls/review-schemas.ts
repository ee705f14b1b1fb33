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
    id: z.int().describe('Derived from the UUID'),
    user: giteaUser.nullable().describe('Null for a review requested from a team'),
    team: team.nullable().describe('Team whose review was requested'),
    state: z
      .enum(['APPROVED', 'REQUEST_CHANGES', 'COMMENT', 'PENDING', 'REQUEST_REVIEW'])
      .describe('PENDING is visible only to its author; REQUEST_REVIEW is a review request to a user or team'),
    body: z.string(),
    commit_id: z.string().describe('Head of the reviewed round'),
    round: z.int(),
    stale: z.boolean().describe('Whether a later round exists'),
    official: z.boolean().describe('Whether its author currently has write access to the repository'),
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
    resolver: giteaUser.nullable().describe('User who resolved the thread'),
    pull_request_review_id: z.int(),
    created_at: time,
    updated_at: time,
    path: z.string().describe('File path; empty for the round as a whole'),
    commit_id: z.string().describe('Latest head'),
    original_commit_id: z.string().describe('Commit that the comment was made on'),
    diff_hunk: z.string().describe('Original lines'),
    position: z
      .int()
      .describe(
        'Last line in the new file as of the latest round; 0 if the line is in the old file or no longer exists',
      ),
    original_position: z.int().describe('Last line in the old file, counted likewise'),
    html_url: z.string(),
    pull_request_url: z.string(),
    thread_id: z.string(),
    thread_position: z.int().describe('Position in the thread, counted from 1'),
    round: z.int(),
    state: z.enum(['same', 'moved', 'changed', 'gone']).nullable().describe('State of the lines in the latest round'),
    resolved: z.boolean(),
  })
  .meta({ id: 'PullReviewComment' });

const event = z
  .enum(['APPROVED', 'APPROVE', 'REQUEST_CHANGES', 'COMMENT', 'PENDING', ''])
  .nullish()
  .describe('PENDING, empty or omitted: comments remain pending until the review is submitted');

export const newPullReview = z
  .object({
    event,
    body: text.nullish().describe('Markdown; not for a pending review'),
    commit_id: z.string().max(64).nullish().describe('Head of the reviewed round; defaults to the latest'),
    comments: z
      .array(
        z.object({
          path: z.string().max(4096).nullish().describe('File path; omit it to comment on the round as a whole'),
          body: text,
          new_position: line.describe(
            'Line in the new file; omit both positions or set them to 0 to comment on the file',
          ),
          old_position: line.describe('Line in the old file'),
          first_line: line.describe('First line of a range that ends at the position'),
          thread_id: z.string().max(100).nullish().describe('ID of the thread to reply to; its location is then used'),
        }),
      )
      .max(200)
      .nullish(),
  })
  .meta({ id: 'NewPullReview' });

export const pullReviewSubmission = z.object({ event, body: text.nullish() }).meta({ id: 'PullReviewSubmission' });

export const pullReviewDismissal = z
  .object({
    message: z.string().max(10_000).describe('Reason'),
    priors: z.boolean().nullish().describe('Also dismisses earlier reviews by the same user'),
  })
  .meta({ id: 'PullReviewDismissal' });

export const appliedSuggestions = z
  .object({
    comments: z.array(z.object({ thread_id: z.string().max(100), thread_position: z.int().min(1) })).max(100),
    round: z.int().nullish().describe('Only if this is still the latest round'),
    message: z.string().max(1_000).nullish().describe('Commit subject'),
  })
  .meta({ id: 'AppliedSuggestionsInput' });

const people = z.array(z.string().max(100)).max(50);
export const pullReviewRequest = z
  .object({
    reviewers: people.nullish().describe('Usernames'),
    team_reviewers: people.nullish().describe('Names of teams in the organisation that owns the repository'),
  })
  .meta({ id: 'PullReviewRequest' });
