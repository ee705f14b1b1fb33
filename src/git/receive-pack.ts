import type { Readable, Writable } from 'node:stream';
import { isDomainError } from '../kernel/index.ts';
import type { Logger } from '../kernel/index.ts';
import type { GitLimits } from './limits.ts';
import type { ObjectReaders } from './object-readers.ts';
import type { GitDoor, GitExit, StopReason } from './process.ts';
import { readPushHead } from './push-head.ts';
import type { PushHead, RefUpdate } from './push-head.ts';
import { judgeMoves } from './only-forward.ts';
import type { ForwardRule } from './only-forward.ts';
import { ReportReader, ReportWriter } from './push-report.ts';
import type { RefResult } from './push-report.ts';
import type { RecoveryAction } from './recover.ts';
import { refusePush } from './refuse-push.ts';
import type { RefusedUpdate } from './refuse-push.ts';
import type { Slots } from './slots.ts';
import { drain, expectErrors, leastBytesIn, send, startFlow, watchForStall } from './transfer.ts';

/** Hears of a push before git may act, and again when git has. */
export interface PushObserver {
  /**
   * Called with well-formed commands, in the order of the push. Nothing has happened
   * yet and nothing will before this resolves: the place for permission and journal.
   * A refusal's `reason` and the `remarks` are lines that the client shows.
   */
  decide(push: { updates: RefUpdate[]; options: string[] }): Promise<PushVerdict>;
  /** Called once when git has reported, with a result for every command. */
  settled(results: RefResult[]): Promise<void>;
}

export type PushVerdict =
  | {
      accept: true;
      remarks?: string[];
      /** Refs that may only move to a descendant of what they are. One command that breaks this refuses the push. */
      onlyForward?: ForwardRule[];
    }
  | { accept: false; reason: string };

export interface PushRequest {
  path: string;
  protocol?: string | null | undefined;
  /** The client's bytes: commands, push options, pack. */
  input: Readable;
  /** Left open: the caller ends it, or breaks it when the outcome is not clean. */
  output: Writable;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
  observer: PushObserver;
  /** Who pushes, for fair slots: any stable text. */
  client?: string | undefined;
  /** Overrides how long the client may stall, in milliseconds. */
  stallMs?: number | undefined;
}

/**
 * How a push ended.
 * - `nothing`: no commands; git's probe before a large push, or nothing to do.
 * - `refused`: by ref policy or observer, or for a move that does not go forward, and then
 *   `settled` was called; git never saw it.
 * - `reported`: git reported, `settled` was called with these results.
 * - `unreported`: git ended without a report and `settled` was not called; the refs tell
 *   what took effect. `clean` when the client had not asked for one; otherwise git was
 *   ended, and the answer is cut short.
 */
export type PushOutcome =
  | { kind: 'nothing' }
  | { kind: 'refused'; updates: RefUpdate[] }
  | { kind: 'reported'; updates: RefUpdate[]; results: RefResult[] }
  | { kind: 'unreported'; updates: RefUpdate[]; clean: boolean };

export interface PushDeps {
  door: GitDoor;
  readers: ObjectReaders;
  slots: Slots;
  limits: GitLimits;
  logger: Logger;
  countRefs(path: string): Promise<number>;
  /** Removes what killed processes have left in a repository so far; never what is newer than the call. */
  removeLeftovers(path: string): Promise<RecoveryAction[]>;
  /** Repositories where a push was killed and its leftovers still lie. */
  untidy: Set<string>;
}

const noRef = /^0+$/;

/**
 * Receives one push: the second half of the protocol, after the ref advertisement.
 * The commands are read and judged here before git starts (DESIGN §2).
 *
 * Refuses `bad_push`, `bad_packet`, `push_head_too_large`, `push_stalled`, `signed_push`,
 * `git_busy` when no slot came free, and what the observer's `decide` throws; all of them
 * before anything is written to `output`. A push refused by policy or by the observer is
 * no error: the client gets a report. Once git runs, nothing is thrown.
 */
