import { scopeAllows } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { refusalError } from '../../issues/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull, pullInWrite } from '../find-pull.ts';
import { reviewCommentSchema, reviewSchema } from '../schema/review-schema.ts';
import { reviewerOf, submittedReviewIn } from './review-write.ts';

/**
 * Withdraws a submitted review, for its author or an administrator of the server: deletes its texts and ends its
 * verdict, but keeps its place in the log. Throws `review_not_found`, `not_allowed_on_issue`, and permission errors.
 */
export async function withdrawReview(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { reviewId }: { reviewId: string },
): Promise<void> {
  const found = await findPull(deps, viewer, at);
  const personId = reviewerOf(viewer);
  await deps.issues.pulls.write(viewer, async ({ tx }) => {
    const context = await pullInWrite(deps, tx, viewer, found.issue, 'review');
    const review = await submittedReviewIn(tx, context.issue.id, reviewId);
    const isAdministrator = viewer.kind === 'person' && viewer.isAdministrator && scopeAllows(viewer, 'admin');
    if (review.authorId !== personId && !isAdministrator) throw refusalError('level', 'PULL');
    const emptied = { body: '', deletedAt: tx.now };
    await tx.manager.update(reviewCommentSchema, { reviewId }, emptied);
    const change = {
      body: '',
      verdict: 'COMMENT',
      dismissedAt: null,
      dismissedBy: null,
      dismissalReason: null,
    } as const;
    await tx.manager.update(reviewSchema, { id: reviewId }, change);
    if (review.position !== null)
      await deps.issues.pulls.replaceReviewText(tx, { issueId: context.issue.id, position: review.position }, '');
  });
}
