import { isAscii } from 'node:buffer';
import type { Readable } from 'node:stream';
import { invalid, noRef } from '../../kernel/index.ts';
import { PacketReader, encodePacket, flushPacket } from '../pkt-line.ts';

/** One command of a push. Ids are full hex object ids, all zero for "no ref". */
export interface RefUpdate {
  ref: string;
  oldId: string;
  newId: string;
}

/** A command as received: a ref name is bytes. */
export interface RawUpdate extends RefUpdate {
  /** The name, one character per byte; usually the same string as `ref`. */
  rawRef: string;
  /** The name from the client, used in its report, if the hook has replaced the ref. */
  clientRef?: string;
}

/** The part of a push before its pack. */
export interface PushHeader {
  updates: RawUpdate[];
  options: string[];
  capabilities: ReadonlySet<string>;
  /** Other lines for git besides the commands, one character per byte. */
  raw: { capabilities: string; shallow: readonly string[]; options: readonly string[] };
  /** The part of the pack that was read already. */
  pack: Buffer[];
  /** Total size of `pack`. */
  packBytes: number;
}

/** A push that only deletes has no pack; over SSH the stream then stays open. */
export const hasPack = ({ updates }: { updates: readonly RefUpdate[] }): boolean =>
  updates.some(({ newId }) => !noRef.test(newId));

const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Parses commands and push options from the beginning of a push, and leaves the stream paused after them. Throws
 * `bad_packet`, `bad_push`, `push_head_too_large`, `push_stalled`, `signed_push`.
 * @param bounds size limit of the head, and time that the client may be silent, in milliseconds
 * @returns null if the client sent nothing but a flush or the end: git's probe before a large push, or a push with
 *   nothing to do
 */
export function readPushHeader(
  input: Readable,
  { maxBytes, quietMs, signal }: { maxBytes: number; quietMs: number; signal: AbortSignal },
): Promise<PushHeader | null> {
  const parser = new PushHeaderParser();
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const finish = (act: () => void) => {
      clearTimeout(quiet);
      input.pause();
      input.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const quiet = setTimeout(
      () => finish(() => reject(invalid('push_stalled', 'The push was not received in time.'))),
      quietMs,
    );
    const onData = (chunk: Buffer) => {
      quiet.refresh();
      bytes += chunk.length;
      try {
        if (parser.push(chunk)) return finish(() => resolve(parser.isEmpty ? null : parser.result()));
      } catch (error) {
        return finish(() => reject(error));
      }
      if (bytes > maxBytes) finish(() => reject(invalid('push_head_too_large', 'The push has too many commands.')));
    };
    const onEnd = () => finish(() => (bytes === 0 ? resolve(null) : reject(cutShort())));
    const onError = (error: Error) => finish(() => reject(error));
    const onClose = () => finish(() => reject(cutShort()));
    const onAbort = () => finish(() => reject(signal.reason));
    if (signal.aborted) return onAbort();
    if (input.readableEnded || input.destroyed) return onEnd();
    input.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
    signal.addEventListener('abort', onAbort);
    // A previous reader may have left the stream paused.
    input.resume();
  });
}

const cutShort = () => invalid('bad_push', 'The push ended before the list of refs was complete.');

/** Parses commands up to the first flush, and push options up to the second when they were negotiated. */
class PushHeaderParser {
  readonly #packets = new PacketReader();
  readonly #updates: RawUpdate[] = [];
  readonly #options: string[] = [];
  readonly #rawOptions: string[] = [];
  readonly #shallow: string[] = [];
  readonly #capabilities: string[] = [];
  #section: 'commands' | 'options' | 'done' = 'commands';

  get isEmpty(): boolean {
    return this.#updates.length === 0;
  }

