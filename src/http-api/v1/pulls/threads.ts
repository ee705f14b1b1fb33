import { z } from 'zod';
import { created, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { onePullAt, pullAt, showPull } from './parts.ts';
import { appliedSuggestions } from './review-schemas.ts';
import { pullRequest } from '../shapes/pulls-schemas.ts';

const write = { tag: 'Pull requests', access: 'repository:read', scope: 'write', method: 'POST' } as const;

/** One operation each for resolving and unresolving. */
const resolve = (id: string, verb: 'resolve' | 'unresolve', summary: string) =>
  operation({
    ...write,
    id,
    path: `${onePullAt}/threads/{thread}/${verb}`,
    summary,
    description: 'Takes the thread_id from review comments.',
    cost: 'rows',
    status: 204,
    async run({ viewer, found, params, deps }) {
      const change = { threadId: params.thread, resolved: verb === 'resolve' };
      await deps.pulls.threads.resolve(viewer, pullAt(found, params.number), change);
      return noContent();
    },
  });

const applyPullSuggestions = operation({
  ...write,
  id: 'applyPullSuggestions',
  path: `${onePullAt}/suggestions`,
  summary: 'Apply review suggestions as one commit on the head',
  description: 'Applies all suggestions or none. The commit creates a round, and the threads are resolved.',
  cost: 'objects',
  status: 201,
  refuses: [409],
  body: appliedSuggestions,
  response: z.strictObject({ sha: z.string().describe('New head') }).meta({ id: 'AppliedSuggestions' }),
  async run({ viewer, found, params, body, deps }) {
    const at = pullAt(found, params.number);
    const { pull } = await deps.pulls.find(viewer, at);
    const { oid } = await deps.pulls.suggestions.apply(viewer, at, {
      comments: body.comments.map((comment) => ({ threadId: comment.thread_id, position: comment.thread_position })),
      round: body.round ?? pull.lastRound,
      title: body.message ?? undefined,
    });
    return created({ sha: oid });
  },
});

const revertPull = operation({
  ...write,
  id: 'revertPull',
  path: `${onePullAt}/revert`,
  summary: 'Open a pull request that reverts a merged one',
  cost: 'objects',
  status: 201,
  refuses: [409, 422],
  response: pullRequest,
  async run(call) {
    const at = pullAt(call.found, call.params.number);
    const { issue } = await call.deps.pulls.revert(call.viewer, at);
    const { owner, name } = at;
    return created(
      await showPull(call, { owner, name, number: issue.number }),
      `/repos/${owner}/${name}/pulls/${issue.number}`,
    );
  },
});

const headBranch = (id: string, method: 'POST' | 'DELETE', summary: string) =>
  operation({
    ...write,
    id,
    method,
    path: `${onePullAt}/head`,
    summary,
    cost: 'objects',
    status: 204,
    refuses: [409, 422],
    async run({ viewer, found, params, deps: { pulls } }) {
      const at = pullAt(found, params.number);
      await (method === 'POST' ? pulls.restoreBranch(viewer, at) : pulls.deleteBranch(viewer, at));
      return noContent();
    },
  });

/** Operations on threads and on closed pull requests. */
export const pullThreadOperations = [
  resolve('resolvePullThread', 'resolve', 'Resolve a review thread'),
  resolve('unresolvePullThread', 'unresolve', 'Reopen a resolved thread'),
  applyPullSuggestions,
  revertPull,
  headBranch('deletePullHead', 'DELETE', 'Delete a pull request’s head branch'),
  headBranch('restorePullHead', 'POST', 'Restore a pull request’s head branch'),
];
