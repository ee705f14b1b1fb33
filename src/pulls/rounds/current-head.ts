import type { Viewer } from '../../access/index.ts';
import { rowBy } from '../../db/index.ts';
import { issueSchema } from '../../issues/index.ts';
import type { Issue, IssueAt } from '../../issues/index.ts';
import { conflict, waitAtMost } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { isMovedByImport } from './followed-heads.ts';
import { hasPendingHeadPush, hasPendingPush, isBeingMerged, listenerName } from './pending-push.ts';
import { recordMissedRound } from './record-missed-round.ts';

/**
 * Time in milliseconds that a use-case waits for the rounds that it depends on; one with many commits takes a second.
 */
const actWaitMs = 5_000;
/** Time in milliseconds that a page of a pull request waits for them. */
const readWaitMs = 1_500;
/** Number of checks whether a push has ended, and the pause between them in milliseconds. */
const maxTries = 40;
const pauseMs = 50;

type OpenPull = { issue: Issue; pull: PullRow };

/**
 * Finds a pull request for an action on its head. The last round may be behind the branch, because the push listener
 * records it after the client has its result; so missing rounds are recorded first, and everything pushed before the
 * action is part of it. Throws `repository_not_found`, `pull_not_found`; `push_not_recorded` if the head is still
 * behind, because a push is running or its commits cannot become a round.
 */
export async function findCurrentPull(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<PullContext> {
  const context = await findPull(deps, viewer, at);
  if ((await whatIsMissing(deps, context)) === null) return context;
  if ((await waitAtMost(catchUpWithHead(deps, context.issue.id, maxTries), actWaitMs)) !== true)
    throw pushNotRecorded();
  return findPull(deps, viewer, at);
}

/** Finds a pull request for a reader, who sees the last recorded round if the head stays behind. */
export async function findShownPull(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<PullContext> {
  const context = await findPull(deps, viewer, at);
  if ((await whatIsMissing(deps, context).catch(() => null)) === null) return context;
  const work = catchUpWithHead(deps, context.issue.id, Math.ceil(readWaitMs / pauseMs)).catch((error: unknown) =>
    deps.logger.warn('pull.not_caught_up', { issueId: context.issue.id, error }),
  );
  await waitAtMost(work, readWaitMs);
  return findPull(deps, viewer, at);
}

/**
 * Records the missing rounds of an open pull request: first pushes whose listener has not run, in order, then a tip
 * that no push reports. Throws the errors of the listener.
 * @returns whether the last round is now the head
 */
export async function catchUpWithHead(deps: PullDeps, issueId: string, tries = 1): Promise<boolean> {
  for (let left = tries; ; left -= 1) {
    const behind = await missingOf(deps, issueId);
    if (behind === null) return true;
    const { repositoryId, ref } = behind;
    await deps.repositories.pushes.recordAhead(listenerName, repositoryId);
    if ((await missingOf(deps, issueId)) === null) return true;
    const isRunning = await deps.repositories.pushes.isRunning(repositoryId, ref);
    if (!isRunning && behind.isBranch) {
      await recordMissedRound(deps, issueId);
      if ((await missingOf(deps, issueId)) === null) return true;
    }
    // A running push or merge has moved the branch, and is about to end.
    if (left <= 1 || !(isRunning || (await isOpenAndMerging(deps, issueId)))) return false;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function rowsOf({ db }: Pick<PullDeps, 'db'>, issueId: string): Promise<OpenPull | null> {
  const [issue, pull] = await Promise.all([
    rowBy(db.lookup, issueSchema, { id: issueId }),
    rowBy(db.lookup, pullSchema, { issueId }),
  ]);
  return issue === null || pull === null ? null : { issue, pull };
}

async function missingOf(deps: PullDeps, issueId: string): Promise<Missing | null> {
  const rows = await rowsOf(deps, issueId);
  return rows === null ? null : whatIsMissing(deps, rows);
}

/** Commits of the head of a pull request beyond its last round. */
interface Missing {
  repositoryId: string;
  ref: string;
  isBranch: boolean;
}

async function whatIsMissing(deps: PullDeps, { issue, pull }: OpenPull): Promise<Missing | null> {
  if (issue.state !== 'OPEN' || issue.deletedAt !== null) return null;
  const { headRepositoryId, headBranch } = pull;
  if (headRepositoryId === null || headBranch === null) {
    const ref = `refs/pull/${issue.number}/head`;
    const isPending = await hasPendingPush(deps.db.read, issue, { withParked: true });
    return isPending ? { repositoryId: issue.repositoryId, ref, isBranch: false } : null;
  }
  const located = (await deps.repositories.locate([headRepositoryId])).get(headRepositoryId);
  // In the trash or deleted: its head is not available.
  if (located === undefined) return null;
  const ref = `refs/heads/${headBranch}`;
  const tip = await deps.git.refs.tip(located.path, ref);
  if (tip === pull.headOid) return null;
  if (tip !== null && (await isMovedByImport(deps, issue, { repositoryId: headRepositoryId, ref, tip }))) return null;
  // A deleted branch may have received commits before.
  if (tip === null && !(await hasPendingHeadPush(deps.db.read, pull))) return null;
  return { repositoryId: headRepositoryId, ref, isBranch: true };
}

async function isOpenAndMerging(deps: PullDeps, issueId: string): Promise<boolean> {
  const rows = await rowsOf(deps, issueId);
  return rows !== null && rows.issue.state === 'OPEN' && (await isBeingMerged(deps.db.read, rows.pull));
}

const pushNotRecorded = () =>
  conflict(
    'push_not_recorded',
    'The branch has commits that are not yet part of a round of this pull request. Try again in a moment.',
  );
