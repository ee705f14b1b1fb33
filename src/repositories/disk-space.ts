import { statfs } from 'node:fs/promises';

/**
 * Whether free disk space is so low that only reads are allowed. Where that cannot be determined, writes are tried:
 * they report their own failure.
 */
export async function isDiskLow(folder: string, floorBytes: number): Promise<boolean> {
  const space = await statfs(folder).catch(() => null);
  return space !== null && space.bavail * space.bsize < floorBytes;
}
