import { diskFull, isDiskFull, isDomainError, noRef, saysDiskFull, startFlow, visitAll } from '../../kernel/index.ts';
import type { Flow } from '../../kernel/index.ts';
import { sendPushResponse } from './send-push-response.ts';
import { isAtomic } from './check-refs.ts';
import type { Refusals } from './check-refs.ts';
import type { GitLimits } from '../limits.ts';
import type { FastForwardRule } from './fast-forward-check.ts';
import { flushPacket } from '../pkt-line.ts';
import type { GitProcess, StopReason } from '../processes/git-runner.ts';
import type { PushDeps, PushHooks, PushLanding, PushOutcome, PushRequest } from './push.ts';
import { encodePushHeader, hasPack } from './push-header.ts';
import type { PushHeader, RawUpdate } from './push-header.ts';
import { ReportReader, ReportWriter } from './report-status.ts';
import type { RefResult } from './report-status.ts';
import { incomingFolder } from './incoming-refs.ts';
import type { IncomingRefs } from './incoming-refs.ts';
import { manyNewRefs, syncNewRefs } from './sync-new-refs.ts';
import { syncMovedRefs } from './sync-refs.ts';
import { send, leastBytesIn, watchForStall } from '../transfer.ts';
import { watchCpuTime } from '../processes/watch-limits.ts';
import { availableParallelism, totalmem } from 'node:os';
import { Readable } from 'node:stream';

/** The part of a push for git, and further content for the client. */
export interface PushPlan {
  head: PushHeader;
  /** Commands refused already; git does not get them. */
  refusals: Refusals;
  /** The commands in the journal: `updates`, and some refused since. */
  journalled: readonly RawUpdate[];
  /** At least one. */
  updates: readonly RawUpdate[];
  remarks: readonly string[];
  /** Sent only if a ref has moved. */
  remarksOnSuccess: readonly string[];
  /** Rules for git to enforce. */
  unchecked: readonly FastForwardRule[];
  /** Whether git leaves the refs unsynced. */
  isBulk: boolean;
  /** For a push of many new refs: commands for git instead of `updates`. */
  incoming: IncomingRefs | null;
}

/** Whether a push only creates many refs: no acknowledged state depends on their sync. */
export const isBulkPush = (updates: readonly RawUpdate[]): boolean =>
  updates.length >= manyNewRefs && updates.every(({ oldId, newId }) => noRef.test(oldId) && !noRef.test(newId));

/** Bytes that git allocates per object of a pack, in one block; slightly more than the real size. */
const tableBytesPerObject = 80;
const mebibyte = 1024 * 1024;
const cpuCheckMs = 1_000;
const gibibyte = 1024 ** 3;
/**
 * Each thread holds the objects of a chain of deltas, each of up to `maxPushMemoryBytes`: no additional threads on a
 * small machine.
 */
const packThreads = totalmem() < 2 * gibibyte ? 1 : Math.min(2, availableParallelism());

const tooLarge = ({ maxPushMemoryBytes }: GitLimits): string =>
  `The push has an object, or a change to one, that takes more than ${Math.floor(maxPushMemoryBytes / mebibyte)} MiB of memory to read. ` +
  'A large file goes through whole: git -c core.bigFileThreshold=16m push';
const tooSlow = 'The push was left: the client did not come to its end.';
const tooMuchWork = 'The push was given up: reading it takes far more work than its size explains.';

/** Whether the memory limit with which git was started suffices for this many objects. */
export const fitsUsualMemory = (objects: number, { maxPushMemoryBytes }: GitLimits): boolean =>
  objects * tableBytesPerObject <= maxPushMemoryBytes;

/** Calls `postReceive`; its failure must not cost the client its report. */
export async function runPostReceive({ logger }: PushDeps, hooks: PushHooks, results: RefResult[]): Promise<void> {
  await hooks.postReceive(results).catch((error: unknown) => logger.error('push.settle_failed', { error }));
}

/** A failed remark does not affect the push. */
async function remarksOf({ logger }: PushDeps, hooks: PushHooks, results: RefResult[]): Promise<readonly string[]> {
  return (
    (await hooks.remarkOnArrival?.(results).catch((error: unknown) => {
      logger.warn('push.remarks_failed', { error });
      return [];
    })) ?? []
  );
}

