import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import { invalid } from '../kernel/index.ts';

/** A file of an archive, as the directory of the archive describes it. */
interface ZipEntry {
  /** With forward slashes; checked by `isSafePath`. */
  path: string;
  bytes: number;
  packedBytes: number;
  crc: number;
  method: number;
  /** Where its local header begins. */
  at: number;
}

export interface ZipDirectory {
  /** Files in the order of the archive. A path that comes twice is the last one, as programs that unpack have it. */
  entries: ZipEntry[];
  /** Entries that are left out: encrypted ones, unknown methods, and paths that would leave a folder. */
  refused: number;
}

/** Part of an archive: its first byte, and how many there are. */
export type ReadPart = (at: number, bytes: number) => Promise<Readable>;

const endBytes = 22;
const locatorBytes = 20;
const end64Bytes = 56;
const maxCommentBytes = 65_535;
const headerBytes = 46;
const localBytes = 30;
const limit32 = 0xffff_ffff;
const stored = 0;
const deflated = 8;
const encrypted = 0x0001;

interface ZipLimits {
  maxDirectoryBytes: number;
  maxEntries: number;
}

/** Unreadable archives are refused with this by all functions. */
const unreadable = (words: string) => invalid('unreadable_archive', `This zip archive cannot be read: ${words}.`);

/**
 * Reads the directory at the end of a zip archive (APPNOTE 6.3, with its 64-bit sizes); nothing is unpacked. Throws
 * `unreadable_archive`, also above the limits.
 */
export async function readZipDirectory(size: number, read: ReadPart, limits: ZipLimits): Promise<ZipDirectory> {
  if (size < endBytes) throw unreadable('it has no end');
  const tailBytes = Math.min(size, endBytes + maxCommentBytes + locatorBytes);
  const tail = await gather(await read(size - tailBytes, tailBytes), tailBytes);
  const end = tail.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (end === -1 || tail.length - end < endBytes) throw unreadable('it has no end');
  let [count, bytes, at] = [tail.readUInt16LE(end + 10), tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  if (count === 0xffff || bytes === limit32 || at === limit32) {
    const locator = end - locatorBytes;
    if (locator < 0 || tail.toString('latin1', locator, locator + 4) !== 'PK\x06\x07')
      throw unreadable('it has no 64-bit end');
    const end64At = safeNumber(tail.readBigUInt64LE(locator + 8));
    if (end64At + end64Bytes > size) throw unreadable('its 64-bit end is outside');
    const end64 = await gather(await read(end64At, end64Bytes), end64Bytes);
    if (end64.toString('latin1', 0, 4) !== 'PK\x06\x06') throw unreadable('it has no 64-bit end');
    count = safeNumber(end64.readBigUInt64LE(32));
    bytes = safeNumber(end64.readBigUInt64LE(40));
    at = safeNumber(end64.readBigUInt64LE(48));
  }
  if (count > limits.maxEntries) throw unreadable(`it has more than ${limits.maxEntries} files`);
  if (bytes > limits.maxDirectoryBytes || at + bytes > size) throw unreadable('its directory is too large');
  return parseDirectory(bytes === 0 ? Buffer.alloc(0) : await gather(await read(at, bytes), bytes), count, size);
}

function parseDirectory(directory: Buffer, count: number, size: number): ZipDirectory {
  const entries = new Map<string, ZipEntry>();
  let refused = 0;
  for (let index = 0, at = 0; index < count; index += 1) {
    if (at + headerBytes > directory.length || directory.toString('latin1', at, at + 4) !== 'PK\x01\x02')
      throw unreadable('its directory is damaged');
    const nameEnd = at + headerBytes + directory.readUInt16LE(at + 28);
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30);
    const next = extraEnd + directory.readUInt16LE(at + 32);
    if (next > directory.length) throw unreadable('its directory is damaged');
    const path = directory.toString('utf8', at + headerBytes, nameEnd);
    const entry: ZipEntry = {
      path,
      method: directory.readUInt16LE(at + 10),
      crc: directory.readUInt32LE(at + 16),
      packedBytes: directory.readUInt32LE(at + 20),
      bytes: directory.readUInt32LE(at + 24),
      at: directory.readUInt32LE(at + 42),
    };
    readLargeSizes(entry, directory.subarray(nameEnd, extraEnd));
    const isEncrypted = (directory.readUInt16LE(at + 8) & encrypted) !== 0;
    const isKnown = entry.method === stored || entry.method === deflated;
    at = next;
    if (path.endsWith('/')) continue;
    if (isEncrypted || !isKnown || !isSafePath(path) || entry.at + localBytes + entry.packedBytes > size) refused += 1;
    else entries.set(path, entry);
  }
  return { entries: [...entries.values()], refused };
}

/** The extra field 1 has, in this order, those sizes and that place which do not fit 32 bits. */
function readLargeSizes(entry: ZipEntry, extra: Buffer): void {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let value = at + 4;
    for (const field of ['bytes', 'packedBytes', 'at'] as const) {
      if (entry[field] !== limit32) continue;
      if (value + 8 > extra.length) throw unreadable('its directory is damaged');
      entry[field] = safeNumber(extra.readBigUInt64LE(value));
      value += 8;
    }
    return;
  }
}

function safeNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw unreadable('a size is too large');
  return Number(value);
}

const maxPathBytes = 1024;

/** Whether a path stays below the folder where it is unpacked, on every system. */
function isSafePath(path: string): boolean {
  return (
    path !== '' &&
    Buffer.byteLength(path) <= maxPathBytes &&
    !/[\p{Cc}\\\uFFFD]/u.test(path) &&
    !/^[A-Za-z]:/.test(path) &&
    !path.split('/').some((part) => part === '' || part === '.' || part === '..')
  );
}

/**
 * The unpacked content of a file. The stream fails with `unreadable_archive` where the content is longer than the
 * directory says, and where it differs from its checksum.
 */
export async function openZipEntry(entry: ZipEntry, read: ReadPart): Promise<Readable> {
  const local = await gather(await read(entry.at, localBytes), localBytes);
  if (local.toString('latin1', 0, 4) !== 'PK\x03\x04') throw unreadable('a file is damaged');
  const at = entry.at + localBytes + local.readUInt16LE(26) + local.readUInt16LE(28);
  const check = checked(entry);
  const source = entry.packedBytes === 0 ? Readable.from([]) : await read(at, entry.packedBytes);
  const unpacked = entry.method === deflated && entry.packedBytes > 0 ? createInflateRaw() : source;
  const fail = (error: Error & { code?: string }): void =>
    void check.destroy(error.code?.startsWith('Z_') ? unreadable('a file is damaged') : error);
  unpacked.on('error', fail);
  if (unpacked !== source) pipeline(source, unpacked as Transform).catch(fail);
  unpacked.pipe(check);
  // Also when the reader goes before the end.
  check.once('close', () => {
    unpacked.destroy();
    source.destroy();
  });
  return check;
}

function checked({ bytes, crc }: ZipEntry): Transform {
  let [seen, sum] = [0, 0];
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      sum = crc32(chunk, sum);
      if (seen > bytes) done(unreadable('a file is longer than announced'));
      else done(null, chunk);
    },
    flush(done) {
      done(seen === bytes && sum === crc ? null : unreadable('a file is damaged'));
    },
  });
}

/** Throws `unreadable_archive` where less came. */
async function gather(stream: Readable, bytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  const whole = Buffer.concat(parts);
  if (whole.length !== bytes) throw unreadable('it is cut off');
  return whole;
}
