import { isDomainError } from '../../kernel/index.ts';
import { answerPush } from './report-push.ts';
import { forwardPack } from './forward-pack.ts';
import type { Refusals } from './check-refs.ts';
import type { GitLimits } from '../limits.ts';
import type { FastForwardRule } from './fast-forward-check.ts';
import { flushPacket } from '../pkt-line.ts';
import type { GitProcess } from '../processes/git-runner.ts';
import type { PushDeps, PushHooks, PushOutcome, PushRequest } from './push.ts';
import { hasPack, noRef } from './push-head.ts';
import type { PushHead, RawUpdate } from './push-head.ts';
import { ReportReader, ReportWriter } from './push-report.ts';
import type { RefResult } from './push-report.ts';
import { manyNewRefs, syncNewRefs } from './new-refs.ts';
import { syncMovedRefs } from './sync-refs.ts';
import { send } from '../transfer.ts';
import { watchCpuTime } from '../processes/watch-limits.ts';

/** What git gets of a push, and what the client is told besides. */
export interface PushPlan {
  head: PushHead;
  /** Commands that are refused already; git does not get them. */
  refusals: Refusals;
  /** What the observer has written down: `updates`, and some that were refused since. */
  journalled: readonly RawUpdate[];
  /** At least one. */
  updates: readonly RawUpdate[];
  remarks: readonly string[];
  /** Rules that git has to keep itself. */
  unjudged: readonly FastForwardRule[];
  /** Whether git leaves the refs unsynced. */
  isBulk: boolean;
}

/** A push that makes many refs and does nothing else: nothing that was acknowledged before depends on their sync. */
export const isBulkPush = (updates: readonly RawUpdate[]): boolean =>
  updates.length >= manyNewRefs && updates.every(({ oldId, newId }) => noRef.test(oldId) && !noRef.test(newId));

/** What git keeps of each object of a pack, in one piece, in bytes; a little more than it is. */
const tableBytesPerObject = 80;
const mebibyte = 1024 * 1024;
const effortEveryMs = 1_000;

const tooLarge = ({ maxPushMemoryBytes }: GitLimits): string =>
  `The push has an object, or a change to one, that takes more than ${Math.floor(maxPushMemoryBytes / mebibyte)} MiB of memory to read. ` +
  'A large file goes through whole: git -c core.bigFileThreshold=16m push';
const tooSlow = 'The push was left: the client did not come to its end.';
const tooMuchWork = 'The push was given up: reading it takes far more work than its size explains.';

/** Whether git can have the memory that so many objects take, as it was started at first. */
export const fitsUsualMemory = (objects: number, { maxPushMemoryBytes }: GitLimits): boolean =>
  objects * tableBytesPerObject <= maxPushMemoryBytes;

/** Tells the observer, whose failure must not cost the client its report. */
export async function settle({ logger }: PushDeps, observer: PushHooks, results: RefResult[]): Promise<void> {
  await observer.postReceive(results).catch((error: unknown) => logger.error('push.settle_failed', { error }));
}

/**
 * Starts git for a push. It waits for the commands and can do nothing before it has them.
 * @param forwardOnly whether it refuses every move that is not forward
 * @param objects what its pack says it has, when that is known
 * @param isBulk whether its refs are synced together afterwards
 */
export function startReceivePack(
  { door, limits }: PushDeps,
  { path, protocol }: PushRequest,
  { forwardOnly = false, objects = 0, isBulk = false }: { forwardOnly?: boolean; objects?: number; isBulk?: boolean },
): GitProcess {
  const settings = [
    ...(forwardOnly ? ['receive.denyNonFastForwards=true'] : []),
    // The refs are synced together, before anybody hears of them. Not `committed`: the refs are in it, and it
    // outweighs what is taken away.
    ...(isBulk ? ['core.fsync=objects,-reference'] : []),
  ];
  return door.start({
    argv: [...settings.flatMap((setting) => ['-c', setting]), 'receive-pack', '--stateless-rpc', path],
    protocol,
    timeLimitMs: limits.transferMs,
    allocationLimitBytes: Math.max(limits.maxPushMemoryBytes, objects * tableBytesPerObject),
    takesInput: true,
  });
}

/**
 * Lets git have a push that was decided on, and brings its answer to the client.
 * Never throws once git runs. When refs have moved, git may still be on its way out.
 */
