import { personIdOf } from '../../access/index.ts';
import { IsNull } from 'typeorm';
import type { Viewer } from '../../access/index.ts';
import { isNotNull } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { refusalError } from '../../issues/index.ts';
import type { EntryLog } from '../../issues/index.ts';
import { forbidden, invalid, notFound } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullInWrite } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { reviewCommentSchema, reviewSchema, threadSchema } from '../schema/review-schema.ts';
import type { ReviewCommentRow, ReviewRow, ThreadRow } from '../schema/review-schema.ts';
import type { ThreadLocation } from '../threads/locate-thread.ts';

export const threadNotFound = () => notFound('thread_not_found', 'There is no such thread.');
const reviewNotFound = () => notFound('review_not_found', 'There is no such review.');
export const commentNotFound = () => notFound('comment_not_found', 'There is no such comment.');

/**
 * The id of the viewer's account, which the author of a review needs. Throws `sign_in_required`,
 * `not_allowed_on_issue`.
 */
export function reviewerOf(viewer: Viewer): string {
  const personId = personIdOf(viewer);
  if (personId === null) throw refusalError(viewer.kind === 'anonymous' ? 'sign_in' : 'level', 'PULL');
  return personId;
}

/**
 * Runs a write of a reviewer on a pull request, checking the permission with the data of the write. Throws
 * `newcomer_waits` for newcomers: their text would have to be held for moderation, and a review has many parts.
 */
export function writeReview<T>(
  deps: PullDeps,
  viewer: Viewer,
  { issue }: Pick<PullContext, 'issue'>,
  work: (log: EntryLog, context: PullContext) => Promise<T>,
): Promise<T> {
  return deps.issues.pulls.write(viewer, async (log) => {
    const context = await pullInWrite(deps, log.tx, viewer, issue, 'review');
    if (await deps.issues.pulls.holdsContribution(log.tx, viewer, context))
      throw forbidden(
        'newcomer_waits',
        'A member of this repository must approve your first contribution. Write a comment first, and submit the review after the comment is approved.',
      );
    return work(log, context);
  });
}

/** The draft of a user; null if there is none. */
export const draftIn = (
  { manager }: Pick<Tx, 'manager'>,
  issueId: string,
  authorId: string,
): Promise<ReviewRow | null> => manager.findOneBy(reviewSchema, { issueId, authorId, submittedAt: IsNull() });

/** Row of a new review. */
export const newReview = (
  deps: Pick<PullDeps, 'random'>,
  { now }: Pick<Tx, 'now'>,
  fields: Pick<ReviewRow, 'issueId' | 'round' | 'authorId'> & Partial<ReviewRow>,
): ReviewRow => ({
  id: deps.random.uuid(),
  authorName: null,
  verdict: null,
  body: '',
  position: null,
  createdAt: now,
  submittedAt: null,
  dismissedAt: null,
  dismissedBy: null,
  dismissedByName: null,
  dismissalReason: null,
  ...fields,
});

/** Creates a thread. Throws `too_many_threads`. */
export async function addThread(
  deps: Pick<PullDeps, 'random'>,
  { manager, now }: Tx,
  issueId: string,
  round: number,
  place: ThreadLocation,
): Promise<ThreadRow> {
  if ((await manager.countBy(threadSchema, { issueId })) >= limits.threads)
    throw invalid('too_many_threads', `A pull request can have at most ${limits.threads} threads.`);
  const thread: ThreadRow = {
    id: deps.random.uuid(),
    issueId,
    round,
    ...place,
    createdAt: now,
    resolvedAt: null,
    resolvedBy: null,
    resolvedByName: null,
  };
  await manager.insert(threadSchema, thread);
  return thread;
}

/** Appends a comment to a thread. Throws `too_many_comments`. */
export async function addToThread(
  { manager, now }: Tx,
  threadId: string,
  review: Pick<ReviewRow, 'id' | 'issueId' | 'authorId'>,
  body: string,
): Promise<ReviewCommentRow> {
  const counted = await manager
    .createQueryBuilder(reviewCommentSchema, 'c')
    .innerJoin('review_threads', 't', 't.id = c.thread_id')
    .select('count(*)', 'count')
    .where('t.issue_id = :issueId', { issueId: review.issueId })
    .getRawOne<{ count: number }>();
  if (Number(counted?.count ?? 0) >= limits.comments)
    throw invalid('too_many_comments', `A pull request can have at most ${limits.comments} comments on its code.`);
  const last = await manager.findOne(reviewCommentSchema, { where: { threadId }, order: { position: 'DESC' } });
  const position = (last?.position ?? 0) + 1;
  if (position > limits.commentsPerThread)
    throw invalid('too_many_comments', `A thread can have at most ${limits.commentsPerThread} comments.`);
  const comment: ReviewCommentRow = {
    threadId,
    position,
    reviewId: review.id,
    authorId: review.authorId,
    authorName: null,
    body,
    origin: null,
    appliedOid: null,
    createdAt: now,
    editedAt: null,
    deletedAt: null,
  };
  await manager.insert(reviewCommentSchema, comment);
  return comment;
}

/** A comment that the viewer can see, with its thread and its review. Throws `comment_not_found`. */
export async function commentIn(
  { manager }: Pick<Tx, 'manager'>,
  issueId: string,
  personId: string | null,
  { threadId, position }: { threadId: string; position: number },
): Promise<{ comment: ReviewCommentRow; review: ReviewRow }> {
  const [thread, comment] = await Promise.all([
    manager.findOneBy(threadSchema, { id: threadId, issueId }),
    manager.findOneBy(reviewCommentSchema, { threadId, position }),
  ]);
  const review = comment === null ? null : await manager.findOneBy(reviewSchema, { id: comment.reviewId });
  if (thread === null || comment === null || review === null) throw commentNotFound();
  if (review.submittedAt === null && (personId === null || review.authorId !== personId)) throw commentNotFound();
  return { comment, review };
}

/** A submitted review. Throws `review_not_found`. */
export async function submittedReviewIn(
  { manager }: Pick<Tx, 'manager'>,
  issueId: string,
  reviewId: string,
): Promise<ReviewRow> {
  const review = await manager.findOneBy(reviewSchema, { id: reviewId, issueId, submittedAt: isNotNull() });
  if (review === null) throw reviewNotFound();
  return review;
}
