import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eachLimit } from '../kernel/index.ts';
import type { Random } from '../kernel/index.ts';

/** One file of the cache: a line of JSON, then the bytes. */
export interface CachedFile<Meta> {
  meta: Meta;
  bytes: Buffer;
}

export interface DiskCache<Meta> {
  /** Null when it is not there or damaged. */
  read(key: string): Promise<CachedFile<Meta> | null>;
  /** Replaces a file; a full disk keeps nothing and refuses nothing. */
  write(key: string, file: CachedFile<Meta>): Promise<void>;
  /** Files and their bytes at the last look, for metrics. */
  load(): { files: number; bytes: number };
  /** Removes the least recently used files beyond the limit, and what a crash left unfinished. */
  sweep(): Promise<void>;
}

/** The time of the last use is written at most this often, in milliseconds. */
const touchMs = 60 * 60_000;
/** Share of the limit that a sweep leaves, and that is written before the next one. */
const [keptShare, writtenShare] = [0.9, 0.05];
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
  let sweeping: Promise<void> | null = null;
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
        // A file under another name is one that was being written; an hour later nobody is at it.
        if (entry.name.includes('.') && now() - facts.mtimeMs > touchMs) await rm(file, { force: true });
        else found.push({ file, bytes: facts.size, usedAt: facts.mtimeMs });
      },
    );
    found.sort((a, b) => a.usedAt - b.usedAt);
    let bytes = found.reduce((sum, each) => sum + each.bytes, 0);
    let removed = 0;
    const wanted = bytes > maxBytes ? maxBytes * keptShare : bytes;
    while (bytes > wanted && removed < found.length) {
      await rm(found[removed]!.file, { force: true });
      bytes -= found[removed]!.bytes;
      removed += 1;
    }
    load = { files: found.length - removed, bytes };
  }

  const sweep = (): Promise<void> => (sweeping ??= remove().finally(() => (sweeping = null)));

  return {
    async read(key) {
      const file = fileOf(key);
      const content = await readFile(file).catch(() => null);
      if (content === null) return null;
      const end = content.indexOf(0x0a);
      try {
        const { bytes, ...meta } = JSON.parse(content.toString('utf8', 0, end)) as Meta & { bytes: number };
        if (end === -1 || content.length !== end + 1 + bytes) throw new Error('cut short');
        const usedAt = (await stat(file).catch(() => null))?.mtimeMs ?? now();
        if (now() - usedAt > touchMs) await utimes(file, now() / 1000, now() / 1000).catch(() => {});
        return { meta: meta as Meta, bytes: content.subarray(end + 1) };
      } catch {
        await rm(file, { force: true });
        return null;
      }
    },
    async write(key, { meta, bytes }) {
      const file = fileOf(key);
      const unfinished = `${file}.${random.bytes(6).toString('hex')}`;
      try {
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
        await writeFile(
          unfinished,
          Buffer.concat([Buffer.from(`${JSON.stringify({ ...meta, bytes: bytes.length })}\n`), bytes]),
          { mode: 0o600 },
        );
        await utimes(unfinished, now() / 1000, now() / 1000);
        await rename(unfinished, file);
      } catch {
        await rm(unfinished, { force: true }).catch(() => {});
        return;
      }
      writtenBytes += bytes.length;
      if (writtenBytes > maxBytes * writtenShare) await sweep();
    },
    load: () => load,
    sweep,
  };
}
