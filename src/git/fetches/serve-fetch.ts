import type { Readable, Writable } from 'node:stream';
import { internal, invalid, isDomainError, startFlow } from '../../kernel/index.ts';
import type { Flow } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import type { GitRunner, GitProcess, StopReason } from '../processes/git-runner.ts';
import type { ReusedPipes } from '../spawner/buffer-reusing-pipe.ts';
import { leastBytesIn, watchForStall } from '../transfer.ts';

export interface UploadRequest {
  path: string;
  /** The client's `Git-Protocol` or `GIT_PROTOCOL`. */
  protocol?: string | null | undefined;
  input: Readable;
  /** Left open: the caller ends it, or destroys it if the response was cut short. */
  output: Writable;
  /**
   * Whether `output` no longer uses a write's bytes when it calls the callback: true for HTTP responses, not for
   * transforms.
   */
  takesBytesAtOnce?: boolean;
  /** True for one request and one response (HTTP), false for a whole session (SSH). */
  stateless: boolean;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** Identifies the client for fair slots: any stable text. */
  client?: string | undefined;
  /** Overrides the time limit of a stalled client, in milliseconds. */
  stallMs?: number | undefined;
}

export interface UploadOutcome {
  /** Exit code of git; 1 when it was killed. */
  exitCode: number;
  /** Whether the response was cut short. Otherwise git itself has reported any error to the client. */
  cutShort: boolean;
  /** Bytes written to the client. */
  bytes: number;
}

export interface ServeDeps {
  runner: GitRunner;
  pipes: ReusedPipes;
  limits: GitLimits;
}

/**
 * Runs git for one request or one session between the client's streams. The caller holds a slot. Throws the same errors
 * as `uploadPack`.
 * @param memoryLimitBytes memory limit of git; omitted for none
 */
export async function serve(
  deps: ServeDeps,
  request: UploadRequest,
  argv: string[],
  memoryLimitBytes?: number,
): Promise<UploadOutcome> {
  const { input, output, signal, stateless, stallMs = deps.limits.stallMs } = request;
  const pipe = request.takesBytesAtOnce === true ? await deps.pipes.open(output) : null;
  let git: GitProcess;
  try {
    git = deps.runner.start({
      argv,
      protocol: request.protocol,
      timeLimitMs: deps.limits.transferMs,
      takesInput: true,
      output: pipe?.childEnd,
      signal,
      yields: true,
      ...(memoryLimitBytes === undefined ? {} : { memoryLimitBytes }),
    });
  } catch (error) {
    pipe?.stop();
    pipe?.childEnd.destroy();
    throw error;
  }
  const stdin = git.stdin!;
  const requestFlow = startFlow(input, stdin, true);
  const sent: Flow = pipe ?? startFlow(git.stdout!, output, false);

  let isCut = false;
  let inputError: Error | null = null;
  const cut = (reason: StopReason) => {
    isCut = true;
    git.stop(reason);
    sent.stop();
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
  const moved = () => requestFlow.bytes + sent.bytes;
  const waitsForRequest = () => !input.readableEnded && !stdin.destroyed && !stdin.writableNeedDrain;
  const waitsForClient = () => output.writableNeedDrain || (stateless && waitsForRequest());
  const onStall = () => cut('stalled');
  const watches = [watchForStall({ stallMs, leastBytes: leastBytesIn(stallMs) }, waitsForClient, moved, onStall)];
  // In a session the input never ends, so a busy git looks like a silent client; but git writes progress every few
  // seconds.
  if (!stateless) watches.push(watchForStall({ stallMs, leastBytes: 1 }, () => true, moved, onStall));
  if (input.errored) onInputError(input.errored);
  else if ((input.destroyed && !input.readableEnded) || output.destroyed) cut('aborted');

  const { code, stoppedBy } = await git.exited;
  if (stoppedBy !== null) sent.stop();
  await sent.ended;
  for (const endWatch of watches) endWatch();
  requestFlow.stop();
  sent.stop();
  input.off('error', onInputError);
  output.off('close', onGone);
  if (sent.bytes === 0 && code !== 0) {
    signal.throwIfAborted();
    throw failure(inputError, code, stoppedBy, git.stderrText());
  }
  return { exitCode: code ?? 1, cutShort: isCut || code === null || stoppedBy !== null, bytes: sent.bytes };
}

/** git's error messages about an unreadable repository, as opposed to an invalid request. */
const ourFault =
  /git repository|ownership|unable to|cannot |could not|failed|corrupt|bad object|missing|memory|too many open/i;

/** The error for a fetch that failed before the first byte of its response. */
export function failure(
  inputError: Error | null,
  code: number | null,
  stoppedBy: string | null,
  errorText: string,
): Error {
  if (isDomainError(inputError)) return inputError;
  const cause = { code, stoppedBy, errorText, inputError };
  if (stoppedBy === 'stalled') return invalid('fetch_stalled', 'The request was not received in time.', { cause });
  if (inputError === null && (stoppedBy !== null || errorText === '' || ourFault.test(errorText))) {
    return internal('git failed to answer a fetch', { cause });
  }
  return invalid('bad_fetch', 'git could not read this request.', { cause });
}