interface ReceivePackOptions {
  /** Whether git refuses every move that is not a fast-forward. */
  forwardOnly?: boolean;
  /** The object count in the pack's header, if known. */
  objects?: number;
  /** Whether the refs are synced together afterwards. */
  isBulk?: boolean;
  /** The only pull request ref visible to this git. */
  pullRef?: string | null;
  /** Size limit of the pack in bytes, instead of the server's. */
  maxPackBytes?: number | null;
}

/** Starts git for a push. It does nothing before it receives the commands. */
export function startReceivePack(
  { runner, limits }: PushDeps,
  { path, protocol, landing }: PushRequest,
  { forwardOnly = false, objects = 0, isBulk = false, pullRef = null, maxPackBytes = null }: ReceivePackOptions,
): GitProcess {
  const settings = [
    // Only for index-pack, which a large push waits for. Packs for clients are made by one thread each.
    `pack.threads=${packThreads}`,
    ...(forwardOnly ? ['receive.denyNonFastForwards=true'] : []),
    // The refs are synced together, before anyone is notified. Not `committed`: that includes the refs, and overrides
    // the subtraction.
    ...(landing !== undefined ? ['core.fsync=none'] : isBulk ? ['core.fsync=objects,-reference'] : []),
    // Must follow the settings that hide all refs: git uses the last match.
    ...(isBulk ? [`receive.hideRefs=!${incomingFolder}`] : []),
    ...(pullRef === null ? [] : [`receive.hideRefs=!${pullRef}`]),
    ...(maxPackBytes === null ? [] : [`receive.maxInputSize=${maxPackBytes}`]),
  ];
  return runner.start({
    argv: [...settings.flatMap((setting) => ['-c', setting]), 'receive-pack', '--stateless-rpc', landing?.path ?? path],
    protocol,
    timeLimitMs: limits.transferMs,
    allocationLimitBytes: Math.max(limits.maxPushMemoryBytes, objects * tableBytesPerObject),
    takesInput: true,
  });
}

/**
 * Passes a permitted push to git, and git's response to the client. Never throws once git runs. When refs have moved,
 * git may still be exiting.
 */
