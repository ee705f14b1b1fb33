import type { MirrorDeps } from './deps.ts';

/** Removes the hidden refs of a fetch; objects reachable from the repository's refs stay. */
export async function deleteFetchedRefs(git: MirrorDeps['git'], path: string): Promise<void> {
  const names = [...(await git.remotes.fetchedRefs(path)).keys()].map((ref) => ref.replace(/^refs\//, 'mirror/'));
  await git.objects.release(path, names);
}
