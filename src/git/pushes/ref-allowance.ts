import { readRefs } from '../refs/refs.ts';

/** Answers whether a repository may get so many more refs. */
export type RefAllowance = (path: string, added: number) => Promise<boolean>;

const keptRepositories = 1_000;

/**
 * Bounds the refs of each repository. Refs are counted when nothing is known of a
 * repository, and again when what was left then is used up: a push pays for counting
 * only now and then. Pushes that fail later, and deletions, only make it count sooner.
 */
export function createRefAllowance(maxRefs: number): RefAllowance {
  const left = new Map<string, number>();
  return async (path, added) => {
    let room = left.get(path);
    left.delete(path);
    if (room === undefined || room < added) room = maxRefs - (await readRefs(path)).size;
    const fits = added <= room;
    left.set(path, fits ? room - added : room);
    const [oldest] = left.keys();
    if (left.size > keptRepositories && oldest !== undefined) left.delete(oldest);
    return fits;
  };
}
