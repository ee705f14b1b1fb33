import { statfs } from 'node:fs/promises';
import path from 'node:path';

/**
 * Whether free disk space is so low that only reads are allowed. If it cannot be determined, writes are attempted and
 * report their own failure.
 * @param folder of a repository; may not exist yet
 */
export async function isDiskLow(folder: string, floorBytes: number): Promise<boolean> {
  const space = await statfs(folder).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' && path.dirname(folder) !== folder ? 'absent' : null,
  );
  if (space === 'absent') return isDiskLow(path.dirname(folder), floorBytes);
  return space !== null && space.bavail * space.bsize < floorBytes;
}
