import type { Readable } from 'node:stream';
import { invalid } from '../../kernel/index.ts';
import { encodePacket, flushPacket, PacketReader } from '../pkt-line.ts';

const marks = { flush: flushPacket, delimiter: Buffer.from('0001'), end: Buffer.from('0002') } as const;

/** A client's stream of requests and its limits. */
interface RequestStreamOptions {
  input: Readable;
  signal: AbortSignal;
  /** Time limit of silence by the client, in milliseconds. */
  stallMs: number;
  /** Size limit of one request in bytes. */
  maxBytes: number;
}

/**
 * Splits the client's stream into requests; each ends with a flush. Throws `fetch_stalled`, `bad_packet`, and
 * `bad_fetch` if a request is too large or breaks off.
 */
export class RequestStream {
  readonly #options: RequestStreamOptions;
  readonly #packets = new PacketReader();
  #wake = () => {};
  #isOver = false;

  constructor(options: RequestStreamOptions) {
    this.#options = options;
    const { input, signal } = options;
    input.on('data', this.#take).on('end', this.#finish).on('close', this.#finish);
    signal.addEventListener('abort', this.#finish);
    if (input.readableEnded || input.destroyed || signal.aborted) this.#finish();
  }

  /** The bytes of the next complete request; null if the client sends no more. */
  async next(): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    let bytes = 0;
    for (;;) {
      const packet = this.#packets.next();
      if (packet === null) {
        if (this.#isOver) return this.#lastWord(parts);
        await this.#more();
        continue;
      }
      const part = packet.kind === 'data' ? encodePacket(packet.data) : marks[packet.kind];
      bytes += part.length;
      if (bytes > this.#options.maxBytes) throw invalid('bad_fetch', 'The request is too large.');
      if (packet.kind === 'flush' && parts.length === 0) return null;
      parts.push(part);
      if (packet.kind === 'flush') return Buffer.concat(parts);
    }
  }

  end(): void {
    const { input, signal } = this.#options;
    input.off('data', this.#take).off('end', this.#finish).off('close', this.#finish);
    signal.removeEventListener('abort', this.#finish);
    input.pause();
  }

  #lastWord(parts: readonly Buffer[]): null {
    const { signal, input } = this.#options;
    signal.throwIfAborted();
    if (input.errored) throw input.errored;
    if (parts.length > 0 || this.#packets.restBytes > 0) throw invalid('bad_fetch', 'The request ended too early.');
    return null;
  }

  /** Waits until more bytes have arrived or the stream has ended. */
  async #more(): Promise<void> {
    let quiet: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#wake = resolve;
        quiet = setTimeout(
          () => reject(invalid('fetch_stalled', 'The request was not received in time.')),
          this.#options.stallMs,
        );
        this.#options.input.resume();
      });
    } finally {
      clearTimeout(quiet);
    }
  }

  readonly #take = (chunk: Buffer): void => {
    this.#packets.push(chunk);
    this.#options.input.pause();
    this.#wake();
  };

  readonly #finish = (): void => {
    this.#isOver = true;
    this.#wake();
  };
}
