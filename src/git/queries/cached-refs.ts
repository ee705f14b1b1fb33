import { createLru } from '../../kernel/index.ts';
import type { Head } from '../objects/browse.ts';
import { RefListing } from '../refs/ref-listing.ts';
import { readRefs } from '../refs/refs.ts';
import type { RefSnapshot } from '../ref-cache/ref-snapshot.ts';
import type { RefCache } from '../ref-cache/ref-cache.ts';

/**
 * Every ref, for pages, the API and events, where reading thousands of loose refs would cost more than the page. Comes
 * from the ref cache, which is always current; in repositories that only git can list, changes by other processes
 * appear after two seconds. Decisions must read the refs themselves.
 */
interface CachedRefs {
  read(repository: string): Promise<RefListing>;
  /** Null if only git can tell: HEAD is detached, or git lists the refs. */
  head(repository: string): Promise<Head | null>;
  forget(repository: string): void;
}

const heads = 'refs/heads/';
const ttlMs = 2_000;
const maxRepositories = 50;

export function createCachedRefs(refCache: Pick<RefCache, 'of'>): CachedRefs {
  const bySnapshot = new WeakMap<RefSnapshot, RefListing>();
  const known = createLru<string, Promise<RefListing>>({
    name: 'recent refs',
    maxWeight: maxRepositories,
    ttlMs: ttlMs,
  });

  function ofSnapshot(snapshot: RefSnapshot): RefListing {
    const refs = bySnapshot.get(snapshot) ?? new RefListing(snapshot.refs);
    bySnapshot.set(snapshot, refs);
    return refs;
  }

  return {
    async read(repository) {
      const snapshot = await refCache.of(repository);
      if (snapshot !== null) return ofSnapshot(snapshot);
      const recent = known.get(repository);
      if (recent !== undefined) return recent;
      const refs = readRefs(repository).then((found) => RefListing.ofNames(found));
      known.set(repository, refs);
      refs.catch(() => known.delete(repository));
      return refs;
    },
    async head(repository) {
      const { target = null, ref = null } = (await refCache.of(repository))?.head ?? {};
      if (target === null) return null;
      return { branch: Buffer.from(target.slice(heads.length), 'latin1').toString(), oid: ref?.oid ?? null };
    },
    forget: (repository) => known.delete(repository),
  };
}
