import { rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config/index.ts';
import { isDiskFull } from '../kernel/index.ts';

/** What a small write of the database and of git takes; one byte fits on a disk that is full for both. */
const sample = Buffer.alloc(128 * 1024, 1);

/**
 * Why writes fail; without paths, because the readiness check is public. A file is written and removed: access rights
 * say nothing of a file system that an error has turned read-only, and free space nothing of a quota or of inodes.
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
