import type { Writable } from 'node:stream';
import type { GitLimits } from '../limits.ts';
import { drain, send } from '../transfer.ts';
import type { PushRequest } from './push.ts';

/**
 * The least that a pipe holds wherever git runs, with room for what git puts around it: so much a client
 * can be told while it is still sending.
 */
const pipeBytes = 8 * 1024;

/** Silence, or as good as, after which a client counts as gone: git itself thinks for less between two pieces of a pack. */
const quietMs = 60_000;

export interface PushAnswer {
  /** All that there is to say. */
  whole: Buffer;
  /** The gist, for a client that does not come to its end. Shorter than what a pipe holds. */
  brief: Buffer;
  /** Whether the client may still be sending a pack. */
  expectsMore: boolean;
}

/**
 * Gives a client its answer so that it can read it: every report goes this way.
 *
 * Over HTTP (`stateless`) the request is read to its end first and thrown away. git's client reads the answer
 * through pipes whose other end is busy with sending the pack; a report that does not fit into them would
 * stop both for ever. What never ends, or crawls, gets a brief answer that does fit, and is left.
 * Over SSH the client sends and reads at the same time, and may keep its side open for ever: both are done
 * at once.
 */
export async function answerPush(
  {
    input,
    output,
    stateless = false,
    stallMs = quietMs,
  }: Pick<PushRequest, 'input' | 'output' | 'stateless' | 'stallMs'>,
  { maxDrainBytes, maxDrainMs }: Pick<GitLimits, 'maxDrainBytes' | 'maxDrainMs'>,
  { whole, brief, expectsMore }: PushAnswer,
): Promise<void> {
  const bounds = { maxBytes: maxDrainBytes, maxMs: maxDrainMs, stallMs: Math.min(stallMs, quietMs) };
  if (!stateless) {
    await Promise.all([sendInPieces(output, whole, bounds.stallMs), expectsMore && drain(input, bounds)]);
    return;
  }
  const hasEnded = await drain(input, bounds);
  await sendInPieces(output, hasEnded || whole.length <= pipeBytes ? whole : brief, bounds.stallMs);
}

/** A slow client has its time for each piece, not for all of a report of megabytes. */
const pieceBytes = 64 * 1024;

async function sendInPieces(output: Writable, bytes: Buffer, stallMs: number): Promise<void> {
  for (let start = 0; start < bytes.length; start += pieceBytes)
    await send(output, bytes.subarray(start, start + pieceBytes), stallMs);
}
