import type { RowBuffer } from '../../ci/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Timestamp } from './runner-messages.ts';
import { malformed, WireReader, wireTypes } from './wire-reader.ts';

/** The fields of UpdateLogRequest, by number. */
const fields = { taskId: 1, index: 2, rows: 3, noMore: 4 } as const;

/** Limit of an encoded row. Its content is cut to 64 KiB, but only after the whole row has arrived. */
const maxRowMessage = 16 * 1024 * 1024;

/**
 * Reads an UpdateLogRequest while it arrives. Rows go to the buffer one by one, so
 * a backlog of hundreds of megabytes never is in memory as a whole.
 */
export class LogDecoder {
  readonly #rows: RowBuffer;
  /** What has come and is no whole field yet; put together only when that makes sense. */
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #wantedBytes = 0;
  #taskId = 0n;
  #index = 0n;
  #noMore = false;
  /** Rows have come together that should be put away. */
  #isFull = false;

  constructor(rows: RowBuffer) {
    this.#rows = rows;
  }

  /** Takes the next bytes. Refuses `malformed_message`, `message_too_large`. */
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

  /** The message without its rows, when all of it has come. Refuses `malformed_message`. */
  finish(): { taskId: bigint; index: bigint; noMore: boolean; rows: RowBuffer } {
    if (this.#unreadBytes > 0) throw malformed();
    return { taskId: this.#taskId, index: this.#index, noMore: this.#noMore, rows: this.#rows };
  }

  /** Reads one field. Answers how many bytes are missing, 0 when it was all there. */
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
