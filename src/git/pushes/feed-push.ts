import type { GitProcess, StopReason } from '../processes/process.ts';
import type { PushRequest } from './push.ts';
import type { PushHead } from './push-head.ts';
import { leastBytesIn, startFlow, watchForStall } from '../transfer.ts';

/** The way of a push from its client to git. */
export interface PushFeed {
  /** Whether git was left with what it had: the client left, failed or stalled. */
  readonly isCutOff: boolean;
  /** Bytes of the push that came so far. */
  readonly bytes: number;
  /** What the client's stream failed with. */
  readonly error: unknown;
  end(): void;
}

/** How long git may take to finish when its client has left. */
const patienceMs = 5_000;

/**
 * Copies a push into git: what was read of it already, then the rest as it comes.
 *
 * A push is not killed when its client leaves, but cut off: git then sees a pack that
 * ends too early, tidies up and reports, or finishes what it has whole. Only a git that
 * takes long over it is ended.
 *
 * @param isDone whether git needs no more of the client
 */
export function feedPush(
  git: GitProcess,
  { input, output, signal }: PushRequest,
  head: PushHead,
  { stallMs, isDone }: { stallMs: number; isDone: () => boolean },
): PushFeed {
  const stdin = git.stdin!;
  for (const bytes of head.bytes) stdin.write(bytes);
  const flow = startFlow(input, stdin, true);

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
  // It may have broken while the push waited for its slot and its verdict.
  if (input.errored) onError(input.errored);
  else if (input.destroyed) onClose();
  else if (signal.aborted) onGone();

  const waitsForPack = () => !input.readableEnded && !stdin.destroyed && !stdin.writableNeedDrain && !isDone();
  const endWatch = watchForStall(
    { stallMs, leastBytes: leastBytesIn(stallMs) },
    () => output.writableNeedDrain || waitsForPack(),
    () => flow.bytes,
    () => cutOff('stalled'),
  );
  return {
    get isCutOff() {
      return patience !== undefined;
    },
    get bytes() {
      return head.packBytes + flow.bytes;
    },
    get error() {
      return failure;
    },
    end() {
      endWatch();
      clearTimeout(patience);
      flow.stop();
      input.off('error', onError).off('close', onClose);
      signal.removeEventListener('abort', onGone);
    },
  };
}
