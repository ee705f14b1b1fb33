import { invalid } from '../../kernel/index.ts';
import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import type { Divergence } from './compare-commits.ts';
import { linesOf, queryGit } from './query-git.ts';

/** Limit of commits in one walk. Histories that are further apart are counted one by one. */
const maxCommits = 20_000;
/** One bit of a number per tip, and one for the commit they are compared with. */
const maxTips = 31;

/**
 * Distances of several commits from one, by one walk over the commits that not all of them share: git starts twice
 * instead of once per commit. Throws `too_many_commits`, `git_busy`.
 * @param tips at most 31 different ones
 * @returns by tip
 */
export async function walkDistances(
  deps: BrowseDeps,
  path: string,
  from: string,
  tips: readonly string[],
): Promise<Map<string, Divergence>> {
  if (tips.length > maxTips) throw invalid('too_many_commits', `At most ${maxTips} commits can be compared at once.`);
  const oids = [from, ...tips].map(checked);
  const common = await queryGit(deps, path, { argv: ['merge-base', '--octopus', ...oids], accepts: [0, 1] });
  const { output } = await queryGit(deps, path, {
    argv: [
      'rev-list',
      '--parents',
      '--topo-order',
      `--max-count=${maxCommits + 1}`,
      ...oids,
      ...linesOf(common.output).map((oid) => `^${oid}`),
      '--',
    ],
  });
  const lines = linesOf(output);
  if (lines.length > maxCommits) throw invalid('too_many_commits', 'The histories of these commits are far apart.');
  return countByTip(from, tips, lines);
}

/** @param lines a commit and its parents each, children before parents */
function countByTip(from: string, tips: readonly string[], lines: readonly string[]): Map<string, Divergence> {
  /** Bit mask of the histories that contain a commit; final once all its children are counted. */
  const members = new Map<string, number>([[from, 1]]);
  tips.forEach((tip, index) => void members.set(tip, (members.get(tip) ?? 0) | (2 << index)));
  const counts = tips.map((tip) => ({ tip, ahead: 0, behind: 0 }));
  for (const line of lines) {
    const [oid, ...parents] = line.split(' ');
    const histories = members.get(oid!) ?? 0;
    members.delete(oid!);
    for (const parent of parents) members.set(parent, (members.get(parent) ?? 0) | histories);
    counts.forEach((count, index) => {
      const isIn = (histories & (2 << index)) !== 0;
      if ((histories & 1) === 1) count.behind += isIn ? 0 : 1;
      else count.ahead += isIn ? 1 : 0;
    });
  }
  return new Map(counts.map(({ tip, ...distance }) => [tip, distance]));
}
