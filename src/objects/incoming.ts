import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rm, statfs } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../files/index.ts';
import { freeMemory, invalid, unavailable } from '../kernel/index.ts';
import type { Logger, Random } from '../kernel/index.ts';
import type { PutOptions, StoredObject } from './object-store.ts';

/** Starts with a dot, which no key does: backups and lists skip it. */
export const incomingFolder = '.incoming';

export interface IncomingOptions {
  /** The folder of objects; created if it is missing. */
  directory: string;
  /** Free space in bytes below which nothing is stored. */
  lowDiskFloorBytes: () => number;
  random: Random;
  logger: Logger;
}

/** Files of incoming content, whose size and digest are not known yet. */
export interface Incoming {
  /**
   * Writes the content to a new file, which the caller moves or removes. Throws `low_disk_space`, `disk_full`,
   * `storage_read_only`, `object_damaged`, the error of `tooLarge`, and errors of the content; then there is no file.
   * @param isSynced whether the file is durable when this returns
   */
  receive(
    content: AsyncIterable<Uint8Array>,
    options: PutOptions,
    isSynced: boolean,
  ): Promise<{ file: string; stored: StoredObject }>;
  /** At start: removes leftovers of a killed process. Returns the number of files. */
  sweep(): Promise<number>;
}

export function createIncoming({ directory, lowDiskFloorBytes, random, logger }: IncomingOptions): Incoming {
  const incoming = path.join(directory, incomingFolder);
  return {
    async receive(content, options, isSynced) {
      const file = path.join(incoming, random.bytes(16).toString('hex'));
      try {
        await mkdir(incoming, { recursive: true, mode: 0o700 });
        const { bavail, bsize } = await statfs(incoming);
        if (bavail * bsize < lowDiskFloorBytes())
          throw unavailable('low_disk_space', 'The server is low on disk space. Nothing was stored.', {
            retryAfterSeconds: 60,
          });
        const handle = await open(file, 'wx', 0o600);
        try {
          const stored = await write(handle, content, options);
          if (isSynced) await handle.sync();
          return { file, stored };
        } finally {
          await handle.close();
        }
      } catch (error) {
        await rm(file, { force: true });
        throw explainDiskError(error);
      }
    },

    async sweep() {
      const left = (await readdir(incoming).catch(nullIfAbsent)) ?? [];
      for (const name of left) await rm(path.join(incoming, name), { force: true });
      if (left.length > 0) logger.info('objects.swept', { files: left.length });
      return left.length;
    },
  };
}

async function write(
  handle: FileHandle,
  content: AsyncIterable<Uint8Array>,
  { maxBytes, tooLarge, expected = {}, frees = false }: PutOptions,
): Promise<StoredObject> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge();
    hash.update(chunk);
    await handle.writeFile(chunk);
    if (frees) freeMemory(chunk);
  }
  const stored = { bytes, sha256: hash.digest('hex') };
  if ((expected.bytes ?? bytes) !== bytes || (expected.sha256 ?? stored.sha256) !== stored.sha256)
    throw invalid(
      'object_damaged',
      'The received content does not match its announced digest or size. Nothing was stored.',
    );
  return stored;
}

/** Converts errors of a full or read-only disk into domain errors; returns every other error unchanged. */
export function explainDiskError(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const refuse = (reason: string, words: string) =>
    unavailable(reason, `${words}: nothing was stored.`, { cause: error });
  if (code === 'ENOSPC' || code === 'EDQUOT') return refuse('disk_full', 'The disk is full');
  if (code === 'EROFS') return refuse('storage_read_only', 'The folder of the objects is read-only');
  return error;
}