export async function receivePack(deps: PushDeps, request: PushRequest): Promise<PushOutcome> {
  const { path, input, output, signal, observer, stallMs = deps.limits.stallMs } = request;
  expectErrors(input);
  expectErrors(output);
  const head = await readPushHead(input, { maxBytes: deps.limits.maxPushHeadBytes, quietMs: stallMs, signal });
  if (head === null) return { kind: 'nothing' };
  const updates = head.updates.map(({ ref, oldId, newId }) => ({ ref, oldId, newId }));
  const refuse = async (refused: RefusedUpdate[]): Promise<PushOutcome> => {
    await send(output, new ReportWriter(head.capabilities).refusal(refused));
    // The reason is on its way already; the client reads it once its pack is sent.
    if (hasPack(head)) await drain(input, deps.limits.maxDrainBytes, drainQuietMs);
    return { kind: 'refused', updates };
  };

  const refused = await refusePush(head, deps.limits, () => deps.countRefs(path));
  if (refused !== null) return refuse(refused);

  // The slot comes before the journal: a push that finds no slot leaves no trace.
  const release = await deps.slots.take({ repository: path, client: request.client }, signal);
  try {
    const verdict = await observer.decide({ updates, options: head.options });
    if (!verdict.accept) {
      release();
      return await refuse(head.updates.map((update) => ({ update, reason: verdict.reason })));
    }
    const { broken, unjudged } = await judgeMoves(deps, { path, input, signal, stallMs }, head, verdict.onlyForward ?? []);
    if (broken.length === 0) return await runAndTidy(deps, request, head, { remarks: verdict.remarks ?? [], unjudged });
    release();
    const reasons = new Map(broken.map(({ ref, reason }) => [ref, reason]));
    const broke = head.updates.map((update) => ({ update, reason: reasons.get(update.ref) ?? 'another ref of this push was refused' }));
    await settle(deps, observer, broke.map(({ update: { ref }, reason }) => ({ ref, ok: false, reason })));
    return await refuse(broke);
  } finally {
    release();
  }
}

/** On what terms git gets a push. */
interface PushTerms {
  remarks: string[];
  unjudged: ForwardRule[];
}

/** Tells the observer, whose failure must not cost the client its report. */
async function settle({ logger }: PushDeps, observer: PushObserver, results: RefResult[]): Promise<void> {
  await observer.settled(results).catch((error: unknown) => logger.error('push.settle_failed', { error }));
}

/**
 * A git that was killed leaves its locks and half a pack; a lock would block its branch
 * until the next start. They are removed as soon as no other push to the repository runs.
 */
async function runAndTidy(deps: PushDeps, request: PushRequest, head: PushHead, terms: PushTerms): Promise<PushOutcome> {
  const { slots, untidy, logger } = deps;
  const outcome = await runGit(deps, request, head, terms);
  if (outcome.kind === 'unreported' && !outcome.clean) untidy.add(request.path);
  if (untidy.has(request.path) && slots.inUseFor(request.path) === 1) {
    untidy.delete(request.path);
    await deps.removeLeftovers(request.path).then(
      (actions) => logger.warn('push.leftovers_removed', { path: request.path, actions }),
      (error: unknown) => logger.error('push.leftovers_stay', { path: request.path, error }),
    );
  }
  return outcome;
}

/** How long git may take to finish when its client has left. */
const patienceMs = 5_000;

/** Silence after which a refused push counts as sent: some clients never end their side. */
const drainQuietMs = 10_000;

/** Only deletions come without a pack; over SSH the stream then stays open. */
const hasPack = ({ updates }: PushHead): boolean => updates.some(({ newId }) => !noRef.test(newId));

