import type { Viewer } from '../../access/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { RepositoryAddress } from '../find-repository.ts';

/** Limit of files that an error message names. */
const namedFiles = 5;

interface SourceMerge {
  /** Folder of the fork. */
  path: string;
  /** Full ids of the tips of the fork's branch and the source's. */
  onto: string;
  head: string;
  branch: string;
  source: RepositoryAddress;
}

/**
 * Creates a merge commit of a fork's branch and the same branch of its source, authored by the viewer and signed by the
 * server. Returns its id, or `onto` if there is nothing to merge. Throws `merge_conflict`, `unrelated_histories`,
 * `git_busy`.
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
      throw conflict('unrelated_histories', `${branch} and the branch of ${from} have no common history.`);
  }
}
