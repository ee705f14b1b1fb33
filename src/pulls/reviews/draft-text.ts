import type { Viewer } from '../../access/index.ts';
import { parseBody } from '../../issues/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull } from '../find-pull.ts';
import { getRoundRow } from '../get-round-row.ts';
import { reviewSchema } from '../schema/review-schema.ts';
import type { ReviewRow } from '../schema/review-schema.ts';
import { draftIn, newReview, reviewerOf, writeReview } from './review-write.ts';

/**
 * Saves the text of the viewer's draft review until it is submitted, creating the draft if necessary. Throws
 * `text_too_long`, `round_not_found`, `newcomer_waits`, and permission errors.
 */
export async function saveDraftText(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { body: given, round: number }: { body: unknown; round: number },
): Promise<ReviewRow> {
  const body = parseBody(given);
  const found = await findPull(deps, viewer, at);
  const authorId = reviewerOf(viewer);
  const { round } = await getRoundRow(deps.db.read, found.issue.id, number);
  return writeReview(deps, viewer, found, async ({ tx }, { issue }) => {
    const draft = await draftIn(tx, issue.id, authorId);
    if (draft === null) {
      const review = newReview(deps, tx, { issueId: issue.id, authorId, round, body });
      await tx.manager.insert(reviewSchema, review);
      return review;
    }
    await tx.manager.update(reviewSchema, { id: draft.id }, { body });
    return { ...draft, body };
  });
}