export async function runReceivePack(
  deps: PushDeps,
  request: PushRequest,
  { head, refusals, journalled, updates, remarks, remarksOnSuccess, unchecked, isBulk, incoming }: PushPlan,
  git: GitProcess,
): Promise<PushOutcome> {
  const { limits, logger } = deps;
  const { output, hooks, landing, stallMs = limits.stallMs } = request;
  const outcomeUpdates = journalled.map(({ ref, oldId, newId }) => ({ ref, oldId, newId }));
  const writer = new ReportWriter(head.capabilities);
  const isChanged = refusals.size > 0 || updates.some(({ clientRef }) => clientRef !== undefined);
  const isOwnReport = incoming !== null || landing !== undefined;
  const reader = new ReportReader(writer.usesSideBand, { keepsLines: isChanged || isOwnReport });
  /** The result of each of `updates`. */
  let resultOf: Map<RawUpdate, RefResult> = new Map();
  let results: RefResult[] | null = null;
  let isUnsynced = false;
  const writeIncoming = async (refs: IncomingRefs): Promise<void> => {
    resultOf = await refs.create(deps, request.path, reader.results(refs.commands), { isAtomic: isAtomic(head) });
  };
  const land = async ({ land: landMoves }: PushLanding): Promise<void> => {
    const gitResults = incoming?.resultsOf(reader.results(incoming.commands)) ?? reader.results(updates);
    await visitAll(updates, (update, at) => resultOf.set(update, gitResults[at]!));
    const made = updates.filter((update) => resultOf.get(update)!.ok);
    const results = made.length === 0 ? [] : await landMoves(made, { isAtomic: isAtomic(head) });
    await visitAll(made, (update, at) => resultOf.set(update, results[at]!));
  };
  const readResults = async (): Promise<void> => {
    const gitResults = reader.results(updates);
    const hasDeletions = updates.some(({ newId }) => noRef.test(newId));
    await visitAll(updates, (update, at) => resultOf.set(update, gitResults[at]!));
    if (isBulk) await syncNewRefs(deps.runner, request.path, gitResults);
    else await syncMovedRefs(request.path, gitResults, hasDeletions);
  };
  const reported = async (): Promise<RefResult[]> => {
    const written = landing !== undefined ? land(landing) : incoming === null ? readResults() : writeIncoming(incoming);
    await written.catch((error: unknown) => {
      // Left unsettled: the next start resolves it by comparing the refs.
      isUnsynced = true;
      logger.error('push.not_synced', { path: request.path, error });
      throw error;
    });
    const all: RefResult[] = [];
    await visitAll(journalled, (update) =>
      all.push(resultOf.get(update) ?? { ref: update.ref, ok: false, reason: refusals.get(update)! }),
    );
    // The journal is settled before the client gets "ok". This costs one write in parallel with git's last steps, and
    // ensures that requests after the acknowledgement (a page view, another push, a build) find the push recorded. In
    // the other order, a crash in between would leave acknowledged pushes to be guessed from refs that later pushes
    // have moved. If settling fails, the client still gets the report: the refs have moved, and the next start settles
    // by comparing them.
    await runPostReceive(deps, hooks, all);
    return all;
  };

  const commands = incoming?.commands ?? updates;
  const feed = forwardPack(git, request, head, { updates: commands, stallMs, isDone: () => reader.isComplete });
  const endWatch = watchCpuTime(
    () => git.pid,
    cpuCheckMs,
    () => limits.pushCpuMs + (feed.bytes / mebibyte) * limits.pushCpuMsPerMiB,
    () => git.stop('effort_limit'),
  );
  const end = () => {
    endWatch();
    feed.end();
  };
  let interruption = 'The push was interrupted.';
  const hasMoved = () => results?.some(({ ok }) => ok) ?? false;
  /** Responds once git needs no more input; if git has rejected a pack, the rest is still arriving. */
  const respond = (whole: Buffer, brief: Buffer) => {
    feed.leaveInput();
    // If git exited without a report, the transfer is over for both.
    const expectsMore = hasPack(head) && results !== null && !hasMoved() && !feed.isCutOff;
    return sendPushResponse(request, limits, { whole, brief, expectsMore });
  };

  try {
    for await (const chunk of git.stdout!.iterator({ destroyOnReturn: false })) {
      await send(output, reader.push(chunk as Buffer));
      if (!reader.isComplete || results !== null) continue;
      results = await reported();
      const why = isDomainError(feed.error) ? [feed.error.message] : [];
      if (reader.ranOutOfMemory) why.push(tooLarge(limits));
      if (reader.saysDiskFull || saysDiskFull(git.stderrText())) why.push(diskFull().message);
      const stopped = unchecked.filter(({ ref }) => results?.some((result) => result.ref === ref && !result.ok));
      why.push(...stopped.map(({ reason }) => reason));
      const late = hasMoved() ? await remarksOf(deps, hooks, results) : [];
      const remarkLines = writer.remarks([...why, ...remarks, ...(hasMoved() ? remarksOnSuccess : []), ...late]);
      const report = isOwnReport
        ? await writer.own(head.updates, refusals, resultOf, reader.takeReport())
        : isChanged
          ? writer.mixed(head.updates, refusals, reader.takeReport())
          : reader.release();
      await respond(Buffer.concat([remarkLines, report]), Buffer.concat([remarkLines, writer.failure(tooSlow)]));
      if (hasMoved()) break;
    }
  } catch (error) {
    // Unparsable output means a broken git; the refs show its effects.
    if (isDomainError(error)) logger.error('push.report_unreadable', { error });
    if (isDiskFull(error)) interruption = diskFull().message;
    git.stop('aborted');
  }
  const releaseIncoming = async (): Promise<void> =>
    landing !== undefined
      ? undefined
      : incoming?.release(deps, request.path).catch((error: unknown) => {
          logger.warn('push.incoming_refs_stay', { path: request.path, error });
        });
  if (results !== null && hasMoved()) {
    await releaseIncoming();
    // git only has to send the end of its response, so nothing waits for its exit.
    if (!reader.hasEnded) await send(output, flushPacket);
    git.stdout!.resume();
    void git.exited.then(end);
    return { kind: 'reported', updates: outcomeUpdates, results };
  }

  const exit = await git.exited;
  await releaseIncoming();
  end();
  if (results !== null) return { kind: 'reported', updates: outcomeUpdates, results };
  // Readers treat existing refs as acknowledged, so they are synced first.
  if (isBulk && incoming === null && landing === undefined) {
    const there = updates.map(({ ref }) => ({ ref, ok: true }));
    await syncNewRefs(deps.runner, request.path, there).catch((error: unknown) => {
      logger.error('push.not_synced', { path: request.path, error });
    });
  }
  const clean = exit.code === 0 && exit.stoppedBy === null && !isUnsynced;
  if (clean) {
    await respond(reader.release(), Buffer.alloc(0));
  } else {
    logger.warn('push.unreported', {
      path: request.path,
      ...exit,
      inputError: feed.error,
      errorText: git.stderrText(),
    });
    if (saysDiskFull(git.stderrText())) interruption = diskFull().message;
    const failure = writer.failure(exit.stoppedBy === 'effort_limit' ? tooMuchWork : interruption);
    await respond(failure, failure);
  }
  return { kind: 'unreported', updates: outcomeUpdates, clean };
}

