import type { RepositoryDeps } from '../deps.ts';

/** Moves a repository's folder unless it was already moved. Returns whether it moved. */
export async function moveIfThere({ git }: Pick<RepositoryDeps, 'git'>, from: string, to: string): Promise<boolean> {
  if (from === to || !(await git.storage.exists(from)) || (await git.storage.exists(to))) return false;
  await git.storage.move(from, to);
  return true;
}
