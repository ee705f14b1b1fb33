import { nullIfAbsent } from '../files/index.ts';
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { invalid } from '../kernel/index.ts';

/**
 * Creates a folder named by the user, with its parents. One level at a time: with `recursive`, Node never returns on
 * file systems that cannot have new folders, such as /proc. Throws `backup_folder_unusable`; created parents stay,
 * empty.
 */
export async function createFolder(folder: string): Promise<void> {
  try {
    await make(path.resolve(folder));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'EACCES' || code === 'EPERM'
        ? 'this user may not write there'
        : code === 'ENOTDIR' || code === 'EEXIST'
          ? 'a file is in the way'
          : code === 'EROFS'
            ? 'the disk is read-only'
            : 'nobody can make folders there';
    throw invalid('backup_folder_unusable', `The folder ${folder} cannot be created: ${why}.`, { cause: error });
  }
}

async function make(folder: string): Promise<void> {
  const found = await stat(folder).catch(nullIfAbsent);
  if (found?.isDirectory()) return;
  if (found !== null) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
  await make(path.dirname(folder));
  await mkdir(folder, { mode: 0o700 });
}
