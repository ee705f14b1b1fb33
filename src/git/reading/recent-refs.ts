import { readRefs } from '../refs.ts';

/**
 * Every ref as of a moment ago, for menus and counts: reading thousands of loose refs for
 * each page would cost more than the page. What this process moves shows at once; what
 * another one did, after two seconds. Whoever decides something reads the refs themselves.
 */
export interface RecentRefs {
  read(repository: string): Promise<ReadonlyMap<string, string>>;
  forget(repository: string): void;
}

const keptMs = 2_000;
const maxRepositories = 50;

export function createRecentRefs(): RecentRefs {
  const known = new Map<string, { refs: Promise<ReadonlyMap<string, string>>; at: number }>();
  return {
    read(repository) {
      const recent = known.get(repository);
      if (recent && performance.now() - recent.at < keptMs) return recent.refs;
      const refs = readRefs(repository);
      known.set(repository, { refs, at: performance.now() });
      refs.catch(() => known.delete(repository));
      if (known.size > maxRepositories) known.delete(known.keys().next().value!);
      return refs;
    },
    forget: (repository) => void known.delete(repository),
  };
}
