import { isUtf8 } from 'node:buffer';
import { invalid } from '../../kernel/index.ts';

/** protobuf.dev, "Encoding": how a field's value is laid out. */
export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

export const malformed = () => invalid('malformed_message', 'This is not an UpdateLogRequest.');

/**
 * Reads protobuf's wire form by hand, for the one message that is too large to be
 * decoded as a whole. Asked for more than there is, it answers null and stays where
 * it was, so that the caller can wait for more bytes.
 */
export class WireReader {
  readonly #bytes: Buffer;
  at: number;
  readonly #end: number;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.at = at;
    this.#end = end;
  }

  get left(): number {
    return this.#end - this.at;
  }

  /** A varint of up to 64 bits, as the unsigned number that it spells. Refuses `malformed_message` for a longer one. */
  varint(): bigint | null {
    let low = 0;
    for (let place = 0; place < 4; place += 1) {
      const at = this.at + place;
      if (at >= this.#end) return null;
      const byte = this.#bytes[at]!;
      low |= (byte & 0x7f) << (7 * place);
      if (byte < 0x80) {
        this.at = at + 1;
        return BigInt(low);
      }
    }
    let value = BigInt(low);
    for (let place = 4; place < 10; place += 1) {
      const at = this.at + place;
      if (at >= this.#end) return null;
      const byte = this.#bytes[at]!;
      value |= BigInt(byte & 0x7f) << BigInt(7 * place);
      if (byte < 0x80) {
        this.at = at + 1;
        return BigInt.asUintN(64, value);
      }
    }
    throw malformed();
  }

  /** A field's number and wire type. */
  tag(): { field: number; type: number } | null {
    const start = this.at;
    const tag = this.varint();
    if (tag === null) return null;
    const field = Number(tag >> 3n);
    if (field === 0 || tag > 0xffff_ffffn) {
      this.at = start;
      throw malformed();
    }
    return { field, type: Number(tag & 7n) };
  }

  /**
   * Passes over the value of a field. Answers how many bytes are missing, as far as one can tell: 0 when all are
   * there.
   */
  skip(type: number): number {
    const start = this.at;
    if (type === wireTypes.varint) return this.varint() === null ? 1 : 0;
    const length = type === wireTypes.fixed64 ? 8 : type === wireTypes.fixed32 ? 4 : null;
    const wanted = length ?? this.#length(type);
    const missing = wanted === null ? 1 : Math.max(0, wanted - this.left);
    this.at = missing > 0 ? start : this.at + wanted!;
    return missing;
  }

  #length(type: number): number | null {
    if (type !== wireTypes.bytes) throw malformed();
    const length = this.varint();
    if (length !== null && length > 0x7fff_ffffn) throw malformed();
    return length === null ? null : Number(length);
  }

  /** A message or text inside this one. It has to be all there. Refuses `malformed_message`. */
  inner(): WireReader {
    const length = this.#length(wireTypes.bytes);
    if (length === null || length > this.left) throw malformed();
    const inner = new WireReader(this.#bytes, this.at, this.at + length);
    this.at += length;
    return inner;
  }

  /** A copy of the bytes from an offset on, so that the bytes before it can be freed. */
  rest(from: number): Buffer {
    return Buffer.from(this.#bytes.subarray(from, this.#end));
  }

  /** What is left, as text. Refuses `malformed_message` for what is not UTF-8. */
  text(): string {
    const bytes = this.#bytes.subarray(this.at, this.#end);
    if (!isUtf8(bytes)) throw malformed();
    return bytes.toString('utf8');
  }
}
