import { readGit, lineSplitter } from './read-git.ts';
import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';

const daySeconds = 86_400;
/** Histories up to the limit are normally read in some seconds. */
const timeLimitMs = 60_000;

/** Commits of one author on one day. */
export interface CommitDay {
  /** As in the commits; bytes that are not UTF-8 become U+FFFD. */
  email: string;
  /** Number of the day since the epoch, in UTC. */
  day: number;
  commits: number;
}

/** Which commits are counted: reachable from `oid` and not from `known`, committed since a time in milliseconds. */
export interface CommitDaysRange {
  oid: string;
  known: string | null;
  since: number;
  /** Limit of commits to read: the newest. */
  limit: number;
}

/**
 * Counts commits by author and author date. Includes merge commits. Null if git could not read all of them in time.
 * Throws `git_busy`.
 */
export async function commitDays(
  deps: BrowseDeps,
  path: string,
  { oid, known, since, limit }: CommitDaysRange,
): Promise<CommitDay[] | null> {
  const counts = new Map<string, CommitDay>();
  const lines = lineSplitter(0, (line) => {
    const text = line.toString('utf8');
    const space = text.indexOf(' ');
    const day = Math.floor(Number(text.slice(0, space)) / daySeconds);
    const email = text.slice(space + 1);
    if (space === -1 || !Number.isSafeInteger(day)) return true;
    const key = `${day} ${email}`;
    const found = counts.get(key);
    if (found === undefined) counts.set(key, { email, day, commits: 1 });
    else found.commits += 1;
    return true;
  });
  const argv = [
    'log',
    '-z',
    '--no-show-signature',
    '--no-mailmap',
    '--format=tformat:%at %ae',
    `--since=@${Math.floor(since / 1000)}`,
    `--max-count=${limit}`,
    checked(oid),
    ...(known === null ? [] : [`^${checked(known)}`]),
    '--',
  ];
  const isWhole = await readGit(deps, path, argv, (chunk) => lines.feed(chunk), { timeLimitMs, yields: true });
  if (!isWhole) return null;
  lines.end();
  return [...counts.values()];
}
