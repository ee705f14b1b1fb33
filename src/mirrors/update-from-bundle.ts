import path from 'node:path';
import { isBranchOrTag } from '../kernel/index.ts';
import type { ExchangeOptions, Git } from '../git/index.ts';
import type { Random } from '../kernel/index.ts';
import type { Found, Repositories } from '../repositories/index.ts';
import { diffRefs } from './pull.ts';

interface BundleUpdateDeps {
  git: Git;
  repositories: Pick<Repositories, 'pushes'>;
  random: Random;
  /** Folder of temporary repositories, on the file system of the real ones. */
  temporaryFolder: string;
}

/**
 * Updates the branches and tags of a repository to those of a git bundle, as a mirror transfer does from a remote: refs
 * missing in the bundle stay. Everything is read before anything changes. Throws `parcel_unreadable`.
 * @returns the number of moved refs, and the refused ones with their reason
 */
export async function updateFromBundle(
  { git, repositories, random, temporaryFolder }: BundleUpdateDeps,
  found: Found,
  source: string,
  options?: ExchangeOptions,
): Promise<{ moved: number; refused: string[] }> {
  const scratch = path.join(temporaryFolder, `bundle-${random.uuid()}.git`);
  try {
    await git.remotes.bundles.read(source, scratch, options);
    const there = [...(await git.refs.list(scratch))].filter(([ref]) => isBranchOrTag(ref));
    const updates = diffRefs(await git.refs.list(found.path), new Map(there), false);
    if (updates.length === 0) return { moved: 0, refused: [] };
    await git.remotes.bundles.takeObjects(scratch, found.path);
    const { results } = await repositories.pushes.applyUpdates(found, { via: 'mirror', userId: null, updates });
    const refused = results.flatMap((result) => (result.ok ? [] : [`${result.ref}: ${result.reason}`]));
    return { moved: results.length - refused.length, refused };
  } finally {
    await git.storage.remove(scratch);
  }
}
