import type { Readable, Writable } from 'node:stream';
import { internal, invalid, isDomainError } from '../kernel/index.ts';
import type { GitLimits } from './limits.ts';
import type { GitDoor, GitProcess, StopReason } from './process.ts';
import type { ReusedPipes } from './reused-pipe.ts';
import type { Slots } from './slots.ts';
import { expectErrors, leastBytesIn, startFlow, watchForStall } from './transfer.ts';
import type { Flow } from './transfer.ts';

export interface UploadRequest {
  path: string;
  /** The client's `Git-Protocol` or `GIT_PROTOCOL`. */
  protocol?: string | null | undefined;
  input: Readable;
  /** Left open: the caller ends it, or breaks it when the answer was cut short. */
  output: Writable;
  /** Whether `output` is done with bytes when it calls a write's callback: true of an HTTP answer, not of a transform. */
  takesBytesAtOnce?: boolean;
  /** One request and one answer (HTTP), or a whole conversation (SSH). */
  stateless: boolean;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
  /** Who fetches, for fair slots: any stable text. */
  client?: string | undefined;
  /** Overrides how long the client may stall, in milliseconds. */
  stallMs?: number | undefined;
}

export interface UploadOutcome {
  /** Of git; 1 when it was ended. */
  exitCode: number;
  /** Whether the answer was cut short. Otherwise git itself has told the client what was wrong, if anything. */
  cutShort: boolean;
  /** Bytes written to the client. */
  bytes: number;
}

export interface UploadDeps {
  door: GitDoor;
  pipes: ReusedPipes;
  /** For clones and fetches. */
  slots: Slots;
  /** For questions about refs. */
  shortSlots: Slots;
  limits: GitLimits;
}

/**
 * Serves one fetch or clone.
 *
 * Refuses `git_busy`; `fetch_stalled`; `bad_fetch` for a request that git could not read and
 * `internal` when git failed, both only while nothing was written to `output`;
 * what `input` fails with.
 */
export async function uploadPack(deps: UploadDeps, request: UploadRequest): Promise<UploadOutcome> {
  const { path, input, output, signal, stateless } = request;
  expectErrors(input);
  expectErrors(output);
  const short = stateless && (await asksForRefs(request, request.stallMs ?? deps.limits.stallMs));
  const release = await (short ? deps.shortSlots : deps.slots).take({ repository: path, client: request.client }, signal);
  try {
    const argv = ['upload-pack', '--strict', ...(stateless ? ['--stateless-rpc'] : []), path];
    return await serve(deps, request, argv);
  } finally {
    release();
  }
}

export type ArchiveRequest = Omit<UploadRequest, 'stateless' | 'protocol'>;

/**
 * Serves `git archive --remote`. Same contract as {@link uploadPack}.
 */
export async function uploadArchive(deps: UploadDeps, request: ArchiveRequest): Promise<UploadOutcome> {
  expectErrors(request.input);
  expectErrors(request.output);
  const release = await deps.slots.take({ repository: request.path, client: request.client }, request.signal);
  try {
    return await serve(deps, { ...request, stateless: false }, ['upload-archive', request.path]);
  } finally {
    release();
  }
}

