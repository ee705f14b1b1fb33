import { constants } from 'node:fs';
import { copyFile, mkdir, opendir, stat } from 'node:fs/promises';
import path from 'node:path';
import { explainFullDisk, invalid } from '../../kernel/index.ts';
import { fileLimits } from './file-limits.ts';

/**
 * Copies a folder: the import source stays unchanged, and the server can read the copy regardless of its owner. Refuses
 * links, sockets and devices, so that nothing outside of the folder is read. Throws `unreadable_import_files`,
 * `disk_full`.
 */
export async function copyFolder(
  from: string,
  to: string,
  limits: Pick<typeof fileLimits, 'totalBytes' | 'entries' | 'depth'> = fileLimits,
): Promise<void> {
  let [bytes, entries] = [0, 0];
  const copy = async (below: string, depth: number): Promise<void> => {
    if (depth > limits.depth) throw unreadable(`The folder is deeper than ${limits.depth} folders.`);
    await mkdir(path.join(to, below), { recursive: true, mode: 0o700 });
    for await (const entry of await opendir(path.join(from, below))) {
      entries += 1;
      if (entries > limits.entries) throw unreadable(`The folder has more than ${limits.entries} files.`);
      const name = path.join(below, entry.name);
      if (entry.isDirectory()) await copy(name, depth + 1);
      else if (!entry.isFile()) throw unreadable(`${name} is a link or no plain file; such a folder is not imported.`);
      else {
        bytes += (await stat(path.join(from, name))).size;
        if (bytes > limits.totalBytes)
          throw unreadable(`The folder is larger than ${limits.totalBytes / 1024 ** 3} GiB.`);
        await copyFile(path.join(from, name), path.join(to, name), constants.COPYFILE_FICLONE);
      }
    }
  };
  try {
    await copy('', 0);
  } catch (error) {
    throw explainFullDisk(error);
  }
}

export const unreadable = (message: string) => invalid('unreadable_import_files', message, { field: 'from' });
