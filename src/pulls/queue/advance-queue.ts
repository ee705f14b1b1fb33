import { anonymous, checksOfCandidate } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import type { MergeStyle } from '../../git/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullById } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { findCurrentPull } from '../rounds/current-head.ts';
import { landMerge } from '../merging/land-merge.ts';
import { gatherFacts, gitFacts } from '../merging/merge-facts.ts';
import { computeMerge, oidOf } from '../merging/merge-pull.ts';
import { viewerOnBehalf } from '../merging/merge-when-ready.ts';
import { mergeStateOf } from '../mergeability/compute-merge-state.ts';
import { queueOfBranch, removeFromQueue } from '../queue-rows.ts';
import type { LeaveDetails } from '../queue-rows.ts';
import { readRound } from '../rounds/read-round.ts';
import { mergeBaseOf } from '../stacks/stacked-pulls.ts';
import { queueSchema } from '../schema/queue-schema.ts';
import type { QueueRow } from '../schema/queue-schema.ts';
import { requireQueued } from './enter-queue.ts';
import type { QueuedMerge } from './enter-queue.ts';
import { placeOf } from './queue-position.ts';

const usualTimeoutMs = 2 * 60 * 60_000;

type Branch = Pick<QueueRow, 'repositoryId' | 'baseBranch'>;

/** Time in milliseconds during which a step of another node is not disturbed. */
const otherNodeMs = 1_000;

/**
 * Advances the queue of one branch as far as possible now. The first pull request is merged onto the tip and tested as
 * that commit, and the branch then moves to exactly that commit. A pull request that cannot be merged or fails leaves
 * the queue with an entry that names the reason. All state is in the rows: after a crash the queue continues from them.
 */
export async function advanceBranch(deps: PullDeps, branch: Branch): Promise<void> {
  if ((await queueOfBranch(deps.db.read, branch)).length === 0) return;
  const { repositoryId, baseBranch } = branch;
  const turn = await deps.leases.take(`queue ${repositoryId} ${baseBranch}`);
  // Another node is making a step; the event that woke this one may be later than that step.
  if (turn === null) return deps.queue.wakeSoon(repositoryId, baseBranch, otherNodeMs);
  try {
    while (!deps.queue.isStopped) {
      const [row] = await queueOfBranch(deps.db.read, branch);
      if (row === undefined || !(await step(deps, row))) return;
    }
  } finally {
    await turn.end();
  }
}

/** Advances every branch with a queue, at start and in the scheduled task. */
export async function advanceQueues(deps: PullDeps): Promise<void> {
  const branches: Branch[] = await deps.db.read.query(
    `SELECT DISTINCT repository_id AS "repositoryId", base_branch AS "baseBranch" FROM pull_queue`,
  );
  for (const { repositoryId, baseBranch } of branches) deps.queue.wake(repositoryId, baseBranch);
}

/** Listener for `ci.onRunEnd`, inside the write that ends the run. */
export async function wakeForRun(
  { queue }: PullDeps,
  { manager }: Tx,
  { event, sha, repositoryId }: { event: string; sha: string; repositoryId: string },
): Promise<void> {
  if (event !== 'merge_group') return;
  const row = await manager.findOneBy(queueSchema, { candidateOid: sha, repositoryId });
  if (row !== null) queue.wakeSoon(row.repositoryId, row.baseBranch);
}

/** Makes one step for the first pull request of a queue. Returns whether the queue may continue at once. */
async function step(deps: PullDeps, row: QueueRow): Promise<boolean> {
  const located = (await deps.repositories.locate([row.repositoryId])).get(row.repositoryId);
  // In the trash or archived; the queue continues once the repository is back.
  if (located === undefined || located.repository.archivedAt !== null) return false;
  const found = await pullById(deps, row.issueId);
  if (found === null) return leave(deps, row, { reason: 'The pull request was deleted.', failed: true });
  const { issue, pull } = found;
  const out = (reason: string): Promise<boolean> => leave(deps, row, { reason, failed: true });
  if (issue.state === 'MERGED') return leave(deps, row, null);
  if (issue.state !== 'OPEN') return out('The pull request was closed.');
  if (pull.baseBranch !== row.baseBranch) return out('The base branch has changed.');
  if (pull.lastRound !== row.round) return out('A new round came.');
  const addedBy = row.addedBy ?? '';
  const person = (await deps.accounts.peopleById([addedBy])).get(addedBy);
  if (person === undefined || person.disabledAt !== null) return out('The account that added it is gone.');
  const viewer = viewerOnBehalf(person.id, row.repositoryId);
  try {
    const at = { owner: located.owner.handle, name: located.repository.name, number: issue.number };
    const context = await findCurrentPull(deps, viewer, at);
    if (context.pull.lastRound !== row.round) return await out('A new round came.');
    return row.state === 'WAITING'
      ? await beginTest(deps, row, { located, viewer, context })
      : await endTest(deps, row, { located, viewer, context });
  } catch (error) {
    // Without a free slot, the queue continues within a minute.
    if (!isDomainError(error) || error.code === 'unavailable') throw error;
    if (error.reason === 'push_not_recorded') return false;
    return out(error.message);
  }
}

interface Around {
  located: Located;
  viewer: Viewer;
  context: PullContext;
}

