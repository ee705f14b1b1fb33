import { statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config/index.ts';

/** What keeps writes from succeeding; named without paths, because anybody may ask whether the server is ready. */
export async function storageFault({ dataDir, storage }: Config): Promise<string | null> {
  try {
    // Asking for the right is not enough: a file system that an error has turned read-only still grants it.
    await writeFile(path.join(dataDir, 'run', 'writable'), 'x', { mode: 0o600 });
    const { bavail, bsize } = await statfs(dataDir);
    return bavail * bsize < storage.lowDiskFloorBytes ? 'disk full' : null;
  } catch {
    return 'storage';
  }
}
