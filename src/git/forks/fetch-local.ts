import { internal } from '../../kernel/index.ts';
import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import type { Distance } from '../queries/compare.ts';
import { linesOf, queryGit } from '../queries/query-git.ts';
import { protocolOnly } from '../remotes/remote.ts';
import { isBranchName } from '../refs/ref-name.ts';
import path from 'node:path';

/** Namespace of what was fetched from another repository here, until a ref of the repository points to it. */
export const localFolder = 'refs/hearth/sync/';

/**
 * Fetches a branch of another repository of this machine, under a hidden name. Only objects that are missing are
 * copied. Refuses `internal` when git fails.
 * @returns the commit that the branch named
 */
export async function fetchLocal(
  runner: GitRunner,
  repository: string,
  source: string,
  branch: string,
  timeLimitMs: number,
): Promise<string> {
  if (!isBranchName(branch)) throw internal('not the name of a branch');
  const ref = `${localFolder}heads/${branch}`;
  const argv = [
    `--git-dir=${repository}`,
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
    source,
    `+refs/heads/${branch}:${ref}`,
  ];
  const environment = protocolOnly('file', [['fetch.unpackLimit', '1']]);
  const { code, errorText } = await runner.run({ argv, timeLimitMs, yields: true, environment }, 64 * 1024);
  if (code !== 0) throw internal('git could not fetch from another repository', { cause: { code, errorText } });
  const parse = [`--git-dir=${repository}`, 'rev-parse', '--verify', '--quiet', ref];
  const { output } = await runner.run({ argv: parse, timeLimitMs: 30_000 }, 4_096);
  return checked(output.toString().trim());
}

/**
 * How many commits each of two histories has that the other has not, where the second is in another repository.
 * git reads the other's objects beside its own for this one question; nothing of them stays. Refuses `git_busy`.
 */
export async function distanceBetween(
  deps: BrowseDeps,
  repository: string,
  from: string,
  other: string,
  to: string,
): Promise<Distance> {
  if (from === to) return { ahead: 0, behind: 0 };
  const { output } = await queryGit(deps, repository, {
    argv: ['rev-list', '--left-right', '--count', `${checked(from)}...${checked(to)}`, '--'],
    environment: { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedPath(path.join(other, 'objects')) },
  });
  const [behind = '0', ahead = '0'] = linesOf(output)[0]?.split('\t') ?? [];
  return { ahead: Number(ahead), behind: Number(behind) };
}

/** git splits the variable at colons, and reads an element in double quotes as a string of C. */
const quotedPath = (folder: string): string => `"${folder.replace(/["\\]/g, '\\$&')}"`;
