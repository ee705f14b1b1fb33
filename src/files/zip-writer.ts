import { Readable, Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw, createGunzip } from 'node:zlib';

/** A file that goes into an archive. */
export interface ZipSource {
  /** Path in the archive, with forward slashes. */
  path: string;
  /** Size of the content, as announced; more than that ends the archive with an error. */
  bytes: number;
  /** The stream of `open` is gzip-compressed; the archive contains its unpacked content. */
  isGzipped: boolean;
  open(): Promise<Readable>;
  /** Type and permissions as in `stat`; a regular file that its owner may write and others read when left out. */
  mode?: number;
}

interface Written {
  path: Buffer;
  crc: number;
  packed: number;
  bytes: number;
  at: number;
  isLarge: boolean;
  mode: number;
}

const limit32 = 0xffff_ffff;
/** Names in UTF-8; sizes in a data descriptor after the content. */
const flags = 0x0808;
const deflated = 8;
const regular = 0o100644;
/** 1 January 1980: the time of a file is not known. */
const date = 0x0021;

/**
 * Streams a zip archive (APPNOTE 6.3): one file after the other, so that nothing is stored. Large files and archives
 * use 64-bit sizes.
 */
export function writeZip(sources: Iterable<ZipSource> | AsyncIterable<ZipSource>): Readable {
  return Readable.from(chunks(sources), { objectMode: false, highWaterMark: 256 * 1024 });
}

async function* chunks(sources: Iterable<ZipSource> | AsyncIterable<ZipSource>): AsyncGenerator<Buffer> {
  const written: Written[] = [];
  let at = 0;
  for await (const source of sources) {
    const path = Buffer.from(source.path);
    // Deflate adds far less than this to incompressible content.
    const isLarge = source.bytes > limit32 - 16 * 1024 * 1024;
    const entry: Written = { path, crc: 0, packed: 0, bytes: 0, at, isLarge, mode: source.mode ?? regular };
    const head = localHead(entry);
    yield head;
    for await (const chunk of packed(source, entry)) {
      entry.packed += chunk.length;
      yield chunk;
    }
    const sizes = sizesBehind(entry);
    yield sizes;
    at += head.length + entry.packed + sizes.length;
    written.push(entry);
  }
  const directory = Buffer.concat(written.map(directoryEntry));
  yield directory;
  yield directoryEnd(written.length, directory.length, at);
}

/** The compressed content; its sizes and checksum are stored in the entry. */
async function* packed({ open, isGzipped, bytes: announced }: ZipSource, entry: Written): AsyncGenerator<Buffer> {
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, pass: TransformCallback) {
      entry.crc = crc32(chunk, entry.crc);
      entry.bytes += chunk.length;
      pass(entry.bytes > announced ? new Error('a file of the archive is larger than was announced') : null, chunk);
    },
  });
  const deflate = createDeflateRaw({ level: 6 });
  const source = await open();
  // Errors surface when the end of the pipeline is read.
  (isGzipped ? pipeline(source, createGunzip(), counted, deflate) : pipeline(source, counted, deflate)).catch(
    (error: Error) => deflate.destroy(error),
  );
  yield* deflate as AsyncIterable<Buffer>;
}

function localHead({ path, isLarge }: Written): Buffer {
  const extra = isLarge ? Buffer.concat([numbers([2, 0x0001], [2, 16]), Buffer.alloc(16)]) : Buffer.alloc(0);
  return Buffer.concat([
    numbers(
      [4, 0x0403_4b50],
      [2, isLarge ? 45 : 20],
      [2, flags],
      [2, deflated],
      [2, 0],
      [2, date],
      [4, 0],
      [4, isLarge ? limit32 : 0],
      [4, isLarge ? limit32 : 0],
      [2, path.length],
      [2, extra.length],
    ),
    path,
    extra,
  ]);
}

function sizesBehind({ crc, packed: packedBytes, bytes, isLarge }: Written): Buffer {
  const width = isLarge ? 8 : 4;
  return numbers([4, 0x0807_4b50], [4, crc], [width, packedBytes], [width, bytes]);
}

function directoryEntry({ path, crc, packed: packedBytes, bytes, at, isLarge, mode }: Written): Buffer {
  const isFar = at >= limit32;
  const wide = [...(isLarge ? [bytes, packedBytes] : []), ...(isFar ? [at] : [])];
  const extra =
    wide.length === 0
      ? Buffer.alloc(0)
      : numbers([2, 0x0001], [2, wide.length * 8], ...wide.map((value): Field => [8, value]));
  return Buffer.concat([
    numbers(
      [4, 0x0201_4b50],
      [2, 0x0300 | (wide.length > 0 ? 45 : 20)],
      [2, wide.length > 0 ? 45 : 20],
      [2, flags],
      [2, deflated],
      [2, 0],
      [2, date],
      [4, crc],
      [4, isLarge ? limit32 : packedBytes],
      [4, isLarge ? limit32 : bytes],
      [2, path.length],
      [2, extra.length],
      [2, 0],
      [2, 0],
      [2, 0],
      [4, mode * 0x10000],
      [4, isFar ? limit32 : at],
    ),
    path,
    extra,
  ]);
}

function directoryEnd(count: number, bytes: number, at: number): Buffer {
  const isWide = count >= 0xffff || bytes >= limit32 || at >= limit32;
  const plain = numbers(
    [4, 0x0605_4b50],
    [2, 0],
    [2, 0],
    [2, isWide ? 0xffff : count],
    [2, isWide ? 0xffff : count],
    [4, isWide ? limit32 : bytes],
    [4, isWide ? limit32 : at],
    [2, 0],
  );
  if (!isWide) return plain;
  return Buffer.concat([
    numbers(
      [4, 0x0606_4b50],
      [8, 44],
      [2, 0x032d],
      [2, 45],
      [4, 0],
      [4, 0],
      [8, count],
      [8, count],
      [8, bytes],
      [8, at],
    ),
    numbers([4, 0x0706_4b50], [4, 0], [8, at + bytes], [4, 1]),
    plain,
  ]);
}

type Field = [width: 2 | 4 | 8, value: number];

/** Encodes numbers in little-endian order. */
function numbers(...fields: Field[]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [width]) => sum + width, 0));
  let at = 0;
  for (const [width, value] of fields) {
    if (width === 8) buffer.writeBigUInt64LE(BigInt(value), at);
    else buffer.writeUIntLE(value, at, width);
    at += width;
  }
  return buffer;
}
