import type { Commit } from '../../git/index.ts';
import type { PullDeps } from '../deps.ts';
import { limits } from '../limits.ts';

/** The commits of a round, found from its head and the tip of the base branch. Ids are full. */
export interface ReadRound {
  headOid: string;
  /** The merge base; the tip of the base branch where the two have no common history. */
  baseOid: string;
  isUnrelated: boolean;
  commitCount: number;
  /** The newest of them, oldest first, at most `limits.listedCommits`. */
  commits: RoundCommit[];
}

export interface RoundCommit {
  oid: string;
  subject: string;
  changeId: string | null;
  /** Kept for messages and co-authors of merges; not recorded. */
  commit: Commit;
}

/**
 * Finds what a head brings to a branch. Refuses `git_busy`.
 * @param path folder of the repository, which has both
 * @param base where its commits begin; left out, where the two have parted
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

/** The commits that a head has and a base has not, oldest first; the newest ones of many. Refuses `git_busy`. */
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
 * By what a commit is known again when it is rewritten: the `Change-Id` trailer, as Gerrit's hook writes it, the last
 * one of several; else the header of jj. The trailer comes first, because git drops the header when it amends.
 */
export function changeIdOf({ message, changeId }: Pick<Commit, 'message' | 'changeId'>): string | null {
  const lines = message.trimEnd().split('\n');
  for (let at = lines.length - 1; at >= 0 && lines[at] !== ''; at -= 1) {
    const found = /^Change-Id: *([A-Za-z0-9]{8,64}) *$/.exec(lines[at]!);
    if (found !== null) return found[1]!;
  }
  return changeId;
}
