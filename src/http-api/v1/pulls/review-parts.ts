import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { allows, repositoryLevel, viewerWithCredential } from '../../../access/index.ts';
import type { Viewer } from '../../../access/index.ts';
import type { IssueAt } from '../../../issues/index.ts';
import { notFound } from '../../../kernel/index.ts';
import type { Repository } from '../../../repositories/index.ts';
import { repositoryUrl } from '../../../http/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { numericId, teamPayload } from '../../../gitea-shapes/index.ts';
import { usersById } from '../shapes/issues-parts.ts';
import type { pullReview, pullReviewComment } from './review-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';

/** A review as listed by the service. */
type Review = Awaited<ReturnType<WebDeps['pulls']['reviews']['list']>>[number];

interface Place {
  viewer: Viewer;
  deps: WebDeps;
  origin: string;
}

/** Reviews without content of their own: a comment that was sent alone is one of these. */
const isBare = ({ verdict, body, dismissedAt }: Review): boolean =>
  verdict === 'COMMENT' && body === '' && dismissedAt === null;

type Thread = Awaited<ReturnType<WebDeps['pulls']['threads']['list']>>[number];

/**
 * Whether a comment is listed with a review: its own comments and, as in Gitea, replies to them that were sent alone,
 * which are also reviews of their own.
 */
const isOf = (
  review: Review,
  { comments: [first] }: Thread,
  comment: Thread['comments'][number],
  bare: ReadonlySet<string>,
) =>
  comment.reviewId === review.id ||
  (comment.position > 1 && bare.has(comment.reviewId) && first?.reviewId === review.id);

/** Submitted reviews with content, followed by the caller's draft. */
export async function readReviews({ viewer, deps }: Place, at: IssueAt): Promise<Review[]> {
  const [all, draft] = await Promise.all([deps.pulls.reviews.list(viewer, at), deps.pulls.reviews.draftOf(viewer, at)]);
  const bare = new Set(all.filter(isBare).map(({ id }) => id));
  const threads = bare.size > 0 ? await deps.pulls.threads.list(viewer, at) : [];
  const comments = threads.flatMap((thread) => thread.comments.filter(({ deletedAt }) => deletedAt === null));
  const used = new Set(comments.map(({ reviewId }) => reviewId));
  const submitted = all.filter(({ id }) => !bare.has(id) || used.has(id));
  return draft === null ? submitted : [...submitted, draft];
}

/** The review in a path. Throws `review_not_found`, also for the draft of another user. */
export async function findReview(place: Place, at: IssueAt, id: string | { uuid: string }): Promise<Review> {
  const found = (await readReviews(place, at)).find((review) =>
    typeof id === 'string' ? String(numericId(review.id)) === id : review.id === id.uuid,
  );
  if (found === undefined) throw notFound('review_not_found', 'There is no such review.');
  return found;
}

/** All rights of a user, not limited by a token. */
const session = { via: 'session', scope: 'admin', repositoryIds: null } as const;

const states = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'REQUEST_CHANGES', COMMENT: 'COMMENT' } as const;

export async function showReviews(
  place: Place,
  at: IssueAt,
  reviews: readonly Review[],
): Promise<z.output<typeof pullReview>[]> {
  const { viewer, deps, origin } = place;
  const { pull, repository } = await deps.pulls.find(viewer, at);
  const [rounds, threads, user] = await Promise.all([
    deps.pulls.rounds.list(viewer, at),
    deps.pulls.threads.list(viewer, at),
    usersById(
      deps,
      reviews.map(({ authorId }) => authorId),
      origin,
    ),
  ]);
  const headOf = new Map(rounds.map(({ round, headOid }) => [round, headOid]));
  const comments = threads.flatMap((thread) => thread.comments.filter(({ deletedAt }) => deletedAt === null));
  const writers = await writersIn(
    deps,
    repository,
    reviews.flatMap(({ authorId }) => authorId ?? []),
  );
  const page = `${origin}${repositoryUrl(at)}/pulls/${at.number}`;
  return reviews.map((review) => ({
    id: numericId(review.id),
    user: user(review.authorId),
    team: null,
    state: review.verdict === null ? ('PENDING' as const) : states[review.verdict],
    body: review.body,
    commit_id: headOf.get(review.round) ?? pull.headOid,
    round: review.round,
    stale: review.round < pull.lastRound,
    official: review.authorId !== null && writers.has(review.authorId),
    dismissed: review.dismissedAt !== null,
    dismissal_reason: review.dismissalReason,
    comments_count: comments.filter(({ reviewId }) => reviewId === review.id).length,
    submitted_at: review.submittedAt === null ? null : isoTime(review.submittedAt),
    updated_at: isoTime(review.dismissedAt ?? review.submittedAt ?? review.createdAt),
    html_url: review.position === null ? page : `${page}#e${review.position}`,
    pull_request_url: page,
  }));
}