/** Merges the pull request onto the tip and starts the test of that commit, in one write with the row. */
async function beginTest(deps: PullDeps, row: QueueRow, { located, viewer, context }: Around): Promise<boolean> {
  const { path } = located;
  const { pull, issue, repository } = context;
  const { style, ...input } = JSON.parse(row.merge) as QueuedMerge;
  const fromGit = await gitFacts(deps, path, repository, pull, await mergeStateOf(deps, path, pull));
  requireQueued(viewer, await gatherFacts(deps, deps.db.read, context, fromGit), context, style);
  const onto = fromGit.state.mergeStateOnto!;
  const base = await mergeBaseOf(deps, path, pull, onto);
  const { commits } = await readRound(deps, path, pull.headOid, onto, base);
  const found = await deps.repositories.find(viewer, located.owner.handle, located.repository.name);
  const merge = { style: style as MergeStyle, onto, base, commits, input };
  const oid = oidOf(await computeMerge(deps, viewer, found, context, merge), pull.baseBranch);
  const { baseBranch, addedBy } = row;
  const { tests } = deps.queue;
  const prepared = await tests.prepare({ located, issue, baseBranch, baseOid: onto, oid, addedBy });
  await deps.git.refs.setPull(path, issue.number, 'merge', oid);
  const isTestRecorded = await deps.db.write(async (tx) => {
    const now = await tx.manager.findOneBy(queueSchema, { issueId: row.issueId });
    if (now?.state !== 'WAITING' || now.round !== row.round) return false;
    // Another pull request may have been put first, or another process may have started.
    const [first] = await queueOfBranch(tx.manager, row);
    if (first?.issueId !== row.issueId) return false;
    const runCount = prepared === null ? 0 : await tests.record(tx, prepared);
    const test = { state: 'TESTING', ontoOid: onto, candidateOid: oid, testedSince: tx.now, runCount } as const;
    await tx.manager.update(queueSchema, { issueId: row.issueId }, test);
    return true;
  });
  if (isTestRecorded && prepared !== null) tests.recorded(prepared);
  return true;
}

/** Moves the branch to a commit that has passed, or ends a failed test; waits for running ones. */
async function endTest(deps: PullDeps, row: QueueRow, { located, viewer, context }: Around): Promise<boolean> {
  const { path, repository } = located;
  const { issue, pull } = context;
  const [onto, candidate] = [row.ontoOid!, row.candidateOid!];
  const tip = await deps.git.refs.tip(path, `refs/heads/${row.baseBranch}`);
  if (tip !== onto) {
    // The branch has the commit: the push listener records the merge and wakes the queue.
    if (pull.mergedOid === candidate && tip !== null && (await deps.git.refs.isForward(path, candidate, tip)))
      return false;
    return testAgain(deps, row, context, 'The base branch has moved.');
  }
  const [outcome, statuses, rule] = await Promise.all([
    deps.queue.tests.outcome(placeOf(row, issue)),
    deps.repositories.statuses.ofCommit(deps.db.read, row.repositoryId, candidate),
    deps.repositories.rules.deciding(deps.db.read, repository, row.baseBranch),
  ]);
  if (outcome.runs < row.runCount) return testAgain(deps, row, context, 'A run of the test was deleted.');
  if (outcome.state === 'failure')
    return leave(deps, row, {
      reason: 'The test of the merge failed.',
      failed: true,
      ...(outcome.failed === null ? {} : { run: outcome.failed }),
    });
  const states = new Map(statuses.map((status) => [status.context, status.state]));
  const checks = rule === null ? 'success' : checksOfCandidate(rule.merging, states);
  if (checks === 'failure') return leave(deps, row, { reason: 'A required check of the merge failed.', failed: true });
  if (outcome.state === 'running' || checks === 'pending') {
    const timeoutMs = deps.queueTimeoutMs ?? usualTimeoutMs;
    if (deps.clock.now() - row.testedSince! < timeoutMs) return false;
    return leave(deps, row, { reason: 'The test of the merge took too long.', failed: true });
  }
  const { style } = JSON.parse(row.merge) as QueuedMerge;
  const fromGit = await gitFacts(deps, path, repository, pull, await mergeStateOf(deps, path, pull));
  const found = await deps.repositories.find(viewer, located.owner.handle, repository.name);
  const landed = await landMerge(deps, viewer, found, context, {
    onto,
    oid: candidate,
    style: style as MergeStyle,
    round: row.round,
    isByQueue: true,
    async authorize(tx, now) {
      requireQueued(viewer, await gatherFacts(deps, tx.before, now, fromGit), now, style);
    },
  });
  if (landed !== null) deps.logger.info('pull.queue_merged', { repositoryId: repository.id, pull: issue.number });
  return landed !== null || testAgain(deps, row, context, 'The base branch has moved.');
}

/** Keeps its position; a candidate for the new tip follows. */
async function testAgain(deps: PullDeps, row: QueueRow, { issue }: PullContext, why: string): Promise<boolean> {
  const waiting = { state: 'WAITING', ontoOid: null, candidateOid: null, testedSince: null, runCount: 0 } as const;
  await deps.db.write(async ({ manager }) => {
    const now = await manager.findOneBy(queueSchema, { issueId: row.issueId });
    if (now?.candidateOid === row.candidateOid) await manager.update(queueSchema, { issueId: row.issueId }, waiting);
  });
  await deps.queue.tests.cancel(placeOf(row, issue), why);
  return true;
}

/** Removes the row; adds an entry with the reason unless it was merged, which has its own entry. */
async function leave(deps: PullDeps, row: QueueRow, details: LeaveDetails | null): Promise<boolean> {
  await deps.issues.pulls.write(anonymous, async (log) => {
    const issue = await deps.issues.pulls.rowInWrite(log.tx, row.issueId);
    if (issue === null || details === null) await log.tx.manager.delete(queueSchema, { issueId: row.issueId });
    else await removeFromQueue(log, issue, details);
  });
  return true;
}
