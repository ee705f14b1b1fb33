import type { Writable } from 'node:stream';
import type { GitLimits } from '../limits.ts';
import { drain, send } from '../transfer.ts';
import type { PushRequest } from './push.ts';

/** Minimum pipe capacity on every system, less git's framing: this much reaches a client while it is still sending. */
const pipeBytes = 8 * 1024;

/**
 * Time of (almost) no transfer after which a client counts as disconnected: git itself computes for less time between
 * two parts of a pack.
 */
const quietMs = 60_000;

interface PushResponse {
  /** The full response. */
  whole: Buffer;
  /** A short response for a client that does not finish its request. Smaller than a pipe's capacity. */
  brief: Buffer;
  /** Whether the client may still be sending a pack. */
  expectsMore: boolean;
}

/**
 * Sends the response so that the client can read it; all reports are sent this way. Over HTTP (`stateless`) the request
 * is first read to its end and discarded. git's client reads the response through pipes whose other end is busy sending
 * the pack; a report larger than their capacity would deadlock both. A request that never ends, or crawls, gets the
 * brief response that fits. Over SSH the client sends and reads at the same time, and may keep its side open for ever:
 * both are done at once.
 */
export async function sendPushResponse(
  {
    input,
    output,
    stateless = false,
    stallMs = quietMs,
  }: Pick<PushRequest, 'input' | 'output' | 'stateless' | 'stallMs'>,
  { maxDrainBytes, maxDrainMs }: Pick<GitLimits, 'maxDrainBytes' | 'maxDrainMs'>,
  { whole, brief, expectsMore }: PushResponse,
): Promise<void> {
  const bounds = { maxBytes: maxDrainBytes, maxMs: maxDrainMs, stallMs: Math.min(stallMs, quietMs) };
  if (!stateless) {
    await Promise.all([sendInChunks(output, whole, bounds.stallMs), expectsMore && drain(input, bounds)]);
    return;
  }
  const hasEnded = await drain(input, bounds);
  await sendInChunks(output, hasEnded || whole.length <= pipeBytes ? whole : brief, bounds.stallMs);
}

/** Chunk size in bytes: a slow client gets a timeout per chunk instead of one for a report of megabytes. */
const chunkBytes = 64 * 1024;

async function sendInChunks(output: Writable, bytes: Buffer, stallMs: number): Promise<void> {
  for (let start = 0; start < bytes.length; start += chunkBytes)
    await send(output, bytes.subarray(start, start + chunkBytes), stallMs);
}
