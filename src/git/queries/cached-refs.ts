import { createLru } from '../../kernel/index.ts';
import { readRefs } from '../refs/refs.ts';
import type { RefSnapshot } from '../ref-cache/ref-snapshot.ts';
import type { RefCache } from '../ref-cache/ref-cache.ts';

/**
 * Every ref, for menus and counts: reading thousands of loose refs for each page would cost more than the page. They
 * come from the ref cache, which is always current; where only git could list those, changes by other processes show
 * after two seconds. Decisions must read the refs themselves.
 */
export interface CachedRefs {
  read(repository: string): Promise<ReadonlyMap<string, string>>;
  forget(repository: string): void;
}

const ttlMs = 2_000;
const maxRepositories = 50;

/** Names of ASCII are the same strings as in the snapshot, and take no memory of their own. */
function namesAsText({ refs }: RefSnapshot): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const { name, oid } of refs)
    map.set(/[\x80-\xff]/.test(name) ? Buffer.from(name, 'latin1').toString() : name, oid);
  return map;
}

export function createCachedRefs(refCache: Pick<RefCache, 'of'>): CachedRefs {
  const bySnapshot = new WeakMap<RefSnapshot, ReadonlyMap<string, string>>();
  const known = createLru<string, Promise<ReadonlyMap<string, string>>>({
    name: 'recent refs',
    maxWeight: maxRepositories,
    ttlMs: ttlMs,
  });

  function ofSnapshot(snapshot: RefSnapshot): ReadonlyMap<string, string> {
    const refs = bySnapshot.get(snapshot) ?? namesAsText(snapshot);
    bySnapshot.set(snapshot, refs);
    return refs;
  }

  return {
    async read(repository) {
      const snapshot = await refCache.of(repository);
      if (snapshot !== null) return ofSnapshot(snapshot);
      const recent = known.get(repository);
      if (recent !== undefined) return recent;
      const refs = readRefs(repository);
      known.set(repository, refs);
      refs.catch(() => known.delete(repository));
      return refs;
    },
    forget: (repository) => known.delete(repository),
  };
}
