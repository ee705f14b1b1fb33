import { statfs } from 'node:fs/promises';

/**
 * Whether so little space is left where `folder` is that only reading goes on.
 * Where that cannot be told, writing is tried: it has words for its own failure.
 */
export async function isDiskLow(folder: string, floorBytes: number): Promise<boolean> {
  const space = await statfs(folder).catch(() => null);
  return space !== null && space.bavail * space.bsize < floorBytes;
}