/** The users among these who can write to a repository. */
async function writersIn({ repositories }: WebDeps, repository: Repository, personIds: readonly string[]) {
  const writers = new Set<string>();
  for (const id of new Set(personIds)) {
    const facts = await repositories.factsOf(id, repository);
    if (allows(repositoryLevel(viewerWithCredential(id, session, repository.id), facts), 'write')) writers.add(id);
  }
  return writers;
}

/** The unanswered review requests in Gitea's form: reviews without text, of users, then of teams. */
export async function showRequests(
  { viewer, deps, origin }: Place,
  at: IssueAt,
): Promise<z.output<typeof pullReview>[]> {
  const [{ pull, repository }, requests, teams] = await Promise.all([
    deps.pulls.find(viewer, at),
    deps.pulls.attention.requested(viewer, at),
    deps.pulls.attention.requestedTeams(viewer, at),
  ]);
  const ids = requests.map(({ userId }) => userId);
  const [user, writers, known] = await Promise.all([
    usersById(deps, ids, origin),
    writersIn(deps, repository, ids),
    deps.organisations.teams.byId(teams.map(({ teamId }) => teamId)),
  ]);
  const page = `${origin}${repositoryUrl(at)}/pulls/${at.number}`;
  const show = (
    { issueId, askedAt }: { issueId: string; askedAt: number },
    reviewerId: string,
    reviewer: Pick<z.output<typeof pullReview>, 'user' | 'team' | 'official'>,
  ) => ({
    id: numericId(createHash('sha256').update(`${issueId}.${reviewerId}`).digest('hex')),
    ...reviewer,
    state: 'REQUEST_REVIEW' as const,
    body: '',
    commit_id: pull.headOid,
    round: pull.lastRound,
    stale: false,
    dismissed: false,
    dismissal_reason: null,
    comments_count: 0,
    submitted_at: isoTime(askedAt),
    updated_at: isoTime(askedAt),
    html_url: page,
    pull_request_url: page,
  });
  const isOpen = ({ answeredAt }: { answeredAt: number | null }): boolean => answeredAt === null;
  return [
    ...requests
      .filter(isOpen)
      .map((row) => show(row, row.userId, { user: user(row.userId), team: null, official: writers.has(row.userId) })),
    ...teams.filter(isOpen).flatMap((row) => {
      const found = known.get(row.teamId);
      return found === undefined
        ? []
        : [show(row, row.teamId, { user: null, team: teamPayload(found.team), official: false })];
    }),
  ];
}

/** Gitea's clients identify a comment by an integer. */
export const commentId = (threadId: string, position: number): number =>
  numericId(createHash('sha256').update(`${threadId}.${position}`).digest('hex'));

/** The comments of one review, in the order of their threads. */
export async function showReviewComments(
  place: Place,
  at: IssueAt,
  review: Review,
): Promise<z.output<typeof pullReviewComment>[]> {
  const { viewer, deps, origin } = place;
  const { pull } = await deps.pulls.find(viewer, at);
  const threads = await deps.pulls.threads.list(viewer, at);
  const bare = new Set((await deps.pulls.reviews.list(viewer, at)).filter(isBare).map(({ id }) => id));
  const rows = threads.flatMap((thread) =>
    thread.comments
      .filter((comment) => isOf(review, thread, comment, bare) && comment.deletedAt === null)
      .map((comment) => ({ thread, comment })),
  );
  const user = await usersById(
    deps,
    rows.flatMap(({ thread, comment }) => [thread.resolvedBy, comment.authorId]),
    origin,
  );
  const page = `${origin}${repositoryUrl(at)}/pulls/${at.number}`;
  return rows.map(({ thread, comment }) => {
    const now = thread.place ?? { state: null, path: thread.path, lastLine: thread.lastLine };
    return {
      id: commentId(comment.threadId, comment.position),
      body: comment.body,
      user: user(comment.authorId),
      resolver: thread.resolvedBy === null ? null : user(thread.resolvedBy),
      pull_request_review_id: numericId(review.id),
      created_at: isoTime(comment.createdAt),
      updated_at: isoTime(comment.editedAt ?? comment.createdAt),
      path: now.path ?? thread.path ?? '',
      commit_id: pull.headOid,
      original_commit_id: thread.commitOid,
      diff_hunk: thread.quoted,
      position: thread.side === 'OLD' ? 0 : (now.lastLine ?? 0),
      original_position: thread.side === 'OLD' ? (now.lastLine ?? 0) : 0,
      html_url: review.position === null ? page : `${page}#e${review.position}`,
      pull_request_url: page,
      thread_id: thread.id,
      thread_position: comment.position,
      round: thread.round,
      state: now.state,
      resolved: thread.resolvedAt !== null,
    };
  });
}
