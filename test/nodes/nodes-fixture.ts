// openNode({db, clock, folder}, 'a' | null) → what a server of that name has: {db, openKeptValues, counter}; null is
// a process that has the database for itself.  passTimes(db, table) → everything in a table is over.
import path from 'node:path';
import type { Database } from '../../src/db/index.ts';
import type { Clock } from '../../src/kernel/index.ts';
import { createAttemptCounter, createKeptValues } from '../../src/nodes/index.ts';
import type { OpenKeptValues } from '../../src/nodes/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';

export function openNode(
  { db, clock, folder }: { db: Database; clock: Clock; folder: string },
  node: string | null,
): {
  db: Database;
  openKeptValues: OpenKeptValues;
  counter(name: string, seconds: number): ReturnType<typeof createAttemptCounter>;
} {
  const own = Object.create(db, { node: { value: node } }) as Database;
  const random = seededRandom();
  const instanceKey = new InstanceKey(path.join(folder, 'key'), random, 'nodes');
  return {
    db: own,
    openKeptValues: (options) => createKeptValues({ db: own, clock, random, instanceKey }, options),
    counter: (name, seconds) => createAttemptCounter({ db: own }, name, seconds),
  };
}

export async function passTimes(db: Database, table: 'kept_values' | 'attempts' | 'leases' | 'nodes'): Promise<void> {
  await db.write(({ manager }) => manager.query(`UPDATE ${table} SET until = 1`));
}
