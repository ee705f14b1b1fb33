import { createReadStream } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';

/** Opens a regular file below a folder; null if it is absent or outside. */
export async function openBelow(folder: string, name: string): Promise<ReturnType<typeof createReadStream> | null> {
  const file = path.resolve(folder, name);
  if (!file.startsWith(folder + path.sep)) return null;
  return (await lstat(file).catch(nullIfAbsent))?.isFile() === true ? createReadStream(file) : null;
}
