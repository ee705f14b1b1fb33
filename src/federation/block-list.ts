import { inList } from '../db/index.ts';
import type { Database } from '../db/index.ts';

/**
 * Blocked servers and actors. Results count only while the database is unchanged, since a command in another process
 * may have added a block.
 */
export interface BlockList {
  hasHost(hostname: string): Promise<boolean>;
  hasActor(id: string): Promise<boolean>;
}

const mostLabels = 20;
const mostResults = 1_000;

export function createBlockList({ db }: { db: Database }): BlockList {
  const results = new Map<string, Promise<boolean>>();
  let state: number | null = null;

  async function isBlocked(kind: 'host' | 'actor', values: readonly string[]): Promise<boolean> {
    const found: unknown[] = await db.read.query(
      `SELECT 1 FROM federation_blocks WHERE kind = ? AND ${inList('value')} LIMIT 1`,
      [kind, JSON.stringify(values)],
    );
    return found.length > 0;
  }

  return {
    /** Checked twice for each of thousands of deliveries. */
    async hasHost(hostname) {
      const now = await db.state();
      if (now !== state || results.size >= mostResults) results.clear();
      state = now;
      let result = results.get(hostname);
      if (result === undefined) results.set(hostname, (result = isBlocked('host', namesOf(hostname))));
      return result;
    },
    hasActor: (id) => isBlocked('actor', [id]),
  };
}

/** A host name and its parent domains: `a.example.org`, `example.org`, `org`. */
export function namesOf(hostname: string): string[] {
  const labels = hostname.replace(/\.$/, '').split('.');
  return labels.map((_, index) => labels.slice(index).join('.')).slice(-mostLabels);
}