async function runGit(
  deps: PushDeps,
  request: PushRequest,
  head: PushHead,
  { remarks, unjudged }: PushTerms,
): Promise<PushOutcome> {
  const { limits, logger } = deps;
  const { input, output, signal, observer, stallMs = limits.stallMs } = request;
  const updates = head.updates.map(({ ref, oldId, newId }) => ({ ref, oldId, newId }));
  const writer = new ReportWriter(head.capabilities);
  const reader = new ReportReader(writer.usesSideBand);
  let results: RefResult[] | null = null;
  const reported = async (): Promise<void> => {
    results = reader.results(head.updates);
    // The journal is settled before the client hears "ok". It costs one write beside
    // git's own last steps, and whoever acts on the acknowledgement (reads the page,
    // pushes again, waits for a build) finds the push recorded. Were it the other way
    // round, a crash in between would leave acknowledged pushes to be guessed from refs
    // that later pushes have moved on. When settling fails the client still gets the
    // report: the refs have moved, and the next start settles by them.
    await settle(deps, observer, results);
  };

  const git = deps.door.start({
    // What could not be judged beforehand git refuses itself, for every branch of the push.
    argv: [...(unjudged.length > 0 ? ['-c', 'receive.denyNonFastForwards=true'] : []), 'receive-pack', '--stateless-rpc', request.path],
    protocol: request.protocol,
    timeLimitMs: limits.transferMs,
    takesInput: true,
  });
  const stdin = git.stdin!;
  for (const bytes of head.bytes) stdin.write(bytes);
  const flow = startFlow(input, stdin, true);

  // A push is not killed when its client leaves, but cut off: git then sees a pack that
  // ends too early, tidies up and reports, or finishes what it has whole. Only a git
  // that takes long over it is ended.
  let inputError: unknown = null;
  let patience: NodeJS.Timeout | undefined;
  const cutOff = (reason: StopReason) => {
    if (patience !== undefined) return;
    flow.stop();
    stdin.end();
    patience = setTimeout(() => git.stop(reason), patienceMs);
  };
  const onGone = () => cutOff('aborted');
  const onInputError = (error: unknown) => {
    inputError = error;
    cutOff('input_failed');
  };
  const onInputClose = () => {
    if (!input.readableEnded) onGone();
  };
  input.on('error', onInputError).on('close', onInputClose);
  signal.addEventListener('abort', onGone);
  // It may have broken while the push waited for its slot and its verdict.
  if (input.errored) onInputError(input.errored);
  else if (input.destroyed) onInputClose();
  else if (signal.aborted) onGone();
  const waitsForPack = () => !input.readableEnded && !stdin.destroyed && !stdin.writableNeedDrain && !reader.isComplete;
  const endWatch = watchForStall(
    { stallMs, leastBytes: leastBytesIn(stallMs) },
    () => output.writableNeedDrain || waitsForPack(),
    () => flow.bytes,
    () => cutOff('stalled'),
  );

  let exit: GitExit;
  try {
    for await (const chunk of git.stdout!) {
      await send(output, reader.push(chunk as Buffer));
      if (!reader.isComplete || results !== null) continue;
      await reported();
      const why = isDomainError(inputError) ? [inputError.message] : [];
      const stopped = unjudged.filter(({ ref }) => results?.some((result) => result.ref === ref && !result.ok));
      why.push(...stopped.map(({ reason }) => reason));
      await send(output, Buffer.concat([writer.remarks([...why, ...remarks]), reader.release()]));
    }
  } catch (error) {
    // Unreadable output means a broken git; what it did shows in the refs.
    if (isDomainError(error)) logger.error('push.report_unreadable', { error });
    git.stop('aborted');
  } finally {
    exit = await git.exited;
    endWatch();
    clearTimeout(patience);
    flow.stop();
    input.off('error', onInputError).off('close', onInputClose);
    signal.removeEventListener('abort', onGone);
  }

  if (results !== null) {
    const accepted = (results as RefResult[]).some(({ ok }) => ok);
    // A pack that git gave up on is still arriving, unless we gave up on its client.
    if (!accepted && hasPack(head) && patience === undefined) await drain(input, limits.maxDrainBytes, drainQuietMs);
    return { kind: 'reported', updates, results };
  }
  const clean = exit.code === 0 && exit.stoppedBy === null;
  if (!clean) {
    logger.warn('push.unreported', { path: request.path, ...exit, inputError, complaint: git.complaint() });
  }
  await send(output, Buffer.concat([reader.release(), ...(clean ? [] : [writer.failure('The push was interrupted.')])]));
  return { kind: 'unreported', updates, clean };
}
