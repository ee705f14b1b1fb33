import { z } from 'zod';
import { notFound } from '../../../kernel/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { created, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { textBytes } from '../issues/issues.ts';
import { onePullAt, pullAt } from './parts.ts';
import { commentId, findReview, showReviewComments } from './review-parts.ts';
import { pullReviewComment } from './review-schemas.ts';

/** Comments on code by the integer id that Gitea's clients use. */
const write = { tag: 'Pull requests', access: 'repository:read', scope: 'write', method: 'POST' } as const;

/** Throws `comment_not_found`. */
async function placeOf({ pulls }: WebDeps, { repository }: Found, id: string, number?: number) {
  const wanted = /^\d{1,15}$/.test(id) ? Number(id) : -1;
  const place = (await pulls.threads.places(repository.id)).find(
    (each) => (number === undefined || each.number === number) && commentId(each.threadId, each.position) === wanted,
  );
  if (place === undefined) throw notFound('comment_not_found', 'There is no such comment.');
  return place;
}

const resolving = (id: string, verb: 'resolve' | 'unresolve', summary: string) =>
  operation({
    ...write,
    id,
    path: `/repos/{owner}/{name}/pulls/comments/{comment}/${verb}` as '/repos/{owner}/{name}/pulls/comments/{comment}/resolve',
    summary,
    cost: 'objects',
    status: 204,
    refuses: [404],
    async run({ viewer, found, params, deps }) {
      const { threadId, number } = await placeOf(deps, found, params.comment);
      const change = { threadId, resolved: verb === 'resolve' };
      await deps.pulls.threads.resolve(viewer, pullAt(found, String(number)), change);
      return noContent();
    },
  });

const reply = operation({
  ...write,
  id: 'replyToPullComment',
  path: `${onePullAt}/comments/{comment}/replies`,
  summary: 'Reply to a code comment immediately',
  cost: 'objects',
  status: 201,
  refuses: [404, 422],
  maxJsonBytes: textBytes,
  body: z.object({ body: z.string() }),
  response: pullReviewComment,
  async run(call) {
    const { viewer, found, params, body, deps } = call;
    const at = pullAt(found, params.number);
    const { threadId } = await placeOf(deps, found, params.comment, at.number);
    const { pull } = await deps.pulls.find(viewer, at);
    const made = await deps.pulls.reviews.addComment(viewer, at, {
      threadId,
      body: body.body,
      round: pull.lastRound,
      sendNow: true,
    });
    const threads = await deps.pulls.threads.list(viewer, at);
    const first = threads.find(({ id }) => id === threadId)?.comments[0];
    const review = first && (await findReview(call, at, { uuid: first.reviewId }));
    const shown = review && (await showReviewComments(call, at, review));
    const answer = shown?.find((each) => each.thread_id === threadId && each.thread_position === made.position);
    if (answer === undefined) throw notFound('comment_not_found', 'There is no such comment.');
    return created(answer);
  },
});

export const pullCommentOperations = [
  resolving('resolvePullComment', 'resolve', 'Resolve a code comment’s thread'),
  resolving('unresolvePullComment', 'unresolve', 'Reopen a code comment’s thread'),
  reply,
];
