import type { RowBuffer } from '../../ci/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Timestamp } from './runner-messages.ts';
import { isUtf8 } from 'node:buffer';

/** The fields of UpdateLogRequest, by number. */
const fields = { taskId: 1, index: 2, rows: 3, noMore: 4 } as const;

/** Size limit of an encoded row. Its content is truncated to 64 KiB, but only after the whole row has arrived. */
const maxRowMessage = 16 * 1024 * 1024;

/**
 * Decodes an UpdateLogRequest as it arrives. Rows go to the buffer one by one, so a backlog of hundreds of megabytes is
 * never in memory as a whole.
 */
export class LogDecoder {
  readonly #rows: RowBuffer;
  /** Bytes that are not a whole field yet; joined only when necessary. */
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #wantedBytes = 0;
  #taskId = 0n;
  #index = 0n;
  #noMore = false;
  /** Whether the buffer has enough rows to be flushed. */
  #isFull = false;

  constructor(rows: RowBuffer) {
    this.#rows = rows;
  }

  /** Decodes the next bytes. Throws `malformed_message`, `message_too_large`. */
  async push(bytes: Buffer): Promise<void> {
    this.#unread.push(bytes);
    this.#unreadBytes += bytes.length;
    if (this.#unreadBytes < this.#wantedBytes) return;
    const reader = new WireReader(this.#unread.length === 1 ? bytes : Buffer.concat(this.#unread));
    for (;;) {
      const start = reader.at;
      const missing = this.#readField(reader);
      if (missing > 0) return this.#keep(reader.rest(start), missing);
      if (this.#isFull) {
        this.#isFull = false;
        await this.#rows.flush();
      }
    }
  }

  #keep(rest: Buffer, missing: number): void {
    this.#unread = [rest];
    this.#unreadBytes = rest.length;
    this.#wantedBytes = rest.length + missing;
    if (this.#wantedBytes > maxRowMessage) throw invalid('message_too_large', 'A row of a log is larger than 16 MiB.');
  }

  /** Returns the message without its rows after the last bytes. Throws `malformed_message`. */
  finish(): { taskId: bigint; index: bigint; noMore: boolean; rows: RowBuffer } {
    if (this.#unreadBytes > 0) throw malformed();
    return { taskId: this.#taskId, index: this.#index, noMore: this.#noMore, rows: this.#rows };
  }

  /** Reads one field. Returns the number of missing bytes, 0 if it was complete. */
  #readField(reader: WireReader): number {
    const tag = reader.left === 0 ? null : reader.tag();
    if (tag === null) return 1;
    const { field, type } = tag;
    const valueAt = reader.at;
    const missing = reader.skip(type);
    if (missing > 0) return missing;
    const end = reader.at;
    if (field === fields.rows && type === wireTypes.bytes) {
      reader.at = valueAt;
      this.#isFull = this.#readRow(reader.inner());
      return 0;
    }
    if (type === wireTypes.varint) {
      reader.at = valueAt;
      const value = reader.varint()!;
      if (field === fields.taskId) this.#taskId = BigInt.asIntN(64, value);
      if (field === fields.index) this.#index = BigInt.asIntN(64, value);
      if (field === fields.noMore) this.#noMore = value !== 0n;
    }
    reader.at = end;
    return 0;
  }

  #readRow(row: WireReader): boolean {
    let time: Timestamp | null = null;
    let content = '';
    while (row.left > 0) {
      const tag = row.tag();
      if (tag === null) throw malformed();
      if (tag.field === 1 && tag.type === wireTypes.bytes) time = readTimestamp(row.inner());
      else if (tag.field === 2 && tag.type === wireTypes.bytes) content = row.inner().text();
      else if (row.skip(tag.type) > 0) throw malformed();
    }
    return this.#rows.add(time, content);
  }
}

function readTimestamp(message: WireReader): Timestamp {
  let seconds = 0n;
  let nanos = 0;
  while (message.left > 0) {
    const tag = message.tag();
    if (tag === null) throw malformed();
    if (tag.type !== wireTypes.varint) {
      if (message.skip(tag.type) > 0) throw malformed();
      continue;
    }
    const value = message.varint();
    if (value === null) throw malformed();
    if (tag.field === 1) seconds = BigInt.asIntN(64, value);
    if (tag.field === 2) nanos = Number(BigInt.asIntN(32, value));
  }
  return { seconds, nanos };
}

/** Wire types of field values (protobuf.dev, "Encoding"). */
const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

const malformed = () => invalid('malformed_message', 'This is not an UpdateLogRequest.');

/**
 * Reads protobuf's wire form, for the one message that is too large to be decoded as a whole. If bytes are missing,
 * methods return null and keep the position, so that the caller can wait for more.
 */
class WireReader {
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

  /** Reads a varint of up to 64 bits as an unsigned number. Throws `malformed_message` for a longer one. */
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

  /** Reads the number and wire type of a field. */
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

  /** Skips the value of a field. Returns the number of missing bytes as far as known: 0 if it was complete. */
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

  /** Reads an embedded message or text, which must be complete. Throws `malformed_message`. */
  inner(): WireReader {
    const length = this.#length(wireTypes.bytes);
    if (length === null || length > this.left) throw malformed();
    const inner = new WireReader(this.#bytes, this.at, this.at + length);
    this.at += length;
    return inner;
  }

  /** Copies the bytes from an offset on, so that those before it can be freed. */
  rest(from: number): Buffer {
    return Buffer.from(this.#bytes.subarray(from, this.#end));
  }

  /** Returns the rest as text. Throws `malformed_message` unless it is UTF-8. */
  text(): string {
    const bytes = this.#bytes.subarray(this.at, this.#end);
    if (!isUtf8(bytes)) throw malformed();
    return bytes.toString('utf8');
  }
}
