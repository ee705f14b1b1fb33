// startStoreServer(t, env?) → a server whose repositories are in the store, with the stand-in of one.
// urlOf(name) → of `guild/roof`, or of one of alice. emptyCache() removes the folders of all repositories. refsOf(name)
// → what a client sees. cloneOf(name) → a mirror clone from an emptied cache, checked by git fsck; its refs.
import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { startFakeS3 } from '../fixtures/fake-s3-server.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { clientGit, gitSync } from '../git/git-fixture.ts';
import { startGitServer } from '../http-git/git-server.ts';

let removals = 0;

/** Removes the caches in one step: a server may be writing there. */
export function removeCaches(folder: string): void {
  if (!existsSync(folder)) return;
  const gone = `${folder}-gone-${(removals += 1)}`;
  renameSync(folder, gone);
  rmSync(gone, { recursive: true, force: true, maxRetries: 10 });
}

export async function startStoreServer(t: Owner, env: Record<string, string> = {}) {
  const s3 = await startFakeS3(t);
  const server = await startGitServer(t, { SERVICE_GIT_STORAGE: 'store', ...s3.env, ...env });
  const caches = path.join(server.folder, 'data', 'cache', 'repositories');
  let clones = 0;
  const urlOf = (name: string): string =>
    name.includes('/')
      ? server.url('x', server.tokens.alice).replace('alice/x', name)
      : server.url(name, server.tokens.alice);

  const refsOf = async (name: string): Promise<string> => {
    const { code, stdout, stderr } = await clientGit(['ls-remote', urlOf(name)]);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  return {
    ...server,
    s3,
    caches,
    emptyCache: () => removeCaches(caches),
    refsOf,
    urlOf,
    /** The refs of a clone that was made from the store alone, and everything in it. */
    async cloneOf(name: string): Promise<string> {
      removeCaches(caches);
      const target = path.join(server.folder, `clone-${(clones += 1)}`);
      const { code, stderr } = await clientGit(['clone', '--quiet', '--mirror', urlOf(name), target]);
      if (code !== 0) throw new Error(stderr);
      gitSync(['fsck', '--full', '--strict'], { cwd: target });
      return gitSync(['for-each-ref', '--format=%(objectname) %(refname)'], { cwd: target });
    },
  };
}