  result(): PushHeader {
    const capabilities = this.#capabilities.join(' ');
    const rest = this.#packets.takeRest();
    return {
      updates: this.#updates,
      options: this.#options,
      capabilities: this.#capabilitySet(),
      raw: { capabilities, shallow: this.#shallow, options: this.#rawOptions },
      pack: rest.length === 0 ? [] : [rest],
      packBytes: rest.length,
    };
  }

  /** Whether the head is complete. */
  push(chunk: Buffer): boolean {
    this.#packets.push(chunk);
    while (this.#section !== 'done') {
      const packet = this.#packets.next();
      if (packet === null) return false;
      if (packet.kind === 'flush') this.#endSection();
      else if (packet.kind !== 'data') throw invalid('bad_push', 'The push has an unexpected delimiter.');
      else if (this.#section === 'commands') this.#readCommand(packet.data);
      else this.#readOption(withoutNewline(packet.data));
    }
    return true;
  }

  #endSection(): void {
    const hasOptions = this.#section === 'commands' && !this.isEmpty && this.#capabilitySet().has('push-options');
    this.#section = hasOptions ? 'options' : 'done';
  }

  #capabilitySet(): Set<string> {
    return new Set(this.#capabilities.flatMap((text) => Buffer.from(text, 'latin1').toString('utf8').split(' ')));
  }

  #readOption(line: Buffer): void {
    this.#options.push(line.toString('utf8').toWellFormed());
    this.#rawOptions.push(line.toString('latin1'));
  }

  #readCommand(packet: Buffer): void {
    const nul = packet.indexOf(0);
    const line = withoutNewline(nul === -1 ? packet : packet.subarray(0, nul));
    // git accepts capabilities on every line.
    if (nul !== -1) this.#capabilities.push(packet.toString('latin1', nul + 1).trim());
    if (line.toString('latin1', 0, shallowMark.length) === shallowMark) {
      this.#shallow.push(line.toString('latin1'));
      return;
    }
    if (line.toString('latin1') === 'push-cert') throw invalid('signed_push', 'Signed pushes are not supported.');
    this.#updates.push(readUpdate(line));
  }
}

const shallowMark = 'shallow ';

/**
 * Each part is decoded separately: substrings of a decoded line would keep the whole line in memory, and there may be a
 * hundred thousand lines.
 */
function readUpdate(line: Buffer): RawUpdate {
  const first = line.indexOf(0x20);
  const second = line.indexOf(0x20, first + 1);
  // One character per byte, so that any name fits.
  const [oldId, newId] = [line.toString('latin1', 0, first), line.toString('latin1', first + 1, second)];
  const rawRef = line.toString('latin1', second + 1);
  if (!objectId.test(oldId) || !objectId.test(newId) || oldId.length !== newId.length || rawRef === '')
    throw invalid('bad_push', 'The push has a line that is not a ref update.');
  const ref = isAscii(line) ? rawRef : line.toString('utf8', second + 1);
  return { ref, oldId: once(oldId), newId: once(newId), rawRef };
}

/** Most commands of a large push create a ref, so zero ids share one string. */
const zeros = ['0'.repeat(40), '0'.repeat(64)];
const once = (id: string): string => zeros.find((zero) => zero === id) ?? id;

function withoutNewline(line: Buffer): Buffer {
  return line.at(-1) === 0x0a ? line.subarray(0, -1) : line;
}

/** Commands per chunk, some 16 KiB, so that a hundred thousand of them are never in memory a second time. */
const commandsPerWrite = 128;

/**
 * Encodes the head of a push for git: only the permitted commands, with everything else that the client sent before
 * its pack.
 * @param updates at least one
 */
export function* encodePushHeader(
  { raw, capabilities }: Pick<PushHeader, 'raw' | 'capabilities'>,
  updates: readonly RawUpdate[],
): Generator<Buffer> {
  if (raw.shallow.length > 0) yield Buffer.concat(raw.shallow.map((line) => latin1Packet(line)));
  for (let start = 0; start < updates.length; start += commandsPerWrite) {
    const lines = updates.slice(start, start + commandsPerWrite).map(({ oldId, newId, rawRef }, at) => {
      // git looks for a NUL after the name, and parses the rest as words with spaces around them.
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
