import { statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config/index.ts';

/** Why writes fail; without paths, because the readiness check is public. */
export async function storageFault({ dataDir, storage }: Config): Promise<string | null> {
  try {
    // Access rights are not enough: a file system that an error has turned read-only still grants them.
    await writeFile(path.join(dataDir, 'run', 'writable'), 'x', { mode: 0o600 });
    const { bavail, bsize } = await statfs(dataDir);
    return bavail * bsize < storage.lowDiskFloorBytes ? 'disk full' : null;
  } catch {
    return 'storage';
  }
}
