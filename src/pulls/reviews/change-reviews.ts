import type { EntityManager } from 'typeorm';
import { allows, refusalOnPull, repositoryLevel } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { parseText } from '../../accounts/index.ts';
import { parseBody, parseComment, refusalError } from '../../issues/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { factsOfPull, findPull, pullInWrite, refuse } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { reviewCommentSchema, reviewSchema, threadSchema } from '../schema/review-schema.ts';
import type { ReviewCommentRow, ReviewRow } from '../schema/review-schema.ts';
import type { CommentPlace } from './add-comment.ts';
import { commentIn, commentNotFound, draftIn, reviewerOf, submittedReviewIn } from './review-write.ts';

/** Only its author and administrators of the repository may change a text. */
function refuseUnlessOwn(viewer: Viewer, { facts }: PullContext, authorId: string | null, personId: string): void {
  if (authorId !== personId && !allows(repositoryLevel(viewer, facts), 'admin')) throw refusalError('level', 'PULL');
}

/**
 * Changes the text of a comment on code. Throws `text_missing`, `text_too_long`, `comment_not_found`,
 * `not_allowed_on_issue` for a comment of another user, and permission errors.
 */
export async function editComment(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { threadId, position, body: given }: CommentPlace & { body: unknown },
): Promise<ReviewCommentRow> {
  const body = parseComment(given);
  const found = await findPull(deps, viewer, at);
  const personId = reviewerOf(viewer);
  const references = await deps.issues.pulls.resolveReferences(viewer, found.repository, body);
  return deps.issues.pulls.write(viewer, async (log) => {
    const context = await pullInWrite(deps, log.tx, viewer, found.issue, 'review');
    const { comment, review } = await commentIn(log.tx, context.issue.id, personId, { threadId, position });
    if (comment.deletedAt !== null) throw commentNotFound();
    refuseUnlessOwn(viewer, context, comment.authorId, personId);
    const isDraft = review.submittedAt === null;
    const change = { body, editedAt: isDraft ? null : log.tx.now };
    await log.tx.manager.update(reviewCommentSchema, { threadId, position }, change);
    if (!isDraft && review.position !== null) {
      const from = { issue: context.issue, repository: context.repository, position: review.position };
      await deps.issues.pulls.recordReferences(log, viewer, from, references);
    }
    return { ...comment, ...change };
  });
}

/**
 * Empties a published comment, which keeps its position. Deletes a comment of a draft, and its thread if that becomes
 * empty. Throws the errors of `editComment`.
 */
export async function deleteComment(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { threadId, position }: CommentPlace,
): Promise<void> {
  const found = await findPull(deps, viewer, at);
  const personId = reviewerOf(viewer);
  await deps.db.write(async (tx) => {
    const context = await pullInWrite(deps, tx, viewer, found.issue, 'review');
    const { comment, review } = await commentIn(tx, context.issue.id, personId, { threadId, position });
    refuseUnlessOwn(viewer, context, comment.authorId, personId);
    if (review.submittedAt !== null) {
      await tx.manager.update(reviewCommentSchema, { threadId, position }, { body: '', deletedAt: tx.now });
      return;
    }
    await tx.manager.delete(reviewCommentSchema, { threadId, position });
    await deleteEmptyThreads(tx.manager, [threadId]);
    if (review.body === '' && (await tx.manager.countBy(reviewCommentSchema, { reviewId: review.id })) === 0)
      await tx.manager.delete(reviewSchema, { id: review.id });
  });
}

