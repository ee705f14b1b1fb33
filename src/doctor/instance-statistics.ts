import { readCounts } from '../db/index.ts';
import type { Database } from '../db/index.ts';

/** Counts of the instance. */
export interface InstanceStatistics {
  /** Without disabled accounts. */
  people: number;
  organisations: number;
  /** Outside the trash. */
  repositories: number;
  repositoryBytes: number;
  inTrash: number;
  /** Accepted in the last 24 hours. */
  pushesToday: number;
  /** By the state of their announcement; announced pushes are not counted. */
  unannouncedPushes: Record<'waiting' | 'failing' | 'parked', number>;
  deliveries: Record<'PENDING' | 'DELIVERED' | 'FAILED', number>;
  /** Epoch milliseconds; null if none is pending. */
  oldestDeliveryAt: number | null;
  runners: number;
  lfsObjects: number;
  /** Each object once, however many forks share it. */
  lfsBytes: number;
}

const dayMs = 86_400_000;

/** Reads maintained counts, and counts only the rows of one day, so that metrics can be read every few seconds. */
export async function readInstanceStatistics(db: Database, now: number): Promise<InstanceStatistics> {
  const one = async (sql: string, ...parameters: number[]): Promise<Record<string, number | null>> =>
    ((await db.read.query(sql, parameters)) as Record<string, number | null>[])[0] ?? {};
  // Uses a partial index that contains only unannounced rows.
  const unannounced = await one(
    `SELECT count(*) AS n, sum(CASE WHEN parked_at IS NOT NULL THEN 1 ELSE 0 END) AS parked,
            sum(CASE WHEN parked_at IS NULL AND last_error IS NOT NULL THEN 1 ELSE 0 END) AS failing
       FROM (SELECT parked_at, last_error FROM pushes WHERE announced_at IS NULL ORDER BY created_at, id LIMIT 10000) p`,
  );
  const parked = Number(unannounced['parked'] ?? 0);
  const failing = Number(unannounced['failing'] ?? 0);
  const [counters, pushes, oldest, cancelled] = await Promise.all([
    readCounts(db.read),
    one('SELECT count(*) AS n FROM pushes WHERE created_at > ? AND settled_at IS NOT NULL', now - dayMs),
    // Ids increase with time: the smallest pending one is the oldest.
    one("SELECT created_at AS at FROM federation_delivery WHERE state = 'PENDING' ORDER BY id LIMIT 1"),
    one('SELECT count(*) AS n FROM federation_delivery WHERE cancelled_at IS NOT NULL'),
  ]);
  return {
    people: counters.people,
    organisations: counters.organisations,
    repositories: counters.repositories,
    repositoryBytes: counters.repository_bytes,
    inTrash: counters.trashed_repositories,
    pushesToday: Number(pushes['n'] ?? 0),
    unannouncedPushes: { waiting: Number(unannounced['n'] ?? 0) - parked - failing, failing, parked },
    deliveries: {
      PENDING: counters.pending_deliveries,
      DELIVERED: counters.delivered_deliveries,
      // Cancelled deliveries are not failures.
      FAILED: counters.failed_deliveries - Number(cancelled['n'] ?? 0),
    },
    oldestDeliveryAt: oldest['at'] ?? null,
    runners: counters.runners,
    lfsObjects: counters.lfs_objects,
    lfsBytes: counters.lfs_bytes,
  };
}
