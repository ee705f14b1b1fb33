/** Blocks of a tar are so long. */
export const tarBlock = 512;

/** A file, folder or link of a tar, in the order of the archive. */
export interface TarMember {
  /** The blocks before the content: extended headers, if any, and its own header last. */
  head: Buffer;
  /** `0` for a file, `5` for a folder, `2` for a symbolic link, `g` for a header of the whole archive. */
  type: string;
  name: string;
  linkTarget: string;
  mode: number;
  bytes: number;
  /** To be read to its end before the next member, without the padding of the last block. */
  content(): AsyncGenerator<Buffer>;
}

/** Reads so many bytes at a time from a stream of chunks. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #unread: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** What is there, at most so much; null at the end. */
  async some(most: number): Promise<Buffer | null> {
    while (this.#unread.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return null;
      this.#unread = value;
    }
    const taken = this.#unread.subarray(0, most);
    this.#unread = this.#unread.subarray(taken.length);
    return taken;
  }

  async exactly(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = bytes; left > 0; ) {
      const part = await this.some(left);
      if (part === null) throw new Error('an archive ended in the middle of a file');
      parts.push(part);
      left -= part.length;
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }
}

const text = (header: Buffer, at: number, length: number): string => {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? length : end);
};

/** Largest extended header: it is held in memory, and a real one has a few names. */
const mostPaxBytes = 1024 * 1024;

function lengthOf(header: Buffer, given: string | undefined): number {
  // GNU's form of sizes that eleven octal digits do not hold.
  const isBinary = header[124] === 0x80;
  const bytes = isBinary
    ? Number(header.readBigUInt64BE(128))
    : given !== undefined
      ? Number(given)
      : Number.parseInt(text(header, 124, 12).trim() || '0', 8);
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new Error('an archive has a file without a length');
  return bytes;
}

export const paddingOf = (bytes: number): number => (tarBlock - (bytes % tarBlock)) % tarBlock;

/** The members of a tar as `git archive` writes it (POSIX.1-2001, pax). */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  const reader = new ByteReader(source);
  let [before, pax]: [Buffer[], Map<string, string>] = [[], new Map()];
  for (;;) {
    const header = await reader.exactly(tarBlock);
    if (header.every((byte) => byte === 0)) return;
    const type = text(header, 156, 1) || '0';
    const bytes = lengthOf(header, pax.get('size'));
    if (type === 'x') {
      if (bytes > mostPaxBytes) throw new Error('an archive has an extended header that is too long');
      const records = await reader.exactly(bytes + paddingOf(bytes));
      before.push(header, records);
      pax = readPax(records.subarray(0, bytes));
      continue;
    }
    const prefix = text(header, 345, 155);
    const isRead = { left: bytes };
    yield {
      head: Buffer.concat([...before, header]),
      type,
      name: pax.get('path') ?? (prefix === '' ? '' : `${prefix}/`) + text(header, 0, 100),
      linkTarget: pax.get('linkpath') ?? text(header, 157, 100),
      mode: Number.parseInt(text(header, 100, 8).trim() || '0', 8),
      bytes,
      content: () => contentOf(reader, isRead),
    };
    for await (const _ of contentOf(reader, isRead));
    await reader.exactly(paddingOf(bytes));
    [before, pax] = [[], new Map()];
  }
}

async function* contentOf(reader: ByteReader, isRead: { left: number }): AsyncGenerator<Buffer> {
  while (isRead.left > 0) {
    const part = await reader.some(isRead.left);
    if (part === null) throw new Error('an archive ended in the middle of a file');
    isRead.left -= part.length;
    yield part;
  }
}

/** Records `<length> <name>=<value>` and a line break. */
function readPax(records: Buffer): Map<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < records.length; ) {
    const space = records.indexOf(0x20, at);
    const length = Number(records.toString('latin1', at, space));
    if (space === -1 || !Number.isSafeInteger(length) || length < 1) break;
    const record = records.toString('utf8', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    fields.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return fields;
}

/** The head of a member with another size. */
export function resized(head: Buffer, bytes: number): Buffer {
  const changed = Buffer.from(head);
  const header = changed.subarray(changed.length - tarBlock);
  header.fill(0, 124, 136);
  // Twelve octal digits hold 64 GiB less a byte as git writes them; larger sizes are binary, as GNU tar does it.
  if (bytes <= 0o77777777777) header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(bytes), 128);
  }
  header.fill(0x20, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return changed;
}
