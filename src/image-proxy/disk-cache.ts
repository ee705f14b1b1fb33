import { mkdir, open, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { eachLimit } from '../kernel/index.ts';
import type { Random } from '../kernel/index.ts';

/** A file of the cache, open for sending: what is written meanwhile changes nothing of it. */
interface CachedFile<Meta> {
  meta: Meta;
  /** Size of the content. */
  bytes: number;
  /** The content; closes the file at its end, or when it is destroyed. */
  stream(): Readable;
  /** Without streaming it. */
  close(): Promise<void>;
}

interface DiskCache<Meta> {
  /** Null when it is not there or damaged. */
  open(key: string): Promise<CachedFile<Meta> | null>;
  /** Replaces a file; a full disk keeps nothing and refuses nothing. */
  write(key: string, meta: Meta, content: Buffer): Promise<void>;
  /** Replaces what is known about a file, which keeps its content. */
  updateMeta(key: string, meta: Meta): Promise<void>;
  /** Files and their bytes at the last look, for metrics. */
  load(): { files: number; bytes: number };
  /** Removes the least recently used files beyond the limit, and what a crash left unfinished. */
  evict(): Promise<void>;
}

/** A file begins with a line of JSON of this many bytes, so that it can be replaced in its place. */
const headBytes = 1_024;

/** The time of the last use is written at most this often, in milliseconds. */
const touchMs = 60 * 60_000;
/** Share of the limit that an eviction leaves, and that is written before the next one. */
const [retainedShare, writtenShare] = [0.9, 0.05];
const atOnce = 8;

/**
 * An LRU cache in a folder: the modification time of a file is its last use. Nothing is synced, because everything in
 * it can be fetched again.
 * @param keys are hex digits
 */
export function createDiskCache<Meta>(options: {
  folder: string;
  maxBytes: number;
  random: Random;
  now: () => number;
}): DiskCache<Meta> {
  const { folder, maxBytes, random, now } = options;
  const fileOf = (key: string): string => path.join(folder, key.slice(0, 2), key);
  let writtenBytes = Infinity;
  let evicting: Promise<void> | null = null;
  let load = { files: 0, bytes: 0 };

  async function remove(): Promise<void> {
    writtenBytes = 0;
    const found: { file: string; bytes: number; usedAt: number }[] = [];
    const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    await eachLimit(
      names.filter((entry) => entry.isFile()),
      atOnce,
      async (entry) => {
        const file = path.join(entry.parentPath, entry.name);
        const facts = await stat(file).catch(() => null);
        if (facts === null) return;
        // A file under another name is one that was being written; an hour later no process is writing it.
        if (entry.name.includes('.') && now() - facts.mtimeMs > touchMs) await rm(file, { force: true });
        else found.push({ file, bytes: facts.size, usedAt: facts.mtimeMs });
      },
    );
    found.sort((a, b) => a.usedAt - b.usedAt);
    let bytes = found.reduce((sum, each) => sum + each.bytes, 0);
    let removed = 0;
    const wanted = bytes > maxBytes ? maxBytes * retainedShare : bytes;
    while (bytes > wanted && removed < found.length) {
      await rm(found[removed]!.file, { force: true });
      bytes -= found[removed]!.bytes;
      removed += 1;
    }
    load = { files: found.length - removed, bytes };
  }

  const evict = (): Promise<void> => (evicting ??= remove().finally(() => (evicting = null)));

  return {
    async open(key) {
      const file = fileOf(key);
      const handle = await open(file, 'r').catch(() => null);
      if (handle === null) return null;
      try {
        const { bytes, meta } = readHead<Meta>((await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0)).buffer);
        const { size, mtimeMs } = await handle.stat();
        if (size !== headBytes + bytes) throw new Error('cut short');
        if (now() - mtimeMs > touchMs) await utimes(file, now() / 1000, now() / 1000).catch(() => {});
        const stream = (): Readable => handle.createReadStream({ start: headBytes });
        return { meta, bytes, stream, close: () => handle.close() };
      } catch {
        await handle.close();
        await rm(file, { force: true });
        return null;
      }
    },
    async write(key, meta, content) {
      const file = fileOf(key);
      const unfinished = `${file}.${random.bytes(6).toString('hex')}`;
      try {
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
        await writeFile(unfinished, Buffer.concat([writeHead(meta, content.length), content]), { mode: 0o600 });
        await utimes(unfinished, now() / 1000, now() / 1000);
        await rename(unfinished, file);
      } catch {
        await rm(unfinished, { force: true }).catch(() => {});
        return;
      }
      writtenBytes += content.length;
      if (writtenBytes > maxBytes * writtenShare) await evict();
    },
    async updateMeta(key, meta) {
      const handle = await open(fileOf(key), 'r+').catch(() => null);
      if (handle === null) return;
      try {
        const { size } = await handle.stat();
        await handle.write(writeHead(meta, size - headBytes), 0, headBytes, 0);
      } finally {
        await handle.close();
      }
    },
    load: () => load,
    evict,
  };
}

function writeHead(meta: unknown, bytes: number): Buffer {
  const line = Buffer.from(JSON.stringify({ bytes, meta }));
  if (line.length >= headBytes) throw new Error('the head of a cached file is too long');
  return Buffer.concat([line, Buffer.alloc(headBytes - 1 - line.length, ' '), Buffer.from('\n')]);
}

const readHead = <Meta>(head: Buffer): { bytes: number; meta: Meta } =>
  JSON.parse(head.toString('utf8')) as { bytes: number; meta: Meta };
