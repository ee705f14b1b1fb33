import { checked } from '../browse.ts';
import type { BrowseDeps } from '../browse.ts';
import { askGit, linesOf } from './ask-git.ts';

export interface Distance {
  /** Commits that only the other side has. */
  ahead: number;
  behind: number;
}

/** Where two histories part; null when they have nothing in common. Refuses `git_busy`. */
export async function mergeBase(deps: BrowseDeps, path: string, one: string, other: string): Promise<string | null> {
  const { output } = await askGit(deps, path, { argv: ['merge-base', checked(one), checked(other)], accepts: [0, 1] });
  return linesOf(output)[0] ?? null;
}

/** Answered distances: ids never change their meaning. */
const maxRemembered = 5_000;

/** How far branches are from each other; each pair of commits is counted once. */
export function createDistances(deps: BrowseDeps): (path: string, from: string, to: string) => Promise<Distance> {
  const known = new Map<string, Promise<Distance>>();
  const ask = async (path: string, from: string, to: string): Promise<Distance> => {
    const { output } = await askGit(deps, path, { argv: ['rev-list', '--left-right', '--count', `${checked(from)}...${checked(to)}`, '--'] });
    const [behind = '0', ahead = '0'] = linesOf(output)[0]?.split('\t') ?? [];
    return { ahead: Number(ahead), behind: Number(behind) };
  };
  return (path, from, to) => {
    if (from === to) return Promise.resolve({ ahead: 0, behind: 0 });
    const key = `${path} ${from} ${to}`;
    const asked = known.get(key) ?? ask(path, from, to);
    if (!known.has(key)) {
      known.set(key, asked);
      asked.catch(() => known.delete(key));
      if (known.size > maxRemembered) known.delete(known.keys().next().value!);
    }
    return asked;
  };
}
