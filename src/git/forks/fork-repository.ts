import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { syncPath } from '../../files/index.ts';
import { conflict, internal, invalid } from '../../kernel/index.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { readRefs } from '../refs/refs.ts';
import { initRepository, repositoryExists } from '../storage.ts';
import { pruneUnreachableObjects } from './prune-unreachable-objects.ts';
import { linkObjects } from './link-objects.ts';

const listMs = 60_000;
const maxListBytes = 64 * 1024 * 1024;

export interface ForkRequest {
  /** The branch to which the fork's HEAD points. */
  defaultBranch: string;
  /** Copies only this branch; null for all branches and tags. */
  onlyBranch: string | null;
}

/**
 * Copies a repository with its branches and tags and no other ref; hard links share its object files. The copy appears
 * by a rename, complete and synced, or not at all. Refs are read first, so that the objects listed afterwards include
 * theirs. Throws `repository_exists`, `repository_empty`, `branch_not_found`, `repository_moves` if the source is
 * removed or moved meanwhile, `repository_busy`.
 */
export async function forkRepository(
  runner: GitRunner,
  source: string,
  target: string,
  { defaultBranch, onlyBranch }: ForkRequest,
): Promise<void> {
  if (await repositoryExists(target)) throw conflict('repository_exists', 'A repository already exists at this path.');
  const unfinished = `${target}.new`;
  try {
    const refs = await readRefs(source);
    if (![...refs.keys()].some(isCopied))
      throw conflict('repository_empty', 'This repository has no commits yet, so there is nothing to fork.');
    if (onlyBranch !== null && !refs.has(`refs/heads/${onlyBranch}`))
      throw invalid('branch_not_found', 'This branch does not exist in the repository.', { field: 'branch' });
    await initRepository(runner, unfinished, defaultBranch);
    await linkObjects(path.join(source, 'objects'), path.join(unfinished, 'objects'));
    // Objects that readers of the source can fetch need not be hidden in the fork, even without a ref to them.
    await writePackedRefs(
      unfinished,
      '# pack-refs with: \n',
      [...refs].map(([name, oid]) => `${oid} ${name}`),
    );
    await pruneUnreachableObjects(runner, unfinished);
    await writePackedRefs(
      unfinished,
      '# pack-refs with: peeled fully-peeled sorted \n',
      await listRefs(runner, unfinished, onlyBranch),
    );
    await syncFolders(unfinished);
    await rename(unfinished, target);
    await syncPath(path.dirname(target));
    await syncPath(path.dirname(path.dirname(target)));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 5 });
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || (await repositoryExists(source))) throw error;
    throw conflict('repository_moves', 'This repository is being moved. Try again in a moment.', { cause: error });
  }
}

const isCopied = (ref: string): boolean => ref.startsWith('refs/heads/') || ref.startsWith('refs/tags/');

async function writePackedRefs(repository: string, head: string, lines: readonly string[]): Promise<void> {
  const file = path.join(repository, 'packed-refs');
  await writeFile(file, head + lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  await syncPath(file);
}

/** Branches and tags in the form of `packed-refs`: sorted by bytes, annotated tags with their peeled ids. */
async function listRefs(runner: GitRunner, repository: string, onlyBranch: string | null): Promise<string[]> {
  const argv = [`--git-dir=${repository}`, 'show-ref', '--dereference', '--heads', '--tags'];
  const { code, output, errorText } = await runner.run({ argv, timeLimitMs: listMs }, maxListBytes);
  if (code !== 0) throw internal('git could not list the refs of a fork', { cause: { code, errorText } });
  // Names are UTF-8, as every push checks; writing one character per byte would encode them twice.
  return output
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      const [oid = '', name = ''] = line.split(' ');
      if (name === '' || (onlyBranch !== null && name !== `refs/heads/${onlyBranch}`)) return [];
      return [name.endsWith('^{}') ? `^${oid}` : `${oid} ${name}`];
    });
}

/** A hard link is a directory entry: the file contents were synced when written, the new names were not. */
async function syncFolders(repository: string): Promise<void> {
  const folders = [repository];
  for (const folder of folders) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const entry of await readdir(folder, { withFileTypes: true }))
      if (entry.isDirectory()) folders.push(path.join(folder, entry.name));
    await syncPath(folder);
  }
}
