import type { Viewer } from '../../access/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { RepositoryAddress } from '../find-repository.ts';

/** How many files a message names. */
const namedFiles = 5;

interface SourceMerge {
  /** Folder of the fork. */
  path: string;
  /** The tip of the fork's branch, and that of the source's: full ids. */
  onto: string;
  head: string;
  branch: string;
  source: RepositoryAddress;
}

/**
 * Makes a merge commit of a branch of a fork and the same branch of its source, by the viewer and signed by the server.
 * Returns its id, or `onto` when the branch has all of it. Refuses `merge_conflict`, `unrelated_histories`, `git_busy`.
 */
export async function mergeSource(
  { git, clock, committer }: RepositoryDeps,
  viewer: Viewer,
  { path, onto, head, branch, source }: SourceMerge,
): Promise<string> {
  const identity = { ...(await committer.identityOf(viewer)), at: clock.now(), offsetMinutes: 0 };
  const from = `${source.owner}/${source.name}`;
  const outcome = await git.merges.merge(path, {
    style: 'MERGE',
    onto,
    head,
    message: `Merge branch '${branch}' of ${from}`,
    author: identity,
    committer: identity,
    sign: committer.sign,
  });
  switch (outcome.kind) {
    case 'merged':
      return outcome.oid;
    case 'nothing':
      return onto;
    case 'conflict': {
      const names = outcome.files.slice(0, namedFiles).map((file) => file.path);
      const more = outcome.files.length - names.length;
      throw conflict(
        'merge_conflict',
        `${branch} and ${from} change the same lines of ${names.join(', ')}${more > 0 ? ` and ${more} more files` : ''}. Merge them in a clone.`,
      );
    }
    default:
      throw conflict('unrelated_histories', `${branch} and that of ${from} have no common history.`);
  }
}
