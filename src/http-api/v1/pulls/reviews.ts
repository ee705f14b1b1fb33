import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import type { IssueAt } from '../../../issues/index.ts';
import { invalid } from '../../../kernel/index.ts';
import type { Verdict } from '../../../pulls/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { numericId, userPayload } from '../../../gitea-shapes/index.ts';
import { json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { sliceOf } from '../shapes/issues-parts.ts';
import { giteaUser, numberedPaging } from '../shapes/issues-schemas.ts';
import { textBytes } from '../issues/issues.ts';
import { onePullAt, pullAt } from './parts.ts';
import { findReview, readReviews, showRequests, showReviewComments, showReviews } from './review-parts.ts';
import {
  newPullReview,
  pullReview,
  pullReviewComment,
  pullReviewDismissal,
  pullReviewRequest,
  pullReviewSubmission,
} from './review-schemas.ts';

const common = { tag: 'Pull requests', cost: 'objects' } as const;
const read = { ...common, method: 'GET', access: 'repository:read', status: 200 } as const;
const write = { ...common, access: 'repository:read', scope: 'write' } as const;
const reviewsAt = `${onePullAt}/reviews` as const;
const oneReviewAt = `${reviewsAt}/{review}` as const;

/** Gitea's and GitHub's names; null for a draft review. */
function verdictOf(event: string | null | undefined): Verdict | null {
  if (event == null || event === '' || event === 'PENDING') return null;
  return event === 'APPROVED' ? 'APPROVE' : (event as Verdict);
}

export const listPullReviews = operation({
  ...read,
  id: 'listPullReviews',
  path: reviewsAt,
  summary: 'List a pull request’s reviews, oldest first',
  description:
    'Includes the caller’s pending review, followed by unanswered review requests. Without a page number, all are returned.',
  isPaged: true,
  query: z.object({ page: numberedPaging.page, limit: numberedPaging.limit }),
  response: z.array(pullReview),
  async run(call) {
    const at = pullAt(call.found, call.params.number);
    const shown = [...(await showReviews(call, at, await readReviews(call, at))), ...(await showRequests(call, at))];
    const { rows, next } = sliceOf(shown, call.query);
    return listed(rows, next, shown.length);
  },
});

export const getPullReview = operation({
  ...read,
  id: 'getPullReview',
  path: oneReviewAt,
  summary: 'Get a review',
  response: pullReview,
  async run(call) {
    const at = pullAt(call.found, call.params.number);
    const review = await findReview(call, at, call.params.review);
    return json((await showReviews(call, at, [review]))[0]!);
  },
});

export const listPullReviewComments = operation({
  ...read,
  id: 'listPullReviewComments',
  path: `${oneReviewAt}/comments`,
  summary: 'List a review’s line comments',
  response: z.array(pullReviewComment),
  async run(call) {
    const at = pullAt(call.found, call.params.number);
    return json(await showReviewComments(call, at, await findReview(call, at, call.params.review)));
  },
});

type NewReview = z.output<typeof newPullReview>;

/** The round of a review. Throws `commit_not_in_pull` if the commit is not the head of a round. */
async function roundOf({ pulls }: WebDeps, viewer: Viewer, at: IssueAt, commit: string | null | undefined) {
  if (!commit) return pulls.rounds.find(viewer, at);
  const found = (await pulls.rounds.list(viewer, at)).findLast(({ headOid }) => headOid === commit);
  if (found === undefined)
    throw invalid('commit_not_in_pull', 'This commit is the head of no round of the pull request.', {
      field: 'commit_id',
    });
  return found;
}

/** A comment of the caller in the form of the service. */
function commentOf(
  { path, body, new_position, old_position, first_line, thread_id }: NonNullable<NewReview['comments']>[number],
  round: number,
) {
  const isOld = !new_position && !!old_position;
  const lastLine = (isOld ? old_position : new_position) || null;
  const place = { path: path || null, side: isOld ? ('OLD' as const) : ('NEW' as const) };
  return {
    ...(thread_id ? { threadId: thread_id } : place),
    firstLine: thread_id ? null : first_line || lastLine,
    lastLine: thread_id ? null : lastLine,
    round,
    body,
  };
}

export const createPullReview = operation({
  ...write,
  id: 'createPullReview',
  method: 'POST',
  path: reviewsAt,
  summary: 'Review a pull request',
  description: 'Adds all line comments or none; submitting also publishes pending comments.',
  // Gitea's status.
  status: 200,
  refuses: [409],
  maxJsonBytes: textBytes * 4,
  body: newPullReview,
  response: pullReview,
  async run(call) {
    const { viewer, found, params, body, deps } = call;
    const at = pullAt(found, params.number);
    const verdict = verdictOf(body.event);
    const comments = body.comments ?? [];
    const { round } = await roundOf(deps, viewer, at, body.commit_id);
    await deps.pulls.reviews.addComments(
      viewer,
      at,
      comments.map((comment) => commentOf(comment, round)),
    );
    if (verdict === null && body.body) await deps.pulls.reviews.saveDraftText(viewer, at, { body: body.body, round });
    if (verdict === null) {
      const draft = await deps.pulls.reviews.draftOf(viewer, at);
      if (draft === null)
        throw invalid('text_missing', 'A pending review has a text or comments.', { field: 'comments' });
      return json((await showReviews(call, at, [draft]))[0]!);
    }
    // A caller that gives a commit knows which round it reviews.
    const confirm = Boolean(body.commit_id);
    const text = body.body || (await deps.pulls.reviews.draftOf(viewer, at))?.body || '';
    const review = await deps.pulls.reviews.submit(viewer, at, { verdict, body: text, round, confirm });
    return json((await showReviews(call, at, [review]))[0]!);
  },
});

export const submitPullReview = operation({
  ...write,
  id: 'submitPullReview',
  method: 'POST',
  path: oneReviewAt,
  summary: 'Submit the caller’s pending review',
  status: 200,
  refuses: [409],
  maxJsonBytes: textBytes,
  body: pullReviewSubmission,
  response: pullReview,
  async run(call) {
    const { viewer, found, params, body, deps } = call;
    const at = pullAt(found, params.number);
    const pending = await findReview(call, at, params.review);
    const verdict = verdictOf(body.event);
    if (verdict === null) throw invalid('invalid_verdict', 'Choose a verdict.', { field: 'event' });
    if (pending.submittedAt !== null) throw invalid('review_submitted', 'This review is submitted already.');
    const { round } = pending;
    const submitted = { verdict, body: body.body || pending.body, round, confirm: true };
    const review = await deps.pulls.reviews.submit(viewer, at, submitted);
    return json((await showReviews(call, at, [review]))[0]!);
  },
});

export const deletePullReview = operation({
  ...write,
  id: 'deletePullReview',
  method: 'DELETE',
  path: oneReviewAt,
  summary: 'Delete a pending or submitted review',
  description:
    'Requires the review’s author or a server administrator. The timeline keeps the entry of a submitted review.',
  status: 204,
  async run(call) {
    const { viewer, found, params, deps } = call;
    const at = pullAt(found, params.number);
    const review = await findReview(call, at, params.review);
    if (review.submittedAt === null) await deps.pulls.reviews.discard(viewer, at);
    else await deps.pulls.reviews.withdraw(viewer, at, { reviewId: review.id });
    return noContent();
  },
});

export const dismissPullReview = operation({
  ...write,
  id: 'dismissPullReview',
  method: 'POST',
  path: `${oneReviewAt}/dismissals`,
  summary: 'Dismiss a review',
  description: 'Requires administrator access to the repository. The reason is recorded in the timeline.',
  status: 200,
  body: pullReviewDismissal,
  response: pullReview,
  async run(call) {
    const { viewer, found, params, body, deps } = call;
    const at = pullAt(found, params.number);
    const review = await findReview(call, at, params.review);
    await deps.pulls.reviews.dismiss(viewer, at, { reviewId: review.id, reason: body.message });
    const earlier = (await deps.pulls.reviews.list(viewer, at)).filter(
      ({ authorId, verdict, dismissedAt }) =>
        authorId === review.authorId && verdict !== 'COMMENT' && dismissedAt === null,
    );
    if (body.priors)
      for (const { id } of earlier)
        await deps.pulls.reviews.dismiss(viewer, at, { reviewId: id, reason: body.message });
    return json((await showReviews(call, at, [await findReview(call, at, String(numericId(review.id)))]))[0]!);
  },
});

export const undismissPullReview = operation({
  ...write,
  id: 'undismissPullReview',
  method: 'POST',
  path: `${oneReviewAt}/undismissals`,
  summary: 'Restore a dismissed review',
  description: 'Requires administrator access to the repository.',
  status: 200,
  refuses: [422],
  response: pullReview,
  async run(call) {
    const { viewer, found, params, deps } = call;
    const at = pullAt(found, params.number);
    const { id: reviewId } = await findReview(call, at, params.review);
    const review = await deps.pulls.reviews.undismiss(viewer, at, { reviewId });
    return json((await showReviews(call, at, [review]))[0]!);
  },
});

/** Users, and teams of the repository owner. */
const reviewersIn = ({
  body: { reviewers, team_reviewers: teams },
  found,
}: {
  body: z.output<typeof pullReviewRequest>;
  found: Found;
}): string[] => [...(reviewers ?? []), ...(teams ?? []).map((name) => `${found.canonical.owner}/${name}`)];

const requestsAt = `${onePullAt}/requested_reviewers` as const;

export const requestPullReviews = operation({
  ...write,
  id: 'requestPullReviews',
  method: 'POST',
  path: requestsAt,
  summary: 'Request reviews from users and teams',
  status: 201,
  body: pullReviewRequest,
  response: z.array(pullReview).describe('One entry for every user and team with an unanswered request'),
  async run(call) {
    const at = pullAt(call.found, call.params.number);
    await call.deps.pulls.attention.request(call.viewer, at, { add: reviewersIn(call) });
    return json(await showRequests(call, at));
  },
});

export const withdrawPullReviews = operation({
  ...write,
  id: 'withdrawPullReviews',
  method: 'DELETE',
  path: requestsAt,
  summary: 'Cancel review requests to users and teams',
  status: 204,
  body: pullReviewRequest,
  async run(call) {
    const at = pullAt(call.found, call.params.number);
    await call.deps.pulls.attention.request(call.viewer, at, { remove: reviewersIn(call) });
    return noContent();
  },
});

export const listReviewers = operation({
  ...common,
  id: 'listReviewers',
  method: 'GET',
  path: '/repos/{owner}/{name}/reviewers',
  summary: 'List users who can be requested as reviewers',
  description:
    'Requires write access. Lists the owner, the collaborators, and the organisation’s users visible to the caller. ' +
    'It includes a pull request’s author, who cannot be requested for that pull request.',
  access: 'repository:write',
  status: 200,
  response: z.array(giteaUser),
  async run({ viewer, found, deps, origin }) {
    const people = await deps.accounts.peopleById(await deps.pulls.attention.candidates(viewer, found.canonical));
    return json(
      [...people.values()]
        .sort((one, other) => (one.username!.toLowerCase() < other.username!.toLowerCase() ? -1 : 1))
        .map((person) => userPayload(person, { baseUrl: origin })),
    );
  },
});
