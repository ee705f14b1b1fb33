import { createLru } from '../../kernel/index.ts';
import { readRefs } from '../refs/refs.ts';
import type { RefSnapshot } from '../ref-cache/ref-snapshot.ts';
import type { RefCache } from '../ref-cache/ref-cache.ts';

/**
 * Every ref, for menus and counts: reading thousands of loose refs for each page would
 * cost more than the page. They come from the table that fetches are answered from, which
 * is always true; where only git could answer those, what another process moved shows
 * after two seconds. Whoever decides something reads the refs themselves.
 */
export interface RecentRefs {
  read(repository: string): Promise<ReadonlyMap<string, string>>;
  forget(repository: string): void;
}

const keptMs = 2_000;
const maxRepositories = 50;

export function createRecentRefs(tables: Pick<RefCache, 'of'>): RecentRefs {
  const byTable = new WeakMap<RefSnapshot, ReadonlyMap<string, string>>();
  const known = createLru<string, Promise<ReadonlyMap<string, string>>>({
    name: 'recent refs',
    maxWeight: maxRepositories,
    ttlMs: keptMs,
  });

  function ofTable(table: RefSnapshot): ReadonlyMap<string, string> {
    const refs =
      byTable.get(table) ?? new Map(table.refs.map(({ name, oid }) => [Buffer.from(name, 'latin1').toString(), oid]));
    byTable.set(table, refs);
    return refs;
  }

  return {
    async read(repository) {
      const table = await tables.of(repository);
      if (table !== null) return ofTable(table);
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
