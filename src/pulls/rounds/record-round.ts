import type { EntryLog, EntryVia, Issue } from '../../issues/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { removeFromQueue } from '../queue-rows.ts';
import { limits } from '../limits.ts';
import { pullSchema, unknownState } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { roundCommitSchema, roundSchema } from '../schema/round-schema.ts';
import type { RoundChange, RoundRow } from '../schema/round-schema.ts';
import type { ThreadPositionRow } from '../schema/review-schema.ts';
import { prepareThreads, recordThreads } from '../threads/thread-positions.ts';
import { findStackedOn, stackBase } from '../stacks/stacked-pulls.ts';
import { classifyChange } from './classify-change.ts';
import { readRound } from './read-round.ts';
import type { ReadRound } from './read-round.ts';
import { isBeingMerged } from './pending-push.ts';
import { keepRound } from './round-refs.ts';

/** Data of a round, prepared before the write that records it. */
export interface PreparedRound extends ReadRound {
  change: RoundChange;
  /** The previous round as read; the write fails if another one was added since. */
  after: { round: number; headOid: string; baseOid: string } | null;
  /** See `PullRow.stackedOnOid`. */
  stackedOnOid: string | null;
  /** Positions in this round of the threads of earlier rounds. */
  threads: ThreadPositionRow[];
}

/** Submitter of a round, and how it was pushed. */
export interface RoundOrigin {
  submitterId: string | null;
  pushId: string | null;
  /** Result of `contributedBytes`; 0 if omitted. */
  bytes?: number | undefined;
  note?: string | undefined;
  via?: EntryVia | undefined;
}

/**
 * Reads a round and stores its objects. Slow, so it runs before the write. Throws `git_busy`.
 * @param pull null for the first round
 * @param baseTip the tip of the base branch
 * @param stackedOnOid the commit on which it is based; by default found through the dependencies of the pull request
 */
export async function prepareRound(
  deps: Pick<PullDeps, 'db' | 'git' | 'logger'>,
  path: string,
  pull: Pick<PullRow, 'issueId' | 'repositoryId' | 'lastRound' | 'headOid' | 'baseOid'> | null,
  headOid: string,
  baseTip: string,
  stackedOnOid?: string | null,
): Promise<PreparedRound> {
  const stackedOn =
    stackedOnOid === undefined && pull !== null
      ? await findStackedOn(deps, path, pull, headOid)
      : (stackedOnOid ?? null);
  const base = await stackBase(deps, path, { headOid, stackedOnOid: stackedOn }, baseTip);
  const read = { ...(await readRound(deps, path, headOid, baseTip, base)), stackedOnOid: stackedOn };
  await keepRound(deps, path, read);
  if (pull === null) return { ...read, change: 'first', after: null, threads: [] };
  const after = { round: pull.lastRound, headOid: pull.headOid, baseOid: pull.baseOid };
  const [change, threads] = await Promise.all([
    classifyChange(deps, path, after, read),
    prepareThreads(deps, path, pull.issueId, read),
  ]);
  return { ...read, change, after, threads };
}

/**
 * Records a round in a write, with its log entry, and updates `pull`. Does nothing if the head is already the last one.
 * Throws `round_changed` if another round was added since it was prepared, `merge_running`, `too_many_rounds`.
 */
export async function recordRound(
  log: EntryLog,
  issue: Issue,
  pull: PullRow,
  prepared: PreparedRound,
  { submitterId, pushId, bytes = 0, note = '', via }: RoundOrigin,
): Promise<RoundRow | null> {
  const { manager, now } = log.tx;
  const { stackedOnOid } = prepared;
  if (pull.stackedOnOid !== stackedOnOid) {
    await manager.update(pullSchema, { issueId: issue.id }, { stackedOnOid });
    pull.stackedOnOid = stackedOnOid;
  }
  if (pull.lastRound > 0 && pull.headOid === prepared.headOid && pull.baseOid === prepared.baseOid) return null;
  // The last round must stay the one being merged.
  if (await isBeingMerged(manager, pull)) throw conflict('merge_running', 'This pull request is already being merged.');
  if (pull.lastRound !== (prepared.after?.round ?? 0)) throw roundChanged();
  if (pull.lastRound >= limits.rounds)
    throw invalid('too_many_rounds', `A pull request can have at most ${limits.rounds} rounds.`);
  const { headOid, baseOid, commitCount, commits, change } = prepared;
  const round = pull.lastRound + 1;
  const row: RoundRow = {
    issueId: issue.id,
    round,
    headOid,
    baseOid,
    commitCount,
    change,
    note: note.slice(0, limits.noteLength),
    pushId,
    submitterId,
    submitterName: null,
    bytes,
    createdAt: now,
  };
  await manager.insert(roundSchema, row);
  for (let start = 0; start < commits.length; start += 50)
    await manager.insert(
      roundCommitSchema,
      commits.slice(start, start + 50).map(({ oid, subject, changeId }, at) => ({
        issueId: issue.id,
        round,
        position: start + at + 1,
        oid,
        subject,
        changeId,
      })),
    );
  await recordThreads(log, issue, round, prepared.threads);
  const isOver = pull.mergeWhenReady !== null && change !== 'rebased';
  const wish =
    pull.mergeWhenReady === null
      ? {}
      : isOver
        ? { mergeWhenReadyBy: null, mergeWhenReadyRound: null, mergeWhenReady: null }
        : { mergeWhenReadyRound: round };
  const changed = {
    lastRound: round,
    headOid,
    baseOid,
    ...unknownState,
    ...wish,
  } as const;
  await manager.update(pullSchema, { issueId: issue.id }, changed);
  Object.assign(pull, changed);
  if (round > 1)
    await log.append(issue, {
      kind: 'round',
      details: { round, change, commits: commitCount, headOid, baseOid },
      ...(via === undefined ? {} : { via }),
    });
  if (isOver)
    await log.append(issue, { kind: 'merge_when_ready', details: { cancelled: true, reason: 'A new round came.' } });
  await removeFromQueue(log, issue, { reason: 'A new round came.', failed: true });
  return row;
}

export const roundChanged = () =>
  conflict('round_changed', 'A new round has arrived. View it first.', { field: 'round' });
