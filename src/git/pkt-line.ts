import { invalid } from '../kernel/index.ts';

/** One packet of git's wire format (gitprotocol-common): data, or one of three special packets. */
type Packet = { kind: 'data'; data: Buffer } | { kind: 'flush' | 'delimiter' | 'end' };

/** Size limit of a packet in bytes, including its four length digits. */
export const maxPacketBytes = 65_520;

export const flushPacket: Buffer = Buffer.from('0000');

/** @param data at most 65,516 bytes */
export function encodePacket(data: Buffer | string): Buffer {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  const length = bytes.length + 4;
  if (length > maxPacketBytes) throw new RangeError(`a packet of ${length} bytes`);
  return Buffer.concat([Buffer.from(length.toString(16).padStart(4, '0')), bytes]);
}

/**
 * Splits a byte stream into packets as it arrives. Buffers at most one unfinished packet beyond the current chunk.
 * Throws `bad_packet` for a length that git's own parser would refuse.
 */
export class PacketReader {
  #chunks: Buffer[] = [];
  #size = 0;
  /** Number of new bytes below which parsing is not retried: a packet that arrives byte by byte is joined once. */
  #wanted = 4;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /** Number of received bytes that do not yet form a packet. */
  get restBytes(): number {
    return this.#size;
  }

  /** Removes and returns the bytes that do not yet form a packet. */
  takeRest(): Buffer {
    const rest = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#size = 0;
    this.#wanted = 4;
    return rest;
  }

  /** The next whole packet, or null until more bytes arrive. The data is a view of the received bytes. */
  next(): Packet | null {
    if (this.#size < this.#wanted) return null;
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    const length = readLength(bytes);
    this.#wanted = Math.max(4, length);
    if (bytes.length < this.#wanted) {
      this.#chunks = [bytes];
      return null;
    }
    const rest = bytes.subarray(this.#wanted);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#size = rest.length;
    this.#wanted = 4;
    if (length >= 4) return { kind: 'data', data: bytes.subarray(4, length) };
    return { kind: length === 0 ? 'flush' : length === 1 ? 'delimiter' : 'end' };
  }
}

const lengthDigits = /^[0-9a-fA-F]{4}$/;

function readLength(bytes: Buffer): number {
  const digits = bytes.toString('latin1', 0, 4);
  const length = lengthDigits.test(digits) ? Number.parseInt(digits, 16) : -1;
  if (length < 0 || length === 3 || length > maxPacketBytes) {
    throw invalid('bad_packet', 'The request is not in git’s packet format.');
  }
  return length;
}
