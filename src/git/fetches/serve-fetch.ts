import type { Readable, Writable } from 'node:stream';
import { internal, invalid, isDomainError } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import type { GitRunner, GitProcess, StopReason } from '../processes/git-runner.ts';
import type { ReusedPipes } from '../spawner/reused-pipe.ts';
import { leastBytesIn, startFlow, watchForStall } from '../transfer.ts';
import type { Flow } from '../transfer.ts';

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

export interface ServeDeps {
  door: GitRunner;
  pipes: ReusedPipes;
  limits: GitLimits;
}

/**
 * Lets git serve one request, or one conversation, between the client's streams. For a
 * caller that holds a slot.
 * @param memoryLimitBytes most memory that git may hold; without it as much as the repository takes
 * Refuses as `uploadPack` does.
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
    git = deps.door.start({
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
    throw failure(inputError, code, stoppedBy, git.stderrText());
  }
  return { exitCode: code ?? 1, cutShort: isCut || code === null || stoppedBy !== null, bytes: answered.bytes };
}

/** git's words for a repository that it could not read, as opposed to a request that it could not. */
const ourFault =
  /git repository|ownership|unable to|cannot |could not|failed|corrupt|bad object|missing|memory|too many open/i;

/** What a fetch is refused with that was never begun to be answered. */
export function failure(
  inputError: Error | null,
  code: number | null,
  stoppedBy: string | null,
  complaint: string,
): Error {
  if (isDomainError(inputError)) return inputError;
  const cause = { code, stoppedBy, complaint, inputError };
  if (stoppedBy === 'stalled') return invalid('fetch_stalled', 'The request stopped coming.', { cause });
  if (inputError === null && (stoppedBy !== null || complaint === '' || ourFault.test(complaint))) {
    return internal('git failed to answer a fetch', { cause });
  }
  return invalid('bad_fetch', 'git could not read this request.', { cause });
}
