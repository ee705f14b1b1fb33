import { lfsNotStored } from '../../git/index.ts';
import type { SshDeps } from '../deps.ts';
import type { AuthenticatedSession } from './session.ts';

/**
 * Handles `git-lfs-authenticate` and `git-lfs-transfer`. Refuses `lfs_not_stored` to clients who may do the same with
 * git, under an old name of the repository too, and otherwise as git is refused.
 */
export async function refuseLfs(
  { repositories }: SshDeps,
  { operation, owner, name }: { operation: 'upload' | 'download'; owner: string; name: string },
  { viewer }: AuthenticatedSession,
): Promise<never> {
  const open = operation === 'upload' ? repositories.openForPush : repositories.openForRead;
  await open(viewer, owner, name).catch(async (error: unknown) => {
    if ((await repositories.findMoved(viewer, owner, name)) === null) throw error;
  });
  throw lfsNotStored();
}
