import { statfs } from 'node:fs/promises';

/**
 * Whether so little space is left where `folder` is that only reading goes on.
 * What git keeps for itself (packing, locks) needs room as well.
 */
export async function isDiskLow(folder: string, floorBytes: number): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize < floorBytes;
}
