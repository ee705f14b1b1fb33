import { rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config/index.ts';
import { isDiskFull } from '../kernel/index.ts';

/** Size of a small write of the database and of git; a single byte would fit on a disk that is full for both. */
const sample = Buffer.alloc(128 * 1024, 1);

/**
 * Reason why writes fail; without paths, because the readiness check is public. Writes and removes a file: permissions
 * do not reveal a file system that an error has made read-only, and free space does not reveal a quota or a lack of
 * inodes.
 */
export async function storageFault({ dataDir, storage }: Pick<Config, 'dataDir' | 'storage'>): Promise<string | null> {
  const probe = path.join(dataDir, 'run', 'writable');
  try {
    await rm(probe, { force: true });
    await writeFile(probe, sample, { mode: 0o600 });
    const { bavail, bsize } = await statfs(dataDir);
    return bavail * bsize < storage.lowDiskFloorBytes || bavail === 0 ? 'disk full' : null;
  } catch (error) {
    return isDiskFull(error) ? 'disk full' : 'storage';
  } finally {
    await rm(probe, { force: true }).catch(() => {});
  }
}
