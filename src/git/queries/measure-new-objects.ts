import { quotedObjectFolder } from './compare-commits.ts';
import { linesOf, queryGit } from './query-git.ts';
import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';

/** Where objects are counted, and which count. */
export interface NewObjects {
  oid: string;
  /** What these commits have is left out. */
  known: readonly string[];
  /** Another repository on this machine, which may have some of `known`. */
  beside?: string | undefined;
}

/** Time limit of counting; of git.git's whole history it takes 7 s. */
const limitMs = 20_000;

/** How many bytes on disk the objects take that a commit needs and the known ones do not have. Refuses `git_busy`. */
export async function measureNewObjects(
  deps: BrowseDeps,
  path: string,
  { oid, known, beside }: NewObjects,
): Promise<number> {
  const { output } = await queryGit(deps, path, {
    argv: ['rev-list', '--objects', '--disk-usage', checked(oid), ...known.map((id) => `^${checked(id)}`), '--'],
    timeLimitMs: limitMs,
    ...(beside === undefined ? {} : { environment: { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedObjectFolder(beside) } }),
  });
  return Number(linesOf(output)[0] ?? 0);
}
