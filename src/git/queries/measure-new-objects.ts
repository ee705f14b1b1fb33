import { quotedObjectFolder } from './compare-commits.ts';
import { linesOf, queryGit } from './query-git.ts';
import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';

/** Repository and range of objects to measure. */
export interface NewObjects {
  oid: string;
  /** Excludes the objects of these commits. */
  known: readonly string[];
  /** Another repository on this machine, which may contain some of `known`. */
  beside?: string | undefined;
}

/** Time limit of the measurement; git.git's whole history takes 7 s. */
const limitMs = 20_000;

/** Bytes on disk of the objects that a commit needs and the known ones lack. Throws `git_busy`. */
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
