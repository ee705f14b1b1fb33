import { Readable } from 'node:stream';
import { encodePushHead } from './encode-push-head.ts';
import type { GitProcess, StopReason } from '../processes/git-runner.ts';
import type { PushRequest } from './push.ts';
import { hasPack } from './push-head.ts';
import type { PushHead, RawUpdate } from './push-head.ts';
import { leastBytesIn, startFlow, watchForStall } from '../transfer.ts';
import type { Flow } from '../transfer.ts';

/** The transfer of a push from its client to git. */
export interface ForwardedPack {
  /** Whether git's input was cut off: the client left, failed or stalled. */
  readonly isCutOff: boolean;
  /** Bytes of the push that were received so far. */
  readonly bytes: number;
  /** What the client's stream failed with. */
  readonly error: unknown;
  /** Stops reading; the rest of the stream is left to another reader. */
  leaveInput(): void;
  end(): void;
}

function* beginningOf(head: PushHead, updates: readonly RawUpdate[], takesPack: boolean): Generator<Buffer> {
  yield* encodePushHead(head, updates);
  if (takesPack) yield* head.pack;
}

/** How long git may take to finish after its client has left. */
const patienceMs = 5_000;

/**
 * Copies a push to git: the permitted commands, the part of the pack that was read already, then the rest as it
 * arrives.
 * When its client leaves, git is not killed but its input ends: git then sees a pack that ends too early, cleans up
 * and reports, or finishes a complete one. It is killed only when that takes too long.
 * @param updates at least one; when they are all deletions git gets no pack, whatever the client sends
 * @param isDone whether git needs no more input
 */
export function forwardPack(
  git: GitProcess,
  { input, output, signal }: PushRequest,
  head: PushHead,
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
    flow = packFlow = startFlow(input, stdin, true);
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