/** The transfer of a push from its client to git. */
interface ForwardedPack {
  /** Whether git's input was cut off: the client disconnected, failed or stalled. */
  readonly isCutOff: boolean;
  /** Bytes of the push that were received so far. */
  readonly bytes: number;
  /** Error of the client's stream. */
  readonly error: unknown;
  /** Stops reading; another reader takes the rest of the stream. */
  leaveInput(): void;
  end(): void;
}

function* beginningOf(head: PushHeader, updates: readonly RawUpdate[], takesPack: boolean): Generator<Buffer> {
  yield* encodePushHeader(head, updates);
  if (takesPack) yield* head.pack;
}

/** Time that git may take to finish after its client has disconnected. */
const patienceMs = 5_000;

/**
 * Copies a push to git: the permitted commands, the part of the pack that was read already, then the rest as it
 * arrives. If the client disconnects, git is not killed but its input ends: git then detects a truncated pack, cleans
 * up and reports, or finishes a complete one. It is killed only if that takes too long.
 * @param updates at least one; if all are deletions git gets no pack, whatever the client sends
 * @param isDone whether git needs no more input
 */
function forwardPack(
  git: GitProcess,
  { input, output, signal, ownsInput = false }: PushRequest,
  head: PushHeader,
  { updates, stallMs, isDone }: { updates: readonly RawUpdate[]; stallMs: number; isDone: () => boolean },
): ForwardedPack {
  const stdin = git.stdin!;
  const takesPack = hasPack({ updates });
  const beginning = Readable.from(beginningOf(head, updates, takesPack), { objectMode: false });
  let flow = startFlow(beginning, stdin, !takesPack);
  let packFlow: Flow | null = null;
  let isLeft = false;
  void flow.ended.then(() => {
    if (!takesPack || isLeft || patience !== undefined || stdin.destroyed) return;
    flow = packFlow = startFlow(input, stdin, true, ownsInput);
  });

  let failure: unknown = null;
  let patience: NodeJS.Timeout | undefined;
  const cutOff = (reason: StopReason) => {
    if (patience !== undefined) return;
    flow.stop();
    stdin.end();
    patience = setTimeout(() => git.stop(reason), patienceMs);
  };
  const onGone = () => cutOff('aborted');
  const onError = (error: unknown) => {
    failure = error;
    cutOff('input_failed');
  };
  const onClose = () => {
    if (!input.readableEnded) onGone();
  };
  input.on('error', onError).on('close', onClose);
  signal.addEventListener('abort', onGone);
  // The stream may have failed while the push waited for its slot and its verdict.
  if (input.errored) onError(input.errored);
  else if (input.destroyed) onClose();
  else if (signal.aborted) onGone();

  const waitsForPack = () => !input.readableEnded && !stdin.destroyed && !stdin.writableNeedDrain && !isDone();
  const endWatch = watchForStall(
    { stallMs, leastBytes: leastBytesIn(stallMs) },
    () => output.writableNeedDrain || waitsForPack(),
    () => packFlow?.bytes ?? 0,
    () => cutOff('stalled'),
  );
  return {
    get isCutOff() {
      return patience !== undefined;
    },
    get bytes() {
      return head.packBytes + (packFlow?.bytes ?? 0);
    },
    get error() {
      return failure;
    },
    leaveInput() {
      isLeft = true;
      flow.stop();
    },
    end() {
      isLeft = true;
      endWatch();
      clearTimeout(patience);
      flow.stop();
      input.off('error', onError).off('close', onClose);
      signal.removeEventListener('abort', onGone);
    },
  };
}
