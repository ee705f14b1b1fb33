import { isDomainError } from '../../kernel/index.ts';
import { feedPush } from './feed-push.ts';
import type { GitLimits } from '../limits.ts';
import type { ForwardRule } from './only-forward.ts';
import { flushPacket } from '../pkt-line.ts';
import type { GitProcess } from '../processes/process.ts';
import type { PushDeps, PushObserver, PushOutcome, PushRequest } from './push.ts';
import { hasPack } from './push-head.ts';
import type { PushHead } from './push-head.ts';
import { ReportReader, ReportWriter } from './push-report.ts';
import type { RefResult } from './push-report.ts';
import { syncMovedRefs } from '../refs/sync-refs.ts';
import { drain, send } from '../transfer.ts';
import { watchEffort } from '../processes/watch-effort.ts';

/** On what terms git gets a push. */
export interface PushTerms {
  remarks: string[];
  unjudged: ForwardRule[];
}

/** Silence after which a refused push counts as sent: some clients never end their side. */
export const drainQuietMs = 10_000;

/** What git keeps of each object of a pack, in one piece, in bytes; a little more than it is. */
const tableBytesPerObject = 80;
const mebibyte = 1024 * 1024;
const effortEveryMs = 1_000;

const tooLarge = ({ maxPushMemoryBytes }: GitLimits): string =>
  `The push has an object, or a change to one, that takes more than ${Math.floor(maxPushMemoryBytes / mebibyte)} MiB of memory to read. ` +
  'A large file goes through whole: git -c core.bigFileThreshold=16m push';
const tooMuchWork = 'The push was given up: reading it takes far more work than its size explains.';

/** Whether git can have the memory that so many objects take, as it was started at first. */
export const fitsUsualMemory = (objects: number, { maxPushMemoryBytes }: GitLimits): boolean =>
  objects * tableBytesPerObject <= maxPushMemoryBytes;

/** Tells the observer, whose failure must not cost the client its report. */
export async function settle({ logger }: PushDeps, observer: PushObserver, results: RefResult[]): Promise<void> {
  await observer.settled(results).catch((error: unknown) => logger.error('push.settle_failed', { error }));
}

/**
 * Starts git for a push. It waits for the commands and can do nothing before it has them.
 * @param forwardOnly whether it refuses every move that is not forward
 * @param objects what its pack says it has, when that is known
 */
export function startReceivePack(
  { door, limits }: PushDeps,
  { path, protocol }: PushRequest,
  { forwardOnly = false, objects = 0 }: { forwardOnly?: boolean; objects?: number } = {},
): GitProcess {
  return door.start({
    argv: [...(forwardOnly ? ['-c', 'receive.denyNonFastForwards=true'] : []), 'receive-pack', '--stateless-rpc', path],
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
  head: PushHead,
  git: GitProcess,
  { remarks, unjudged }: PushTerms,
): Promise<PushOutcome> {
  const { limits, logger } = deps;
  const { input, output, observer, stallMs = limits.stallMs } = request;
  const updates = head.updates.map(({ ref, oldId, newId }) => ({ ref, oldId, newId }));
  const writer = new ReportWriter(head.capabilities);
  const reader = new ReportReader(writer.usesSideBand);
  let results: RefResult[] | null = null;
  let isUnsynced = false;
  const reported = async (): Promise<void> => {
    const moved = reader.results(head.updates);
    await syncMovedRefs(
      request.path,
      moved,
      updates.some(({ newId }) => /^0+$/.test(newId)),
    ).catch((error: unknown) => {
      // Left unsettled: the next start settles it by the refs that are there then.
      isUnsynced = true;
      logger.error('push.not_synced', { path: request.path, error });
      throw error;
    });
    results = moved;
    // The journal is settled before the client hears "ok". It costs one write beside
    // git's own last steps, and whoever acts on the acknowledgement (reads the page,
    // pushes again, waits for a build) finds the push recorded. Were it the other way
    // round, a crash in between would leave acknowledged pushes to be guessed from refs
    // that later pushes have moved on. When settling fails the client still gets the
    // report: the refs have moved, and the next start settles by them.
    await settle(deps, observer, results);
  };

  const feed = feedPush(git, request, head, { stallMs, isDone: () => reader.isComplete });
  const endWatch = watchEffort(
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

  try {
    for await (const chunk of git.stdout!.iterator({ destroyOnReturn: false })) {
      await send(output, reader.push(chunk as Buffer));
      if (!reader.isComplete || results !== null) continue;
      await reported();
      const why = isDomainError(feed.error) ? [feed.error.message] : [];
      if (reader.ranOutOfMemory) why.push(tooLarge(limits));
      const stopped = unjudged.filter(({ ref }) => results?.some((result) => result.ref === ref && !result.ok));
      why.push(...stopped.map(({ reason }) => reason));
      await send(output, Buffer.concat([writer.remarks([...why, ...remarks]), reader.release()]));
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
    return { kind: 'reported', updates, results };
  }

  const exit = await git.exited;
  end();
  if (results !== null) {
    // A pack that git gave up on is still arriving, unless we gave up on its client.
    if (hasPack(head) && !feed.isCutOff) await drain(input, limits.maxDrainBytes, drainQuietMs);
    return { kind: 'reported', updates, results };
  }
  const clean = exit.code === 0 && exit.stoppedBy === null;
  if (!clean) {
    logger.warn('push.unreported', { path: request.path, ...exit, inputError: feed.error, complaint: git.complaint() });
  }
  await send(
    output,
    Buffer.concat([
      ...(isUnsynced ? [] : [reader.release()]),
      ...(clean ? [] : [writer.failure(exit.stoppedBy === 'effort_limit' ? tooMuchWork : 'The push was interrupted.')]),
    ]),
  );
  return { kind: 'unreported', updates, clean };
}
