import type { Database } from '../db/index.ts';

/** How much of everything there is. */
export interface InstanceCounts {
  /** Not disabled. */
  people: number;
  organisations: number;
  /** Outside the trash. */
  repositories: number;
  repositoryBytes: number;
  inTrash: number;
  /** Accepted in the last 24 hours. */
  pushesToday: number;
  /** By what became of their announcement; those that everybody has heard of are not counted. */
  unannouncedPushes: Record<'waiting' | 'failing' | 'parked', number>;
  deliveries: Record<'PENDING' | 'DELIVERED' | 'FAILED', number>;
  /** Epoch milliseconds; null when none waits. */
  oldestDeliveryAt: number | null;
  runners: number;
}

const dayMs = 86_400_000;

/** Counts rows by index, so that metrics can be read every few seconds. */
export async function countInstance(db: Database, now: number): Promise<InstanceCounts> {
  const one = async (sql: string, ...parameters: number[]): Promise<Record<string, number | null>> =>
    ((await db.read.query(sql, parameters)) as Record<string, number | null>[])[0] ?? {};
  const states = (await db.read.query('SELECT state, count(*) AS n FROM federation_delivery GROUP BY state')) as {
    state: string;
    n: number;
  }[];
  const unannounced = (await db.read.query(
    `SELECT CASE WHEN parked_at IS NOT NULL THEN 'parked' WHEN last_error IS NOT NULL THEN 'failing' ELSE 'waiting' END AS state, count(*) AS n
     FROM pushes WHERE announced_at IS NULL GROUP BY 1`,
  )) as typeof states;
  const [people, organisations, repositories, trash, pushes, oldest, runners, cancelled] = await Promise.all([
    one('SELECT count(*) AS n FROM users WHERE disabled_at IS NULL'),
    one('SELECT count(*) AS n FROM organisations'),
    one('SELECT count(*) AS n, sum(size_bytes) AS bytes FROM repositories WHERE deleted_at IS NULL'),
    one('SELECT count(*) AS n FROM repositories WHERE deleted_at IS NOT NULL'),
    one('SELECT count(*) AS n FROM pushes WHERE created_at > ? AND settled_at IS NOT NULL', now - dayMs),
    one("SELECT min(created_at) AS at FROM federation_delivery WHERE state = 'PENDING'"),
    one('SELECT count(*) AS n FROM ci_runners'),
    one('SELECT count(*) AS n FROM federation_delivery WHERE cancelled_at IS NOT NULL'),
  ]);
  const count = (name: string): number => states.find(({ state }) => state === name)?.n ?? 0;
  return {
    people: people['n'] ?? 0,
    organisations: organisations['n'] ?? 0,
    repositories: repositories['n'] ?? 0,
    repositoryBytes: repositories['bytes'] ?? 0,
    inTrash: trash['n'] ?? 0,
    pushesToday: pushes['n'] ?? 0,
    unannouncedPushes: {
      waiting: 0,
      failing: 0,
      parked: 0,
      ...Object.fromEntries(unannounced.map(({ state, n }) => [state, n])),
    },
    deliveries: {
      PENDING: count('PENDING'),
      DELIVERED: count('DELIVERED'),
      // Those that were not to be sent any more are no fault (DESIGN §9).
      FAILED: count('FAILED') - (cancelled['n'] ?? 0),
    },
    oldestDeliveryAt: oldest['at'] ?? null,
    runners: runners['n'] ?? 0,
  };
}
