import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull } from '../find-pull.ts';
import { reviewCommentSchema, reviewSchema } from '../schema/review-schema.ts';
import type { ReviewRow } from '../schema/review-schema.ts';
import { draftIn } from './review-write.ts';

/** The viewer's draft, with the number of its comments. */
export interface DraftReview extends ReviewRow {
  comments: number;
}

/** Submitted reviews, oldest first. Throws `repository_not_found`, `pull_not_found`. */
export async function listReviews(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<ReviewRow[]> {
  const { issue } = await findPull(deps, viewer, at);
  return deps.db.read
    .createQueryBuilder(reviewSchema, 'r')
    .where('r.issue_id = :issueId AND r.submitted_at IS NOT NULL', { issueId: issue.id })
    .orderBy('r.submitted_at')
    .getMany();
}

/** The viewer's draft review; null if there is none. Throws `repository_not_found`, `pull_not_found`. */
export async function draftOf(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<DraftReview | null> {
  const { issue } = await findPull(deps, viewer, at);
  const personId = personIdOf(viewer);
  const draft = personId === null ? null : await draftIn({ manager: deps.db.read }, issue.id, personId);
  if (draft === null) return null;
  return { ...draft, comments: await deps.db.read.countBy(reviewCommentSchema, { reviewId: draft.id }) };
}
