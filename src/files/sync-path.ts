import { open } from 'node:fs/promises';

/** Syncs a file, or the directory entries of a folder: a new file is durable only once its folder is synced, too. */
export async function syncPath(place: string): Promise<void> {
  const handle = await open(place, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
