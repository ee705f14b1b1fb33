import { IsNull } from 'typeorm';
import { refusalOnPull } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { idsIn } from '../../db/index.ts';
import { parseBody } from '../../issues/index.ts';
import type { EntryLog, IssueAt } from '../../issues/index.ts';
import { conflict, forbidden, invalid } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { factsOfPull, pathOf, refuse } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { findCurrentPull } from '../rounds/current-head.ts';
import { limits } from '../limits.ts';
import { getRoundRow } from '../get-round-row.ts';
import { reviewCommentSchema, reviewSchema, threadSchema } from '../schema/review-schema.ts';
import type { ReviewCommentRow, ReviewRow, ThreadRow, Verdict } from '../schema/review-schema.ts';
import { answerTeamRequests } from '../attention/team-requests.ts';
import { reviewRequestSchema } from '../schema/attention-schema.ts';
import { placesIn } from '../threads/thread-positions.ts';
import { draftIn, newReview, reviewerOf, writeReview } from './review-write.ts';

interface SubmittedReview {
  verdict: Verdict;
  body?: unknown;
  /** The reviewed round, as shown on the page. */
  round: number;
  /**
   * Confirms a review of an older round. The revision of the draft is not checked: text written since the page was
   * shown is also submitted.
   */
  confirm?: boolean | undefined;
}

const verdicts: readonly Verdict[] = ['COMMENT', 'APPROVE', 'REQUEST_CHANGES'];

/**
 * Submits a review in one write: verdict, text, all comments of the viewer's draft, and one entry. Submitting the same
 * form twice returns the existing review. Throws `invalid_verdict`, `text_missing` for an empty review,
 * `text_too_long`, `round_not_found`, `own_pull` for a verdict on one's own pull request, `pull_closed` for a verdict
 * on a closed one, `too_many_contributions`, `newcomer_waits`, and permission errors; `round_changed` if there is a
 * later round, unless `confirm` is set.
 */
export async function submitReview(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { verdict, body: given = '', round: number, confirm = false }: SubmittedReview,
): Promise<ReviewRow> {
  if (!verdicts.includes(verdict)) throw invalid('invalid_verdict', 'Choose a verdict.', { field: 'verdict' });
  const body = parseBody(given);
  const found = await findCurrentPull(deps, viewer, at);
  const { issue, pull, facts } = found;
  refuse(refusalOnPull(viewer, facts, factsOfPull(issue, pull), 'review'));
  const authorId = reviewerOf(viewer);
  refuseVerdict(found, authorId, verdict);
  const round = await getRoundRow(deps.db.read, issue.id, number);
  const twin = await sameReview(deps, issue.id, authorId, { verdict, body });
  if (twin !== null) return twin;
  const draft = await draftComments(deps, issue.id, authorId);
  if (body === '' && draft.comments.length === 0 && verdict !== 'APPROVE')
    throw invalid('text_missing', 'Enter some text, or comment on a line.', { field: 'body' });
  if (round.round < pull.lastRound && !confirm) throw await roundChanged(deps, found, draft.threads);
  deps.issues.pulls.charge(viewer, found);
  let left: number = limits.referencingText;
  const texts = [body, ...draft.comments.map((comment) => comment.body)].filter((text) => (left -= text.length) >= 0);
  const references = await deps.issues.pulls.resolveReferences(viewer, found.repository, ...texts);
  return writeReview(deps, viewer, found, async (log, context) => {
    refuseVerdict(context, authorId, verdict);
    // A round that arrives after the confirmation must be confirmed as well.
    if (context.pull.lastRound !== pull.lastRound && !confirm) throw changedMeanwhile(context.pull.lastRound, 0, 0);
    const review = await submit(deps, log, context.issue.id, { authorId, verdict, body, round: round.round });
    const { manager } = log.tx;
    const comments = await manager.countBy(reviewCommentSchema, { reviewId: review.id });
    const { position } = await log.append(context.issue, {
      kind: 'review',
      body,
      details: { reviewId: review.id, verdict, round: round.round, comments },
    });
    await manager.update(reviewSchema, { id: review.id }, { position });
    await answerRequest(log, context.issue.id, authorId);
    await deps.issues.pulls.subscribeOnce(log.tx, context.issue.id, authorId, 'comment');
    const from = { issue: context.issue, repository: context.repository, position };
    await deps.issues.pulls.recordReferences(log, viewer, from, references);
    return { ...review, position };
  });
}

