import { encodePacket, flushPacket } from '../pkt-line.ts';
import type { PushHead, RawUpdate } from './push-head.ts';

/** Commands per chunk, some 16 KiB, so that a hundred thousand of them are never in memory a second time. */
const commandsPerPiece = 128;

/**
 * Encodes the head of a push for git: only the permitted commands, with everything else that the client sent before
 * its pack.
 * @param updates at least one
 */
export function* encodePushHead(
  { raw, capabilities }: Pick<PushHead, 'raw' | 'capabilities'>,
  updates: readonly RawUpdate[],
): Generator<Buffer> {
  if (raw.shallow.length > 0) yield Buffer.concat(raw.shallow.map((line) => latin1Packet(line)));
  for (let start = 0; start < updates.length; start += commandsPerPiece) {
    const lines = updates.slice(start, start + commandsPerPiece).map(({ oldId, newId, rawRef }, at) => {
      // git looks for a NUL after the name, and parses what follows as words with spaces around them.
      const tail = start + at === 0 ? `\0 ${raw.capabilities}` : '';
      return latin1Packet(`${oldId} ${newId} ${rawRef}${tail}`);
    });
    yield Buffer.concat(lines);
  }
  yield flushPacket;
  if (!capabilities.has('push-options')) return;
  yield Buffer.concat([...raw.options.map((line) => latin1Packet(line)), flushPacket]);
}

/** @param text one character per byte */
const latin1Packet = (text: string): Buffer => encodePacket(Buffer.from(text, 'latin1'));
