import path from 'node:path';
import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { queryGit, linesOf } from './query-git.ts';

export interface Divergence {
  /** Commits that only the other side contains. */
  ahead: number;
  behind: number;
}

/** The merge base of two commits; null if they have no common history. Throws `git_busy`. */
export async function mergeBase(deps: BrowseDeps, path: string, one: string, other: string): Promise<string | null> {
  const { output } = await queryGit(deps, path, {
    argv: ['merge-base', checked(one), checked(other)],
    accepts: [0, 1],
  });
  return linesOf(output)[0] ?? null;
}

/** Number of commits in each of two histories that the other lacks. Throws `git_busy`. */
export async function distance(deps: BrowseDeps, path: string, from: string, to: string): Promise<Divergence> {
  if (from === to) return { ahead: 0, behind: 0 };
  const { output } = await queryGit(deps, path, {
    argv: ['rev-list', '--left-right', '--count', `${checked(from)}...${checked(to)}`, '--'],
  });
  const [behind = '0', ahead = '0'] = linesOf(output)[0]?.split('\t') ?? [];
  return { ahead: Number(ahead), behind: Number(behind) };
}

/** Commits in `to` but not in `from`, newest first. Throws `git_busy`. */
export async function commitsBetween(
  deps: BrowseDeps,
  path: string,
  from: string,
  to: string,
  limit: number,
): Promise<string[]> {
  const { output } = await queryGit(deps, path, {
    argv: ['rev-list', `--max-count=${limit}`, checked(to), `^${checked(from)}`, '--'],
  });
  return linesOf(output);
}

/**
 * Whether a commit is reachable from a branch or tag; false for one that only a pull request contains. Throws
 * `git_busy`.
 */
export async function isOnBranchOrTag(deps: BrowseDeps, path: string, oid: string): Promise<boolean> {
  const { output } = await queryGit(deps, path, {
    argv: ['rev-list', '--max-count=1', checked(oid), '--not', '--branches', '--tags', '--'],
  });
  return output.length === 0;
}

/**
 * Number of commits in each of two histories that the other lacks, where the second is in another repository. git reads
 * the other's objects beside its own for this query only. Throws `git_busy`.
 */
export async function distanceBetween(
  deps: BrowseDeps,
  repository: string,
  from: string,
  other: string,
  to: string,
): Promise<Divergence> {
  if (from === to) return { ahead: 0, behind: 0 };
  const { output } = await queryGit(deps, repository, {
    argv: ['rev-list', '--left-right', '--count', `${checked(from)}...${checked(to)}`, '--'],
    environment: { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedObjectFolder(other) },
  });
  const [behind = '0', ahead = '0'] = linesOf(output)[0]?.split('\t') ?? [];
  return { ahead: Number(ahead), behind: Number(behind) };
}

/**
 * The object folder of a repository for GIT_ALTERNATE_OBJECT_DIRECTORIES. git splits that variable at colons, and
 * parses an element in double quotes as a C string.
 */
export const quotedObjectFolder = (repository: string): string =>
  `"${path.join(repository, 'objects').replace(/["\\]/g, '\\$&')}"`;
