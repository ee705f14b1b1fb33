import { refusalOnPull } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { parseComment } from '../../issues/index.ts';
import type { EntryLog, IssueAt } from '../../issues/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { factsOfPull, findPull, pathOf, refuse } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { getRoundRow } from '../get-round-row.ts';
import { reviewCommentSchema, reviewSchema, threadSchema } from '../schema/review-schema.ts';
import type { ReviewCommentRow, ReviewRow } from '../schema/review-schema.ts';
import { locateThread } from '../threads/locate-thread.ts';
import type { ThreadAnchor } from '../threads/locate-thread.ts';
import { addThread, addToThread, draftIn, newReview, reviewerOf, threadNotFound, writeReview } from './review-write.ts';

export interface NewReviewComment extends Omit<ThreadAnchor, 'path'> {
  /** The round shown on the page. */
  round: number;
  /** Omitted or null for the round as a whole. */
  path?: string | null | undefined;
  body: unknown;
  /** The answered thread, which then determines the place. */
  threadId?: string | null | undefined;
  /** Whether it is published at once; otherwise it is added to the viewer's draft review. */
  sendNow: boolean;
}

/** Identifies a comment by its thread and its position there. */
export interface CommentPlace {
  threadId: string;
  position: number;
}

/**
 * Comments on lines, on a file, on a round as a whole, or in a thread: in the viewer's draft review, or at once.
 * Submitting the same form twice returns the existing comment. Throws `text_missing`, `text_too_long`,
 * `round_not_found`, `thread_not_found`, `too_many_threads`, `too_many_comments`, `too_many_contributions`,
 * `newcomer_waits`, permission errors, and the errors of `findPlace`.
 */
export async function addComment(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { body: given, threadId = null, sendNow, round: number, path = null, ...place }: NewReviewComment,
): Promise<CommentPlace> {
  const body = parseComment(given);
  const found = await findPull(deps, viewer, at);
  const { issue, pull, facts } = found;
  refuse(refusalOnPull(viewer, facts, factsOfPull(issue, pull), 'review'));
  const authorId = reviewerOf(viewer);
  const round = await getRoundRow(deps.db.read, issue.id, number);
  const wanted = { ...place, path };
  const twin = await sameComment(deps, issue.id, authorId, body, threadId, wanted);
  if (twin !== null) return twin;
  deps.issues.pulls.charge(viewer, found);
  const folder = pathOf(deps, found.repository);
  const newPlace = threadId === null ? await locateThread(deps, folder, round, wanted) : null;
  const references = sendNow ? await deps.issues.pulls.resolveReferences(viewer, found.repository, body) : null;
  return writeReview(deps, viewer, found, async (log, context) => {
    if (threadId !== null) await refuseHiddenThread(log, issue.id, threadId, authorId);
    const fields = { issueId: issue.id, round: round.round, authorId };
    const review = sendNow
      ? newReview(deps, log.tx, { ...fields, verdict: 'COMMENT', submittedAt: log.tx.now })
      : await draftFor(deps, log, fields);
    if (sendNow) {
      const entry = await recordComment(deps, log, viewer, context, review, references);
      review.position = entry;
      await log.tx.manager.insert(reviewSchema, review);
    }
    const thread = newPlace === null ? threadId! : (await addThread(deps, log.tx, issue.id, round.round, newPlace)).id;
    const comment = await addToThread(log.tx, thread, review, body);
    return { threadId: thread, position: comment.position };
  });
}

async function draftFor(
  deps: PullDeps,
  { tx }: EntryLog,
  fields: Pick<ReviewRow, 'issueId' | 'round' | 'authorId'>,
): Promise<ReviewRow> {
  const draft = await draftIn(tx, fields.issueId, fields.authorId!);
  if (draft === null) {
    const review = newReview(deps, tx, fields);
    await tx.manager.insert(reviewSchema, review);
    return review;
  }
  if ((await tx.manager.countBy(reviewCommentSchema, { reviewId: draft.id })) >= limits.commentsPerReview)
    throw invalid(
      'too_many_comments',
      `A review can have at most ${limits.commentsPerReview} comments. Submit it first.`,
    );
  return draft;
}

/** Adds the entry of a comment that is a review by itself. Returns its position. */
async function recordComment(
  deps: PullDeps,
  log: EntryLog,
  viewer: Viewer,
  { issue, repository }: PullContext,
  { id: reviewId, round, authorId }: ReviewRow,
  references: Awaited<ReturnType<PullDeps['issues']['pulls']['resolveReferences']>> | null,
): Promise<number> {
  const { position } = await log.append(issue, {
    kind: 'review',
    body: '',
    details: { reviewId, verdict: 'COMMENT', round, comments: 1 },
  });
  await deps.issues.pulls.subscribeOnce(log.tx, issue.id, authorId, 'comment');
  if (references !== null)
    await deps.issues.pulls.recordReferences(log, viewer, { issue, repository, position }, references);
  return position;
}

/** A thread without any part visible to the viewer counts as missing. */
async function refuseHiddenThread(
  { tx: { manager } }: EntryLog,
  issueId: string,
  threadId: string,
  personId: string,
): Promise<void> {
  const thread = await manager.findOneBy(threadSchema, { id: threadId, issueId });
  const seen =
    thread !== null &&
    (await manager
      .createQueryBuilder(reviewCommentSchema, 'c')
      .innerJoin('reviews', 'r', 'r.id = c.review_id')
      .where('c.thread_id = :threadId', { threadId })
      .andWhere('(r.submitted_at IS NOT NULL OR r.author_id = :personId)', { personId })
      .getExists());
  if (!seen) throw threadNotFound();
}

/** Time in milliseconds within which the same text by the same user counts as a repeated form. */
const sameFormMs = 10_000;

async function sameComment(
  { db, clock }: PullDeps,
  issueId: string,
  authorId: string,
  body: string,
  threadId: string | null,
  { path, side, firstLine, lastLine }: ThreadAnchor,
): Promise<CommentPlace | null> {
  const rows: ReviewCommentRow[] = await db.read
    .createQueryBuilder(reviewCommentSchema, 'c')
    .innerJoin('review_threads', 't', 't.id = c.thread_id')
    .where('t.issue_id = :issueId AND c.author_id = :authorId AND c.body = :body', { issueId, authorId, body })
    .andWhere('c.created_at > :since AND c.deleted_at IS NULL', { since: clock.now() - sameFormMs })
    .limit(20)
    .getMany();
  for (const row of rows) {
    if (threadId !== null) {
      if (row.threadId === threadId) return { threadId, position: row.position };
      continue;
    }
    const thread = row.position === 1 ? await db.read.findOneBy(threadSchema, { id: row.threadId }) : null;
    if (thread === null || thread.path !== path) continue;
    const isSame =
      path === null ||
      (thread.side === (side ?? 'NEW') &&
        thread.firstLine === (firstLine ?? null) &&
        thread.lastLine === (lastLine ?? firstLine ?? null));
    if (isSame) return { threadId: row.threadId, position: row.position };
  }
  return null;
}
