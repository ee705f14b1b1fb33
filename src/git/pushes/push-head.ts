import type { Readable } from 'node:stream';
import { invalid } from '../../kernel/index.ts';
import { PacketReader } from '../pkt-line.ts';

/** One command of a push. Ids are full hex object ids, all zero for "no ref". */
export interface RefUpdate {
  ref: string;
  oldId: string;
  newId: string;
}

/** A command as it came over the wire: a ref name is bytes. */
export interface RawUpdate extends RefUpdate {
  rawRef: Buffer;
}

/** What a push says before its pack. */
export interface PushHead {
  updates: RawUpdate[];
  options: string[];
  capabilities: ReadonlySet<string>;
  /** Everything read so far, for git: this head, and perhaps the beginning of the pack. */
  bytes: Buffer[];
  /** How many of these, at the end, belong to the pack. */
  packBytes: number;
}

const noRef = /^0+$/;

/** Only deletions come without a pack; over SSH the stream then stays open. */
export const hasPack = ({ updates }: PushHead): boolean => updates.some(({ newId }) => !noRef.test(newId));

const command = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) ([^]+)$/;

/**
 * Reads commands and push options from the beginning of a push, and leaves the
 * stream paused behind them.
 *
 * @param bounds how long the head may be, and how long the client may be silent, in milliseconds
 * @returns null when the client sent nothing but a flush or the end: git's probe
 *   before a large push, or a push without anything to do
 * Refuses `bad_packet`, `bad_push`, `push_head_too_large`, `push_stalled`, `signed_push`.
 */
export function readPushHead(
  input: Readable,
  { maxBytes, quietMs, signal }: { maxBytes: number; quietMs: number; signal: AbortSignal },
): Promise<PushHead | null> {
  const parser = new PushHeadParser();
  const bytes = new ByteStore();
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(quiet);
      input.pause();
      input.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const quiet = setTimeout(() => settle(() => reject(invalid('push_stalled', 'The push stopped coming.'))), quietMs);
    const onData = (chunk: Buffer) => {
      quiet.refresh();
      bytes.add(chunk);
      try {
        if (parser.push(chunk))
          return settle(() => resolve(parser.isEmpty ? null : { ...parser.result(), bytes: bytes.all() }));
      } catch (error) {
        return settle(() => reject(error));
      }
      if (bytes.size > maxBytes)
        settle(() => reject(invalid('push_head_too_large', 'The push has too many commands.')));
    };
    const onEnd = () => settle(() => (bytes.size === 0 ? resolve(null) : reject(cutShort())));
    const onError = (error: Error) => settle(() => reject(error));
    const onClose = () => settle(() => reject(cutShort()));
    const onAbort = () => settle(() => reject(signal.reason));
    if (signal.aborted) return onAbort();
    if (input.readableEnded || input.destroyed) return onEnd();
    input.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
    signal.addEventListener('abort', onAbort);
    // Whoever read before us may have left it paused.
    input.resume();
  });
}

const cutShort = () => invalid('bad_push', 'The push ended before its list of refs was complete.');

/** Keeps what arrives, without keeping a thousand objects for a thousand single bytes. */
class ByteStore {
  readonly #whole: Buffer[] = [];
  #block = Buffer.alloc(0);
  #used = 0;
  size = 0;

  add(chunk: Buffer): void {
    this.size += chunk.length;
    if (chunk.length > this.#block.length - this.#used) this.#closeBlock();
    if (chunk.length > this.#block.length / 4) {
      this.#closeBlock();
      this.#whole.push(chunk);
    } else {
      this.#used += chunk.copy(this.#block, this.#used);
    }
  }

  all(): Buffer[] {
    return [...this.#whole, this.#block.subarray(0, this.#used)].filter((part) => part.length > 0);
  }

  #closeBlock(): void {
    if (this.#used > 0) this.#whole.push(this.#block.subarray(0, this.#used));
    this.#block = Buffer.allocUnsafeSlow(16 * 1024);
    this.#used = 0;
  }
}

/** Commands up to the first flush; push options up to the second, when they were negotiated. */
class PushHeadParser {
  readonly #packets = new PacketReader();
  readonly #updates: RawUpdate[] = [];
  readonly #options: string[] = [];
  readonly #capabilities = new Set<string>();
  #section: 'commands' | 'options' | 'done' = 'commands';

  get isEmpty(): boolean {
    return this.#updates.length === 0;
  }

  result() {
    return {
      updates: this.#updates,
      options: this.#options,
      capabilities: this.#capabilities,
      packBytes: this.#packets.restBytes,
    };
  }

  /** Whether the head is complete. */
  push(chunk: Buffer): boolean {
    this.#packets.push(chunk);
    while (this.#section !== 'done') {
      const packet = this.#packets.next();
      if (packet === null) return false;
      if (packet.kind === 'flush') this.#endSection();
      else if (packet.kind !== 'data') throw invalid('bad_push', 'The push has a mark that does not belong there.');
      else if (this.#section === 'commands') this.#readCommand(packet.data);
      else this.#options.push(withoutNewline(packet.data).toString('utf8').toWellFormed());
    }
    return true;
  }

  #endSection(): void {
    const hasOptions = this.#section === 'commands' && !this.isEmpty && this.#capabilities.has('push-options');
    this.#section = hasOptions ? 'options' : 'done';
  }

  #readCommand(packet: Buffer): void {
    const nul = packet.indexOf(0);
    const line = withoutNewline(nul === -1 ? packet : packet.subarray(0, nul));
    if (nul !== -1) {
      for (const word of packet
        .toString('utf8', nul + 1)
        .trim()
        .split(' '))
        this.#capabilities.add(word);
    }
    // One character per byte, so that any name fits the pattern.
    const text = line.toString('latin1');
    if (text.startsWith('shallow ')) return;
    if (text === 'push-cert') throw invalid('signed_push', 'Signed pushes are not supported.');
    const [, oldId, newId, name] = command.exec(text) ?? [];
    if (oldId === undefined || newId === undefined || name === undefined || oldId.length !== newId.length) {
      throw invalid('bad_push', 'The push has a line that is not a ref update.');
    }
    const rawRef = Buffer.from(name, 'latin1');
    this.#updates.push({ ref: rawRef.toString('utf8'), oldId, newId, rawRef });
  }
}

function withoutNewline(line: Buffer): Buffer {
  return line.at(-1) === 0x0a ? line.subarray(0, -1) : line;
}