async function serve(deps: UploadDeps, request: UploadRequest, argv: string[]): Promise<UploadOutcome> {
  const { input, output, signal, stateless, stallMs = deps.limits.stallMs } = request;
  const pipe = request.takesBytesAtOnce === true ? await deps.pipes.open(output) : null;
  let git: GitProcess;
  try {
    git = deps.door.start({
      argv,
      protocol: request.protocol,
      timeLimitMs: deps.limits.transferMs,
      takesInput: true,
      output: pipe?.childEnd,
      signal,
      yields: true,
    });
  } catch (error) {
    pipe?.stop();
    throw error;
  } finally {
    pipe?.childEnd.destroy();
  }
  const stdin = git.stdin!;
  const asked = startFlow(input, stdin, true);
  const answered: Flow = pipe ?? startFlow(git.stdout!, output, false);

  let isCut = false;
  let inputError: Error | null = null;
  const cut = (reason: StopReason) => {
    isCut = true;
    git.stop(reason);
    answered.stop();
  };
  const onInputError = (error: Error) => {
    inputError = error;
    cut('input_failed');
  };
  const onGone = () => {
    if (!output.writableFinished) cut('aborted');
  };
  input.on('error', onInputError);
  output.on('close', onGone);
  const moved = () => asked.bytes + answered.bytes;
  const waitsForRequest = () => !input.readableEnded && !stdin.destroyed && !stdin.writableNeedDrain;
  const waitsForClient = () => output.writableNeedDrain || (stateless && waitsForRequest());
  const onStall = () => cut('stalled');
  const watches = [watchForStall({ stallMs, leastBytes: leastBytesIn(stallMs) }, waitsForClient, moved, onStall)];
  // In a conversation the input never ends, so nobody can tell git's thinking from
  // the client's; but git says something every few seconds.
  if (!stateless) watches.push(watchForStall({ stallMs, leastBytes: 1 }, () => true, moved, onStall));
  if (input.errored) onInputError(input.errored);
  else if ((input.destroyed && !input.readableEnded) || output.destroyed) cut('aborted');

  const { code, stoppedBy } = await git.exited;
  if (stoppedBy !== null) answered.stop();
  await answered.ended;
  for (const endWatch of watches) endWatch();
  asked.stop();
  answered.stop();
  input.off('error', onInputError);
  output.off('close', onGone);
  if (answered.bytes === 0 && code !== 0) {
    signal.throwIfAborted();
    throw failure(inputError, code, stoppedBy, git.complaint());
  }
  return { exitCode: code ?? 1, cutShort: isCut || code === null || stoppedBy !== null, bytes: answered.bytes };
}

/** git's words for a repository that it could not read, as opposed to a request that it could not. */
const ourFault = /git repository|ownership|unable to|cannot |could not|failed|corrupt|bad object|missing|memory|too many open/i;

function failure(inputError: Error | null, code: number | null, stoppedBy: string | null, complaint: string): Error {
  if (isDomainError(inputError)) return inputError;
  const cause = { code, stoppedBy, complaint, inputError };
  if (stoppedBy === 'stalled') return invalid('fetch_stalled', 'The request stopped coming.', { cause });
  if (inputError === null && (stoppedBy !== null || complaint === '' || ourFault.test(complaint))) {
    return internal('git failed to answer a fetch', { cause });
  }
  return invalid('bad_fetch', 'git could not read this request.', { cause });
}

/**
 * Whether a stateless request only lists refs. Such a question is short and must not
 * wait behind clones.
 */
async function asksForRefs({ protocol, input, signal }: UploadRequest, quietMs: number): Promise<boolean> {
  if (protocol !== 'version=2') return false;
  const first = await peek(input, quietMs, signal);
  return first !== null && first.toString('latin1', 4, 19) === 'command=ls-refs';
}

/** The first chunk of a stream, which stays in it; null when it has none. */
function peek(input: Readable, quietMs: number, signal: AbortSignal): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(quiet);
      input.pause();
      input.off('data', onData).off('end', onEnd).off('error', onError).off('close', onEnd);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    // Put back at once: a promise later, the stream may have ended.
    const onData = (chunk: Buffer) =>
      settle(() => {
        input.unshift(chunk);
        resolve(chunk);
      });
    const onEnd = () => settle(() => resolve(null));
    const onError = (error: Error) => settle(() => reject(error));
    const onAbort = () => settle(() => reject(signal.reason));
    const quiet = setTimeout(() => settle(() => reject(invalid('fetch_stalled', 'The request stopped coming.'))), quietMs);
    if (signal.aborted) return onAbort();
    if (input.readableEnded || input.destroyed) return onEnd();
    input.on('data', onData).on('end', onEnd).on('error', onError).on('close', onEnd);
    signal.addEventListener('abort', onAbort);
    input.resume();
  });
}
