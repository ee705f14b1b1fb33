import type { Commit } from '../../git/index.ts';
import type { PullDeps } from '../deps.ts';
import { limits } from '../limits.ts';

/** The commits of a round, from its head and the tip of the base branch. Ids are full. */
export interface ReadRound {
  headOid: string;
  /** The merge base; the tip of the base branch if there is no common history. */
  baseOid: string;
  isUnrelated: boolean;
  commitCount: number;
  /** The newest commits, oldest first, at most `limits.listedCommits`. */
  commits: RoundCommit[];
}

export interface RoundCommit {
  oid: string;
  subject: string;
  changeId: string | null;
  /** For messages and co-authors of merges; not recorded. */
  commit: Commit;
}

/**
 * Finds the commits that a head adds to a branch. Throws `git_busy`.
 * @param path folder of the repository, which has both
 * @param base start of its commits; by default the merge base
 */
export async function readRound(
  { git }: Pick<PullDeps, 'git'>,
  path: string,
  headOid: string,
  baseTip: string,
  base?: string | null,
): Promise<ReadRound> {
  const mergeBase = base ?? (await git.queries.mergeBase(path, baseTip, headOid));
  const baseOid = mergeBase ?? baseTip;
  const [{ ahead }, commits] = await Promise.all([
    git.queries.distance(path, baseOid, headOid),
    commitsOnto(git, path, baseOid, headOid),
  ]);
  return {
    headOid,
    baseOid,
    isUnrelated: mergeBase === null,
    commitCount: ahead,
    commits,
  };
}

/** The commits of a head that a base lacks, oldest first; only the newest of many. Throws `git_busy`. */
export async function commitsOnto(
  git: PullDeps['git'],
  path: string,
  baseOid: string,
  headOid: string,
): Promise<RoundCommit[]> {
  const commits = await git.queries.commitsBetween(path, baseOid, headOid, { limit: limits.listedCommits });
  return commits.reverse().map((commit) => ({
    oid: commit.oid,
    subject: commit.subject.slice(0, 500),
    changeId: changeIdOf(commit),
    commit,
  }));
}

/**
 * The id by which a rewritten commit is recognised: the last `Change-Id` trailer, as written by Gerrit's hook, else the
 * header of jj. The trailer takes precedence, because git drops the header when amending.
 */
export function changeIdOf({ message, changeId }: Pick<Commit, 'message' | 'changeId'>): string | null {
  const lines = message.trimEnd().split('\n');
  for (let at = lines.length - 1; at >= 0 && lines[at] !== ''; at -= 1) {
    const found = /^Change-Id: *([A-Za-z0-9]{8,64}) *$/.exec(lines[at]!);
    if (found !== null) return found[1]!;
  }
  return changeId;
}