/** Discards the viewer's draft review; does nothing without one. Throws permission errors. */
export async function discardReview(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<void> {
  const found = await findPull(deps, viewer, at);
  const personId = reviewerOf(viewer);
  await deps.db.write(async (tx) => {
    // Users who have lost the permission to review can still discard their own draft.
    const { issue } = await pullInWrite(deps, tx, viewer, found.issue, 'read');
    const draft = await draftIn(tx, issue.id, personId);
    if (draft === null) return;
    const comments = await tx.manager.findBy(reviewCommentSchema, { reviewId: draft.id });
    await tx.manager.delete(reviewSchema, { id: draft.id });
    await deleteEmptyThreads(tx.manager, [...new Set(comments.map(({ threadId }) => threadId))]);
  });
}

async function deleteEmptyThreads(manager: EntityManager, threadIds: readonly string[]): Promise<void> {
  for (const id of threadIds)
    if (!(await manager.existsBy(reviewCommentSchema, { threadId: id }))) await manager.delete(threadSchema, { id });
}

/**
 * Changes the text of a submitted review; an empty text removes it. Throws `review_not_found`, `text_too_long`,
 * `not_allowed_on_issue`, and permission errors.
 */
export async function editReview(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { reviewId, body: given }: { reviewId: string; body: unknown },
): Promise<void> {
  const body = parseBody(given);
  const found = await findPull(deps, viewer, at);
  const personId = reviewerOf(viewer);
  const references = await deps.issues.pulls.resolveReferences(viewer, found.repository, body);
  await deps.issues.pulls.write(viewer, async (log) => {
    const context = await pullInWrite(deps, log.tx, viewer, found.issue, 'review');
    const review = await submittedReviewIn(log.tx, context.issue.id, reviewId);
    refuseUnlessOwn(viewer, context, review.authorId, personId);
    if (review.body === body) return;
    await log.tx.manager.update(reviewSchema, { id: reviewId }, { body });
    if (review.position === null) return;
    const { issue, repository } = context;
    const key = { issueId: issue.id, position: review.position };
    await deps.issues.pulls.replaceReviewText(log.tx, key, body);
    await deps.issues.pulls.recordReferences(log, viewer, { issue, repository, position: review.position }, references);
  });
}

/**
 * Ends the effect of a verdict, with a reason that the log keeps. Throws `review_not_found`, `reason_missing`,
 * `nothing_to_dismiss` for a comment and for an already dismissed review, and permission errors.
 */
export async function dismissReview(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { reviewId, reason: given }: { reviewId: string; reason: unknown },
): Promise<ReviewRow> {
  const rule = { field: 'reason', called: 'The reason', maxCharacters: limits.dismissalReasonLength };
  const reason = parseText(given, rule);
  if (reason === '') throw invalid('reason_missing', 'Enter a reason.', { field: 'reason' });
  const found = await findPull(deps, viewer, at);
  refuse(refusalOnPull(viewer, found.facts, factsOfPull(found.issue, found.pull), 'dismiss'));
  return deps.issues.pulls.write(viewer, async (log) => {
    const { issue } = await pullInWrite(deps, log.tx, viewer, found.issue, 'dismiss');
    const review = await submittedReviewIn(log.tx, issue.id, reviewId);
    if (review.verdict === 'COMMENT' || review.dismissedAt !== null)
      throw invalid('nothing_to_dismiss', 'This review has no verdict to dismiss.');
    const dismissedBy = viewer.kind === 'person' && viewer.via !== 'local' ? viewer.id : null;
    const change = { dismissedAt: log.tx.now, dismissedBy, dismissalReason: reason };
    await log.tx.manager.update(reviewSchema, { id: reviewId }, change);
    const { authorId, verdict } = review;
    await log.append(issue, { kind: 'dismissed', details: { reviewId, reason, userId: authorId, verdict } });
    return { ...review, ...change };
  });
}

/** Restores the effect of a dismissed review. Throws `review_not_found`, `not_dismissed`, and permission errors. */
export async function undismissReview(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { reviewId }: { reviewId: string },
): Promise<ReviewRow> {
  const found = await findPull(deps, viewer, at);
  return deps.issues.pulls.write(viewer, async (log) => {
    const { issue } = await pullInWrite(deps, log.tx, viewer, found.issue, 'dismiss');
    const review = await submittedReviewIn(log.tx, issue.id, reviewId);
    if (review.dismissedAt === null) throw invalid('not_dismissed', 'This review is not dismissed.');
    const change = { dismissedAt: null, dismissedBy: null, dismissalReason: null };
    await log.tx.manager.update(reviewSchema, { id: reviewId }, change);
    const { authorId, verdict } = review;
    await log.append(issue, { kind: 'dismissed', details: { reviewId, withdrawn: true, userId: authorId, verdict } });
    return { ...review, ...change };
  });
}
