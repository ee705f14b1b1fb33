import type { EntityManager } from 'typeorm';

/**
 * Counts that triggers maintain in the transaction of the rows (`migrations/v62-counters-and-list-indexes.ts`), by
 * name, with the statement that recomputes each. Reading one takes constant time.
 */
const countedBy = {
  accounts: 'SELECT count(*) FROM users',
  /** Excludes disabled accounts. */
  people: 'SELECT count(*) FROM users WHERE disabled_at IS NULL',
  /** Excludes disabled accounts and those without a username. */
  profiles: 'SELECT count(*) FROM users WHERE username IS NOT NULL AND disabled_at IS NULL',
  organisations: 'SELECT count(*) FROM organisations',
  /** Excludes the trash. */
  repositories: 'SELECT count(*) FROM repositories WHERE deleted_at IS NULL',
  repository_bytes: 'SELECT COALESCE(sum(size_bytes), 0) FROM repositories WHERE deleted_at IS NULL',
  trashed_repositories: 'SELECT count(*) FROM repositories WHERE deleted_at IS NOT NULL',
  pending_deliveries: "SELECT count(*) FROM federation_delivery WHERE state = 'PENDING'",
  delivered_deliveries: "SELECT count(*) FROM federation_delivery WHERE state = 'DELIVERED'",
  failed_deliveries: "SELECT count(*) FROM federation_delivery WHERE state = 'FAILED'",
  mirrors: 'SELECT count(*) FROM mirrors',
  failing_mirrors: 'SELECT count(*) FROM mirrors WHERE failures > 0',
  runners: 'SELECT count(*) FROM ci_runners',
  lfs_objects: 'SELECT count(*) FROM lfs_objects',
  /** Excludes hard links to objects of other repositories. */
  lfs_bytes: 'SELECT COALESCE(sum(bytes), 0) FROM lfs_objects WHERE shared = 0',
} as const;

export type CountName = keyof typeof countedBy;
const countNames = Object.keys(countedBy) as CountName[];

/** All maintained counts; 0 for a count without a row. */
export async function readCounts(manager: EntityManager): Promise<Record<CountName, number>> {
  const rows: { name: CountName; value: number }[] = await manager.query('SELECT name, value FROM counts');
  const stored = Object.fromEntries(countNames.map((name) => [name, 0])) as Record<CountName, number>;
  for (const { name, value } of rows) stored[name] = Number(value);
  return stored;
}

/**
 * One statement and therefore one snapshot: the maintained and the actual value of each count, as rows of `name`,
 * `stored` and `actual`.
 */
export const compareCounts = countNames
  .map(
    (name) =>
      `SELECT '${name}' AS name, (SELECT value FROM counts WHERE name = '${name}') AS stored, (${countedBy[name]}) AS actual`,
  )
  .join(' UNION ALL ');

/** Recomputes all counts inside a transaction. */
export async function recount(manager: EntityManager): Promise<void> {
  for (const name of countNames) {
    await manager.query(
      `INSERT INTO counts (name, value) SELECT '${name}', (${countedBy[name]}) WHERE true
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    );
  }
}
