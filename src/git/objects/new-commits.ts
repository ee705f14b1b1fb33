import { internal, isDomainError } from '../../kernel/index.ts';
import { checked, readCommit } from './browse.ts';
import type { BrowseDeps } from './browse.ts';
import type { Commit } from './parse-objects.ts';

/** The commits that a moved branch gained. */
export interface NewCommits {
  /** Total number; `commits` can be shorter. */
  total: number;
  /** Newest first. */
  commits: Commit[];
}

/** Ids beyond this limit are ignored; commits excluded only by them are then counted as new. */
const maxKnown = 2_000;

/**
 * Commits reachable from `oid` and from none of `known`, newest first. Ids of `known` that no longer exist are ignored.
 * Throws `git_busy`.
 * @param options.limit number of commits to read; all are counted
 */
export async function newCommits(
  deps: BrowseDeps,
  path: string,
  oid: string,
  known: readonly string[],
  { limit }: { limit: number },
): Promise<NewCommits> {
  const range = [checked(oid), '--not', ...known.slice(0, maxKnown).map(checked), '--'];
  const listed = await revList(deps, path, [`--max-count=${limit}`, ...range]);
  const ids = listed.split('\n').filter((line) => line !== '');
  const total = ids.length < limit ? ids.length : await count(deps, path, range, ids.length);
  const commits = await deps.readers.use(path, (reader) => Promise.all(ids.map((id) => readCommit(reader, id))));
  return { total, commits };
}

/** Counting the history of a large repository may take too long. */
async function count(deps: BrowseDeps, path: string, range: readonly string[], atLeast: number): Promise<number> {
  try {
    return Number(await revList(deps, path, ['--count', ...range]));
  } catch (error) {
    if (isDomainError(error) && error.code === 'internal') return atLeast;
    throw error;
  }
}

async function revList(
  { runner, shortSlots, limits }: BrowseDeps,
  path: string,
  rest: readonly string[],
): Promise<string> {
  const leave = await shortSlots.acquire({ repository: path });
  try {
    const argv = [`--git-dir=${path}`, 'rev-list', '--ignore-missing', ...rest];
    const { code, output, errorText } = await runner.run(
      { argv, timeLimitMs: limits.shortMs, yields: true },
      limits.shortOutputBytes,
    );
    if (code !== 0) throw internal('git could not list commits', { cause: { code, errorText } });
    return output.toString('latin1');
  } finally {
    leave();
  }
}
