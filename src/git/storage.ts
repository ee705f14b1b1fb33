import { syncPath } from '../files/index.ts';
import { lstat, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { conflict, internal, invalid } from '../kernel/index.ts';
import type { GitRunner } from './processes/git-runner.ts';
import { isBranchName, refuseShortName } from './refs/ref-name.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** `<root>/<owner-uuid>/<repository-uuid>.git` (SPEC §2.2): a path never contains a name chosen by a user. */
export function repositoryPath(root: string, ownerId: string, repositoryId: string): string {
  if (!uuid.test(ownerId) || !uuid.test(repositoryId)) throw internal('a repository path is built from UUIDs');
  return path.join(root, ownerId, `${repositoryId}.git`);
}

/** Creates an empty bare repository, atomically by a rename. Throws `invalid_branch_name`, `repository_exists`. */
export async function createRepository(runner: GitRunner, target: string, defaultBranch: string): Promise<void> {
  if (!isBranchName(defaultBranch) || refuseShortName(defaultBranch) !== null)
    throw invalid('invalid_branch_name', 'This is not a valid branch name.');
  if (await repositoryExists(target)) throw conflict('repository_exists', 'A repository already exists at this path.');
  const unfinished = `${target}.new`;
  await initRepository(runner, unfinished, defaultBranch);
  await rename(unfinished, target);
  await syncPath(path.dirname(target));
  await syncPath(path.dirname(path.dirname(target)));
}

/** Creates an empty bare repository in a folder without readers; removes anything there first. */
export async function initRepository(runner: GitRunner, folder: string, defaultBranch: string): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true, mode: 0o700 });
  await rm(folder, { recursive: true, force: true });

  const argv = ['init', '--quiet', '--bare', `--initial-branch=${defaultBranch}`, folder];
  const { code, errorText } = await runner.run({ argv, timeLimitMs: 30_000 }, 64 * 1024);
  if (code !== 0) throw internal('git could not make a repository', { cause: { code, errorText } });
  // With `export-subst` a file in the repository could run format strings in archives; the attributes here outrank
  // those in the repository.
  await mkdir(path.join(folder, 'info'), { recursive: true });
  await writeFile(path.join(folder, 'info', 'attributes'), '* -export-subst\n');

  // git syncs pushed data, but not the files of init: without this a power failure after the first push leaves an empty
  // HEAD, and so no repository.
  for (const file of ['HEAD', 'config', 'info/attributes', '.']) await syncPath(path.join(folder, file));
}

/** Throws `invalid_branch_name`. */
export async function setHead(runner: GitRunner, target: string, branch: string): Promise<void> {
  if (!isBranchName(branch)) throw invalid('invalid_branch_name', 'This is not a valid branch name.');
  const argv = [`--git-dir=${target}`, 'symbolic-ref', 'HEAD', `refs/heads/${branch}`];
  const { code, errorText } = await runner.run({ argv, timeLimitMs: 30_000 }, 64 * 1024);
  if (code !== 0) throw internal('git could not set the default branch', { cause: { code, errorText } });
  await syncPath(path.join(target, 'HEAD'));
  await syncPath(target);
}

export async function repositoryExists(target: string): Promise<boolean> {
  return (await stat(path.join(target, 'HEAD')).catch(() => null))?.isFile() ?? false;
}

/**
 * Moves a repository within the file system: to the trash, back, to another owner. Throws `repository_exists` if the
 * new path is taken.
 */
export async function moveRepository(from: string, to: string): Promise<void> {
  if (await repositoryExists(to)) throw conflict('repository_exists', 'A repository already exists at this path.');
  await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    // Work in the background that ended after the repository had left may write its file where it was.
    await rm(to, { recursive: true, force: true });
    await rename(from, to);
  }
  await syncPath(path.dirname(to));
  await syncPath(path.dirname(from));
}

/** Removes a repository permanently; ignores a missing one. */
export async function removeRepository(target: string): Promise<void> {
  if (!path.isAbsolute(target) || !target.endsWith('.git')) throw internal('only a bare repository is removed');
  // Leftovers of an interrupted creation or fork.
  await rm(`${target}.new`, { recursive: true, force: true });
  // Renamed first, so that no reader finds an incomplete one.
  const doomed = `${target}.removed`;
  await rm(doomed, { recursive: true, force: true });
  try {
    await rename(target, doomed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await rm(doomed, { recursive: true, force: true, maxRetries: 5 });
}

/** Sizes in bytes. */
export interface DiskUsage {
  /** All object files. */
  bytes: number;
  /** Object files shared with another repository as hard links: they are on disk once. */
  sharedBytes: number;
}

/** Measures all object files; concurrent changes may or may not be counted. */
export async function measureObjects(target: string): Promise<DiskUsage> {
  const usage: DiskUsage = { bytes: 0, sharedBytes: 0 };
  // A wiki is a repository inside that of its parent.
  const folders = [path.join(target, 'objects'), path.join(target, 'wiki.git', 'objects')];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(nothingIfGone)) {
      const place = path.join(folder, entry.name);
      if (entry.isDirectory()) folders.push(place);
      else {
        const found = await lstat(place).catch(() => null);
        usage.bytes += found?.size ?? 0;
        if (found !== null && found.nlink > 1) usage.sharedBytes += found.size;
      }
    }
  }
  return usage;
}

function nothingIfGone(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
