import { crc32 } from 'node:zlib';
import { annotationLevels, markOf } from '../log-command.ts';
import type { AnnotationLevel, LogMark } from '../log-command.ts';
import { prefixLength } from './row-buffer.ts';

/** Rows per block, the unit of the index. Finding a row means reading its block: 256 rows are about 30 kB. */
export const rowsPerBlock = 256;

const lineFeed = 0x0a;
const colon = 0x3a;
const hash = 0x23;

/** Size of a stored block in bytes: its end, three counts, the open group, a checksum. */
export const recordBytes = 24;
const noGroup = -1;

type Counts = [errors: number, warnings: number, notices: number];
const levelAt: Readonly<Record<AnnotationLevel, 0 | 1 | 2>> = { error: 0, warning: 1, notice: 2 };

/** One complete block. */
interface Block {
  /** Offset of its end in the file, in bytes. */
  end: number;
  counts: Counts;
  /** First row of the group that is open after the last row; -1 outside of groups. */
  group: number;
}

/**
 * Index of a log: for each block of 256 rows its offset, its numbers of errors, warnings and notices, and the group
 * that is open at its end. Its size depends only on the number of rows, never on their content: a million rows are
 * 4,000 blocks, 96 kB on disk. Built as rows are counted, and stored next to the log (`serialize`, `restore`). A
 * missing or outdated index costs only time: the log is read instead.
 */
export class LogIndex {
  readonly #blocks: Block[] = [];
  #counts: Counts = [0, 0, 0];
  #group = noGroup;
  #rows = 0;
  #bytes = 0;
  /** Checksum of the last serialised or restored block; the next one continues it. */
  #checksum = 0;
  #storedBlocks = 0;

  /** Number of whole rows. */
  get rows(): number {
    return this.#rows;
  }

  /** Offset of the end of the last whole row. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of complete blocks that are stored. */
  get storedBlocks(): number {
    return this.#storedBlocks;
  }

  /** Counts whole rows that follow those already counted; ignores bytes after the last line end. */
  count(rows: Buffer): void {
    let start = 0;
    for (let feed = rows.indexOf(lineFeed); feed !== -1; feed = rows.indexOf(lineFeed, start)) {
      const content = start + prefixLength;
      const first = rows[content];
      if (content < feed && (first === colon || first === hash) && rows[content + 1] === first)
        this.#note(markOf(rows.toString('utf8', content, feed)));
      this.#rows += 1;
      this.#bytes += feed + 1 - start;
      start = feed + 1;
      if (this.#rows % rowsPerBlock === 0) this.#endBlock();
    }
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#counts = [0, 0, 0];
    this.#group = noGroup;
    this.#rows = 0;
    this.#bytes = 0;
    this.#checksum = 0;
    this.#storedBlocks = 0;
  }

  /** Offset of the first row of a block. */
  startOf(block: number): number {
    return block === 0 ? 0 : (this.#blocks[block - 1]?.end ?? this.#bytes);
  }

  /** First row of the group that is open before a block; null outside of groups. */
  groupBefore(block: number): number | null {
    const group = block === 0 ? noGroup : (this.#blocks[block - 1]?.group ?? this.#group);
    return group === noGroup ? null : group;
  }

  /** Number of rows of a level in a block. */
  countIn(block: number, level: AnnotationLevel): number {
    return (this.#blocks[block]?.counts ?? (block === this.#blocks.length ? this.#counts : [0, 0, 0]))[levelAt[level]];
  }

  /** The next block in a direction with a row of one of the levels; null if there is none. */
  blockWith(levels: readonly AnnotationLevel[], from: number, direction: 1 | -1): number | null {
    const last = this.#blocks.length;
    // Past the last block there is none; clamping the start would find the same block forever.
    if (direction === 1 && from > last) return null;
    for (let block = Math.min(from, last); block >= 0 && block <= last; block += direction) {
      if (levels.some((level) => this.countIn(block, level) > 0)) return block;
    }
    return null;
  }

  /** The complete blocks not yet stored, as bytes to append to the stored ones. */
  serialize(): Buffer {
    const added = this.#blocks.slice(this.#storedBlocks);
    const bytes = Buffer.alloc(added.length * recordBytes);
    added.forEach((block, at) => {
      this.#checksum = writeRecord(bytes.subarray(at * recordBytes, (at + 1) * recordBytes), block, this.#checksum);
    });
    this.#storedBlocks = this.#blocks.length;
    return bytes;
  }

  /**
   * Loads stored blocks up to the first that is damaged, incomplete, or beyond the end of the log.
   * @param logBytes size of the log
   */
  restore(stored: Buffer, logBytes: number): void {
    this.clear();
    for (let at = 0; at + recordBytes <= stored.length; at += recordBytes) {
      const read = readRecord(stored.subarray(at, at + recordBytes), this.#checksum);
      if (read === null || read.block.end <= this.#bytes || read.block.end > logBytes) break;
      this.#blocks.push(read.block);
      this.#checksum = read.checksum;
      this.#bytes = read.block.end;
      this.#group = read.block.group;
    }
    this.#rows = this.#blocks.length * rowsPerBlock;
    this.#storedBlocks = this.#blocks.length;
  }

  #note(mark: LogMark | null): void {
    if (mark === null) return;
    if (mark === 'group') this.#group = this.#rows;
    else if (mark === 'endgroup') this.#group = noGroup;
    else this.#counts[levelAt[mark]] += 1;
  }

  #endBlock(): void {
    this.#blocks.push({ end: this.#bytes, counts: this.#counts, group: this.#group });
    this.#counts = [0, 0, 0];
  }
}

const checksumAt = recordBytes - 4;

/** Each checksum continues the previous one, so that no block of another log or an earlier version fits in between. */
function writeRecord(record: Buffer, { end, counts, group }: Block, before: number): number {
  record.writeUIntLE(end, 0, 6);
  annotationLevels.forEach((level, at) => record.writeUInt16LE(counts[levelAt[level]], 6 + at * 2));
  record.writeDoubleLE(group, 12);
  const checksum = crc32(record.subarray(0, checksumAt), before);
  record.writeUInt32LE(checksum, checksumAt);
  return checksum;
}

function readRecord(record: Buffer, before: number): { block: Block; checksum: number } | null {
  const checksum = crc32(record.subarray(0, checksumAt), before);
  if (checksum !== record.readUInt32LE(checksumAt)) return null;
  const counts: Counts = [record.readUInt16LE(6), record.readUInt16LE(8), record.readUInt16LE(10)];
  return { block: { end: record.readUIntLE(0, 6), counts, group: record.readDoubleLE(12) }, checksum };
}
