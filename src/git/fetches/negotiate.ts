import { invalid } from '../../kernel/index.ts';
import { encodePacket, flushPacket, PacketReader } from '../pkt-line.ts';
import type { AdvertiseRefs } from './advertise-refs.ts';
import type { ServeDeps, UploadOutcome, UploadRequest } from './serve-fetch.ts';
import { send } from '../transfer.ts';

/** Size limit of a request in bytes. A fetch request is a list of object ids; no client needs more of them. */
const maxRequestBytes = 64 * 1024 * 1024;

/**
 * Serves one session of protocol version 2, as over SSH: capabilities, then request after request until the client has
 * no more. Requests are independent of each other (gitprotocol-v2), so each is served like one over HTTP, and git
 * starts only for those that need it.
 * Refuses `fetch_stalled` when the client sends nothing for too long, `bad_packet`, `bad_fetch`, and what
 * `respond` refuses.
 */
export async function negotiate(
  deps: ServeDeps & { advertiseRefs: AdvertiseRefs },
  request: UploadRequest,
  respond: (bytes: Buffer) => Promise<UploadOutcome>,
): Promise<UploadOutcome> {
  const { path, protocol, output, signal, stallMs = deps.limits.stallMs } = request;
  const greeting = await deps.advertiseRefs({ path, service: 'upload-pack', protocol, signal });
  await send(output, greeting);
  const requests = new Requests(request, stallMs);
  try {
    let bytes = greeting.length;
    for (let next = await requests.next(); next !== null; next = await requests.next()) {
      const outcome = await respond(next);
      bytes += outcome.bytes;
      if (outcome.exitCode !== 0 || outcome.cutShort) return { ...outcome, bytes };
    }
    return { exitCode: 0, cutShort: false, bytes };
  } finally {
    requests.end();
  }
}

const marks = { flush: flushPacket, delimiter: Buffer.from('0001'), end: Buffer.from('0002') } as const;

/** Splits the client's stream into requests; each ends with a flush. */
class Requests {
  readonly #request: UploadRequest;
  readonly #stallMs: number;
  readonly #packets = new PacketReader();
  #wake = () => {};
  #isOver = false;

  constructor(request: UploadRequest, stallMs: number) {
    this.#request = request;
    this.#stallMs = stallMs;
    const { input, signal } = request;
    input.on('data', this.#take).on('end', this.#finish).on('close', this.#finish);
    signal.addEventListener('abort', this.#finish);
    if (input.readableEnded || input.destroyed || signal.aborted) this.#finish();
  }

  /** The bytes of the next complete request; null when the client has no more. */
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
      if (bytes > maxRequestBytes) throw invalid('bad_fetch', 'The request is too large.');
      if (packet.kind === 'flush' && parts.length === 0) return null;
      parts.push(part);
      if (packet.kind === 'flush') return Buffer.concat(parts);
    }
  }

  end(): void {
    const { input, signal } = this.#request;
    input.off('data', this.#take).off('end', this.#finish).off('close', this.#finish);
    signal.removeEventListener('abort', this.#finish);
    input.pause();
  }

  #lastWord(parts: readonly Buffer[]): null {
    const { signal, input } = this.#request;
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
        quiet = setTimeout(() => reject(invalid('fetch_stalled', 'The request stopped coming.')), this.#stallMs);
        this.#request.input.resume();
      });
    } finally {
      clearTimeout(quiet);
    }
  }

  readonly #take = (chunk: Buffer): void => {
    this.#packets.push(chunk);
    this.#request.input.pause();
    this.#wake();
  };

  readonly #finish = (): void => {
    this.#isOver = true;
    this.#wake();
  };
}
