import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** One action or finding of the recovery in a repository. */
export interface RecoveryAction {
  /** `removed`: a leftover of a killed process. `empty_ref`: a ref without a value, which breaks every fetch. */
  kind: 'removed' | 'empty_ref';
  /** Relative to the repository. */
  file: string;
}

/** Leftovers of a killed git: folders and file names. */
const leftovers: readonly { folder: string; names: RegExp }[] = [
  {
    folder: '.',
    names: /^(?:HEAD|packed-refs|config|shallow|FETCH_HEAD|ORIG_HEAD)\.lock$|^packed-refs\.new$|^gc\.pid$/,
  },
  { folder: 'info', names: /\.lock$/ },
  { folder: 'refs/hearth/incoming', names: /^[0-9a-f-]{36}$/ },
  { folder: 'objects', names: /^(?:tmp_objdir-|incoming-)|^tmp_/ },
  { folder: 'objects/info', names: /\.lock$|^tmp_/ },
  { folder: 'objects/info/commit-graphs', names: /\.lock$|^tmp_/ },
  { folder: 'objects/pack', names: /^(?:tmp_|\.tmp-)|\.lock$/ },
];

/**
 * Removes leftovers of a killed process: locks, which would block their ref for ever, and unfinished objects. Reports
 * refs without a value; these stay because they are the only trace of the loss.
 * @param bornBefore only files last touched before this time, in epoch milliseconds of the file system's clock: the
 *   start time of this process makes it safe while git runs
 * @param onlyLook removes nothing; the actions describe what would be removed
 */
export async function recoverRepository(
  repository: string,
  bornBefore: number,
  { onlyLook = false }: { onlyLook?: boolean } = {},
): Promise<RecoveryAction[]> {
  const actions: RecoveryAction[] = [];

  async function removeIfOld(file: string): Promise<void> {
    const full = path.join(repository, file);
    const found = await lstat(full).catch(() => null);
    if (found === null || found.mtimeMs >= bornBefore) return;
    if (!onlyLook) await rm(full, { recursive: true, force: true });
    actions.push({ kind: 'removed', file });
  }

  async function visitRefs(folder: string): Promise<void> {
    for (const entry of await list(path.join(repository, folder))) {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) await visitRefs(file);
      else if (entry.name.endsWith('.lock')) await removeIfOld(file);
      else if ((await lstat(path.join(repository, file)).catch(() => null))?.size === 0)
        actions.push({ kind: 'empty_ref', file });
    }
  }

  await visitRefs('refs');
  for (const { folder, names } of leftovers) {
    for (const { name } of await list(path.join(repository, folder))) {
      if (names.test(name)) await removeIfOld(path.posix.join(folder, name));
    }
  }
  for (const { name } of await list(path.join(repository, 'objects'))) {
    if (!/^[0-9a-f]{2}$/.test(name)) continue;
    for (const entry of await list(path.join(repository, 'objects', name))) {
      if (entry.name.startsWith('tmp_obj_')) await removeIfOld(`objects/${name}/${entry.name}`);
    }
  }
  return actions;
}

async function list(folder: string) {
  return readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}