async function submit(
  deps: PullDeps,
  { tx }: EntryLog,
  issueId: string,
  { authorId, verdict, body, round }: { authorId: string; verdict: Verdict; body: string; round: number },
): Promise<ReviewRow> {
  const submitted = { verdict, body, round, submittedAt: tx.now };
  const draft = await draftIn(tx, issueId, authorId);
  if (draft === null) {
    const review = newReview(deps, tx, { issueId, authorId, ...submitted });
    await tx.manager.insert(reviewSchema, review);
    return review;
  }
  await tx.manager.update(reviewSchema, { id: draft.id }, submitted);
  // Comments get the time of submission, when others first see them.
  await tx.manager.update(reviewCommentSchema, { reviewId: draft.id }, { createdAt: tx.now, editedAt: null });
  return { ...draft, ...submitted };
}

/** A submitted review answers the request of the reviewer. */
async function answerRequest({ tx }: EntryLog, issueId: string, userId: string): Promise<void> {
  const { manager, now } = tx;
  await manager.update(reviewRequestSchema, { issueId, userId, answeredAt: IsNull() }, { answeredAt: now });
  await answerTeamRequests(tx, issueId, userId);
}

function refuseVerdict({ issue, pull }: PullContext, authorId: string, verdict: Verdict): void {
  if (verdict === 'COMMENT') return;
  if (issue.state !== 'OPEN')
    throw invalid('pull_closed', 'You cannot approve a closed pull request or request changes to it.', {
      field: 'verdict',
    });
  if (authorId === issue.authorId || authorId === pull.submitterId)
    throw forbidden('own_pull', 'You cannot approve your own pull request or request changes to it.', {
      field: 'verdict',
    });
}

/** The comments of the viewer's draft, with their threads. */
async function draftComments(
  { db }: PullDeps,
  issueId: string,
  authorId: string,
): Promise<{ comments: ReviewCommentRow[]; threads: ThreadRow[] }> {
  const draft = await draftIn({ manager: db.read }, issueId, authorId);
  if (draft === null) return { comments: [], threads: [] };
  const comments = await db.read.findBy(reviewCommentSchema, { reviewId: draft.id });
  if (comments.length === 0) return { comments, threads: [] };
  const threads = await db.read
    .createQueryBuilder(threadSchema, 't')
    .where(...idsIn('t.id', new Set(comments.map(({ threadId }) => threadId))))
    .getMany();
  return { comments, threads };
}

async function roundChanged(deps: PullDeps, { issue, pull, repository }: PullContext, threads: readonly ThreadRow[]) {
  const places = await placesIn(deps, pathOf(deps, repository), issue.id, threads, pull.lastRound);
  const changed = threads.filter(({ id }) => !['same', 'moved'].includes(places.get(id)?.state ?? 'changed'));
  return changedMeanwhile(pull.lastRound, changed.length, threads.length);
}

function changedMeanwhile(round: number, changed: number, places: number) {
  const changes =
    places === 0
      ? ''
      : ` ${changed} of the ${places} places that you comment on ${changed === 1 ? 'has' : 'have'} changed.`;
  return conflict(
    'round_changed',
    `Round ${round} arrived while you were writing.${changes} View it first, or submit the review for the round that you have seen.`,
    { field: 'round' },
  );
}

/** Time in milliseconds within which the same text by the same user counts as a repeated form. */
const sameFormMs = 10_000;

async function sameReview(
  { db, clock }: PullDeps,
  issueId: string,
  authorId: string,
  { verdict, body }: { verdict: Verdict; body: string },
): Promise<ReviewRow | null> {
  if ((await draftIn({ manager: db.read }, issueId, authorId)) !== null) return null;
  return db.read
    .createQueryBuilder(reviewSchema, 'r')
    .where('r.issue_id = :issueId AND r.submitted_at > :since', { issueId, since: clock.now() - sameFormMs })
    .andWhere('r.author_id = :authorId AND r.verdict = :verdict AND r.body = :body', { authorId, verdict, body })
    .andWhere("(r.body <> '' OR r.verdict = 'APPROVE')")
    .getOne();
}
