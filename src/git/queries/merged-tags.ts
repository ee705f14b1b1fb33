import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { queryGit } from './query-git.ts';

/** A tag in the history of a commit. */
export interface MergedTag {
  /** Without `refs/tags/`. */
  name: string;
  /** Whether it points to the commit itself. */
  isHere: boolean;
}

const maxOutputBytes = 16 * 1024 * 1024;

/**
 * The tags that point to a commit or one of its ancestors. Throws `git_busy`.
 * @param folder prefix of tag names, with a trailing slash; empty for all
 */
export async function mergedTags(
  deps: BrowseDeps,
  path: string,
  oid: string,
  folder: string,
): Promise<readonly MergedTag[]> {
  const format = '--format=%(refname:strip=2)%00%(objectname) %(*objectname)';
  const { output } = await queryGit(deps, path, {
    argv: ['for-each-ref', `--merged=${checked(oid)}`, format, `refs/tags/${folder}`],
    maxOutputBytes,
  });
  return output
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', ids = ''] = line.split('\0');
      return { name, isHere: ids.split(' ').includes(oid) };
    });
}