export async function runReceivePack(
  deps: PushDeps,
  request: PushRequest,
  { head, refusals, journalled, updates, remarks, unjudged, isBulk }: PushPlan,
  git: GitProcess,
): Promise<PushOutcome> {
  const { limits, logger } = deps;
  const { output, observer, stallMs = limits.stallMs } = request;
  const outcomeUpdates = journalled.map(({ ref, oldId, newId }) => ({ ref, oldId, newId }));
  const writer = new ReportWriter(head.capabilities);
  const reader = new ReportReader(writer.usesSideBand, { keepsLines: refusals.size > 0 });
  let results: RefResult[] | null = null;
  let isUnsynced = false;
  const reported = async (): Promise<RefResult[]> => {
    const ofGit = reader.results(updates);
    const hasDeletions = updates.some(({ newId }) => noRef.test(newId));
    const syncing = isBulk
      ? syncNewRefs(deps.door, request.path, ofGit)
      : syncMovedRefs(request.path, ofGit, hasDeletions);
    await syncing.catch((error: unknown) => {
      // Left unsettled: the next start settles it by the refs that are there then.
      isUnsynced = true;
      logger.error('push.not_synced', { path: request.path, error });
      throw error;
    });
    const resultOf = new Map(updates.map((update, at) => [update, ofGit[at]!]));
    const all = journalled.map(
      (update) => resultOf.get(update) ?? { ref: update.ref, ok: false, reason: refusals.get(update)! },
    );
    // The journal is settled before the client hears "ok". It costs one write beside
    // git's own last steps, and whoever acts on the acknowledgement (reads the page,
    // pushes again, waits for a build) finds the push recorded. Were it the other way
    // round, a crash in between would leave acknowledged pushes to be guessed from refs
    // that later pushes have moved on. When settling fails the client still gets the
    // report: the refs have moved, and the next start settles by them.
    await settle(deps, observer, all);
    return all;
  };

  const feed = forwardPack(git, request, head, { updates, stallMs, isDone: () => reader.isComplete });
  const endWatch = watchCpuTime(
    () => git.pid,
    effortEveryMs,
    () => limits.pushCpuMs + (feed.bytes / mebibyte) * limits.pushCpuMsPerMiB,
    () => git.stop('effort_limit'),
  );
  const end = () => {
    endWatch();
    feed.end();
  };
  const hasMoved = () => results?.some(({ ok }) => ok) ?? false;
  /** Answers once git needs nothing more of the client; of a pack that git gave up on, the rest is still arriving. */
  const answer = (whole: Buffer, brief: Buffer) => {
    feed.leaveInput();
    // Where git ended without a report, the transfer is over for both.
    const expectsMore = hasPack(head) && results !== null && !hasMoved() && !feed.isCutOff;
    return answerPush(request, limits, { whole, brief, expectsMore });
  };

  try {
    for await (const chunk of git.stdout!.iterator({ destroyOnReturn: false })) {
      await send(output, reader.push(chunk as Buffer));
      if (!reader.isComplete || results !== null) continue;
      results = await reported();
      const why = isDomainError(feed.error) ? [feed.error.message] : [];
      if (reader.ranOutOfMemory) why.push(tooLarge(limits));
      const stopped = unjudged.filter(({ ref }) => results?.some((result) => result.ref === ref && !result.ok));
      why.push(...stopped.map(({ reason }) => reason));
      const said = writer.remarks([...why, ...remarks]);
      const report = refusals.size === 0 ? reader.release() : writer.mixed(head.updates, refusals, reader.takeReport());
      await answer(Buffer.concat([said, report]), Buffer.concat([said, writer.failure(tooSlow)]));
      if (hasMoved()) break;
    }
  } catch (error) {
    // Unreadable output means a broken git; what it did shows in the refs.
    if (isDomainError(error)) logger.error('push.report_unreadable', { error });
    git.stop('aborted');
  }
  if (results !== null && hasMoved()) {
    // All that git has still to say is that it has no more to say. Nobody has to wait while it goes.
    if (!reader.hasEnded) await send(output, flushPacket);
    git.stdout!.resume();
    void git.exited.then(end);
    return { kind: 'reported', updates: outcomeUpdates, results };
  }

  const exit = await git.exited;
  end();
  if (results !== null) return { kind: 'reported', updates: outcomeUpdates, results };
  // Whoever asks the refs now takes what is there for done.
  if (isBulk) {
    const there = updates.map(({ ref }) => ({ ref, ok: true }));
    await syncNewRefs(deps.door, request.path, there).catch((error: unknown) => {
      logger.error('push.not_synced', { path: request.path, error });
    });
  }
  const clean = exit.code === 0 && exit.stoppedBy === null && !isUnsynced;
  if (clean) {
    await answer(reader.release(), Buffer.alloc(0));
  } else {
    logger.warn('push.unreported', {
      path: request.path,
      ...exit,
      inputError: feed.error,
      complaint: git.stderrText(),
    });
    const failure = writer.failure(exit.stoppedBy === 'effort_limit' ? tooMuchWork : 'The push was interrupted.');
    await answer(failure, failure);
  }
  return { kind: 'unreported', updates: outcomeUpdates, clean };
}
