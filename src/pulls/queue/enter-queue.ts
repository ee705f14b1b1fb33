import { mergeVerdict, personIdOf, refusalOnPull } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { conflict, forbidden } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { factsOfPull, findPull, pullInWrite, refuse, requireOpen } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { findCurrentPull } from '../rounds/current-head.ts';
import { limits } from '../limits.ts';
import { explainBlock } from '../merging/explain-block.ts';
import { gatherFacts, gitFacts } from '../merging/merge-facts.ts';
import type { GatheredFacts } from '../merging/merge-facts.ts';
import { formatMessage, parseStyle } from '../merging/merge-message.ts';
import type { MergeInput } from '../merging/merge-pull.ts';
import { mergeStateOf } from '../mergeability/compute-merge-state.ts';
import { queueOfBranch, removeFromQueue } from '../queue-rows.ts';
import { hasPendingHeadPush } from '../rounds/pending-push.ts';
import { roundChanged } from '../rounds/record-round.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import { queueSchema } from '../schema/queue-schema.ts';

/** How a candidate is merged. */
export type QueuedMerge = Pick<MergeInput, 'style' | 'title' | 'body'>;

/** Checks that the queue can merge a pull request. Throws `merge_blocked` with the reasons, `no_queue`. */
export function requireQueued(viewer: Viewer, gathered: GatheredFacts, now: PullContext, style: string): void {
  if (gathered.rule?.merging.upToDate !== 'queue') throw conflict('no_queue', 'This branch has no merge queue.');
  const facts = { ...gathered.facts, isByQueue: true };
  const { blocks } = mergeVerdict(viewer, now.facts, gathered.rule, facts, style);
  if (blocks.length > 0) throw conflict('merge_blocked', blocks.map(explainBlock).join(' '));
}

/**
 * Adds the last round of a pull request to the end of the merge queue of its base branch. Nothing may block the merge
 * except tests, which the queue runs. The entry is for this round and user, whose permissions are checked at merge
 * time. Throws `no_queue`, `in_queue`, `queue_full`, `merge_blocked` with the reasons, `round_changed`, `pull_closed`,
 * `git_busy`, and the errors of `refusalOnPull` for `merge`.
 */
export async function enterQueue(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { round, ...input }: Omit<MergeInput, 'bypasses'>,
): Promise<void> {
  const merge: QueuedMerge = { style: parseStyle(input.style), title: input.title, body: input.body };
  formatMessage({ title: merge.title ?? '', body: merge.body ?? '' });
  const found = await deps.repositories.find(viewer, at.owner, at.name);
  const context = await findCurrentPull(deps, viewer, at);
  const { issue, pull, repository } = context;
  refuse(refusalOnPull(viewer, context.facts, factsOfPull(issue, pull), 'merge'));
  const personId = personIdOf(viewer);
  if (personId === null) throw forbidden('person_needed', 'Only a user can add a pull request to the merge queue.');
  requireOpen(context);
  const fromGit = await gitFacts(deps, found.path, repository, pull, await mergeStateOf(deps, found.path, pull));
  requireQueued(viewer, await gatherFacts(deps, deps.db.read, context, fromGit), context, merge.style);
  await deps.issues.pulls.write(viewer, async (log) => {
    const { manager, now: time } = log.tx;
    const now = await pullInWrite(deps, log.tx, viewer, issue, 'merge');
    requireOpen(now);
    if (now.pull.lastRound !== round || now.pull.headOid !== pull.headOid) throw roundChanged();
    if (await hasPendingHeadPush(log.tx.before, now.pull)) throw roundChanged();
    requireQueued(viewer, await gatherFacts(deps, log.tx.before, now, fromGit), now, merge.style);
    const place = { repositoryId: repository.id, baseBranch: now.pull.baseBranch };
    const rows = await queueOfBranch(manager, place);
    if (rows.some(({ issueId }) => issueId === issue.id))
      throw conflict('in_queue', 'This pull request is already in the merge queue.');
    if (rows.length >= limits.queued)
      throw conflict('queue_full', `The merge queue of a branch can contain at most ${limits.queued} pull requests.`);
    await manager.insert(queueSchema, {
      ...place,
      issueId: issue.id,
      position: Math.max(0, ...rows.map(({ position }) => position)) + 1,
      state: 'WAITING',
      round,
      addedBy: personId,
      merge: JSON.stringify(merge),
      addedAt: time,
      ontoOid: null,
      candidateOid: null,
      testedSince: null,
      runCount: 0,
    });
    const wish = { mergeWhenReadyBy: null, mergeWhenReadyRound: null, mergeWhenReady: null };
    await manager.update(pullSchema, { issueId: issue.id }, wish);
    await deps.issues.pulls.subscribeOnce(log.tx, issue.id, personId, 'comment');
    await log.append(now.issue, { kind: 'queued', details: { round, style: merge.style, place: rows.length + 1 } });
  });
  deps.queue.wake(repository.id, pull.baseBranch);
}

/**
 * Takes a pull request out of the queue, for its author and users with write access. Throws `not_in_queue`, and the
 * errors of `refusalOnPull` for `edit`.
 */
export async function leaveQueue(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<void> {
  const { issue } = await findPull(deps, viewer, at);
  const row = await deps.issues.pulls.write(viewer, async (log) => {
    const now = await pullInWrite(deps, log.tx, viewer, issue, 'edit');
    return removeFromQueue(log, now.issue, {});
  });
  if (row === null) throw notInQueue();
  deps.queue.wake(row.repositoryId, row.baseBranch);
}

/**
 * Moves a pull request ahead of all waiting ones, without interrupting a running test. For administrators of the
 * repository. Throws `not_in_queue`, and the errors of `refusalOnPull` for `queue_first`.
 */
export async function moveToFront(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<void> {
  const { issue } = await findPull(deps, viewer, at);
  await deps.issues.pulls.write(viewer, async (log) => {
    const { manager } = log.tx;
    const now = await pullInWrite(deps, log.tx, viewer, issue, 'queue_first');
    const own = await manager.findOneBy(queueSchema, { issueId: issue.id });
    if (own === null) throw notInQueue();
    const rows = await queueOfBranch(manager, own);
    const next = rows.find(({ state }) => state === 'WAITING');
    if (own.state !== 'WAITING' || next?.issueId === own.issueId) return;
    const position = Math.min(...rows.map((row) => row.position)) - 1;
    await manager.update(queueSchema, { issueId: issue.id }, { position });
    await log.append(now.issue, { kind: 'queued', details: { first: true, round: own.round } });
  });
}

const notInQueue = () => conflict('not_in_queue', 'This pull request is not in the merge queue.');
