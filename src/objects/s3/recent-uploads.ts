import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, statfs, utimes } from 'node:fs/promises';
import path from 'node:path';
import { digestFile, nullIfAbsent } from '../../files/index.ts';
import type { Clock, Logger } from '../../kernel/index.ts';
import type { StoredObject } from '../object-store.ts';

/** Starts with a dot, which no key does: backups and lists skip it. */
const recentFolder = '.recent';
const keptMs = 60 * 60_000;
const sweepEveryMs = 60_000;
/** Prefixes of uploads that users would have to repeat, and may no longer have. */
const keptPrefixes = ['lfs/', 'artifacts/'];

/** A local copy of an object that should be in a bucket. */
interface RecentUpload {
  file: string;
  stored: StoredObject;
}

/**
 * Local copies of uploads to a bucket within the last hour: a store may respond with 200 before the bytes are on its
 * disks, and lose them in a power failure.
 */
export interface RecentUploads {
  /**
   * Moves the file to the copies, unless its kind is not kept or the disk is too full: then it stays with the caller.
   * Logs errors and never throws: the bucket has the object.
   */
  keep(key: string, file: string): Promise<void>;
  find(key: string): Promise<RecentUpload | null>;
  drop(key: string): Promise<void>;
  /** Removes copies older than an hour. */
  sweep(): Promise<void>;
}

export function createRecentUploads({
  directory,
  clock,
  lowDiskFloorBytes,
  logger,
}: {
  directory: string;
  clock: Clock;
  lowDiskFloorBytes: () => number;
  logger: Logger;
}): RecentUploads {
  const folder = path.join(directory, recentFolder);
  let sweptAt = -Infinity;
  const placeOf = (key: string): string => path.join(folder, createHash('sha256').update(key).digest('hex'));

  async function sweep(): Promise<void> {
    sweptAt = clock.now();
    for (const name of (await readdir(folder).catch(nullIfAbsent)) ?? []) {
      const file = path.join(folder, name);
      const there = await stat(file).catch(nullIfAbsent);
      if (there !== null && there.mtimeMs <= sweptAt - keptMs) await rm(file, { force: true });
    }
  }

  async function moveIn(key: string, file: string): Promise<void> {
    if (sweptAt + sweepEveryMs <= clock.now()) await sweep();
    if (!keptPrefixes.some((prefix) => key.startsWith(prefix))) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await statfs(folder);
    // Twice the limit: the copy must not be the reason for refusing the next upload.
    if (bavail * bsize < 2 * lowDiskFloorBytes()) return;
    const at = new Date(clock.now());
    await utimes(file, at, at);
    await rename(file, placeOf(key));
  }

  return {
    keep: (key, file) =>
      moveIn(key, file).catch((error: unknown) => {
        logger.warn('objects.copy_failed', { key, error });
      }),

    async find(key) {
      const file = placeOf(key);
      const there = await stat(file).catch(nullIfAbsent);
      if (there === null || there.mtimeMs <= clock.now() - keptMs) return null;
      return { file, stored: await digestFile(file) };
    },

    drop: (key) => rm(placeOf(key), { force: true }),
    sweep,
  };
}
