import { databaseTime, rows } from '../db/index.ts';
import type { Database, Tx } from '../db/index.ts';
import type { Logger } from '../kernel/index.ts';

/** How long a lease outlives the node that held it, in milliseconds. */
export const leaseMs = 20_000;
const renewMs = 5_000;
/** Of the work that is told to metrics. */
const mostShown = 100;

/** Work that this node has for itself. */
interface Turn {
  /** Gives the work back. Never rejects: a lease that cannot be given back ends by itself. */
  end(): Promise<void>;
}

/**
 * Leases: rows that say which node does some work now, by the clock of the database. They save work that would be done
 * twice; what must not be done twice is decided by the writes of the work itself, because a node that stood still for
 * long goes on behind the end of its lease.
 */
export interface Leases {
  /**
   * Takes work until `end`, renewed meanwhile. Where nobody else serves the database this writes nothing.
   * @param restMs for work by the clock: nobody takes it again for this long, counted from now
   * @returns null when another node has it, or when it has been taken within its rest
   */
  take(name: string, restMs?: number): Promise<Turn | null>;
  /** What nodes do now, by name, at most 100; null where no other server uses the database. */
  held(): Promise<{ work: string; ageMs: number }[] | null>;
}

/** With the next synced write: a lease that a power failure undoes is one that nobody has. */
const lazily = (name: string) => ({ durable: 'with-the-next', scope: `lease:${name}` }) as const;

export function createLeases({ db, logger }: { db: Database; logger: Logger }): Leases {
  const { node } = db;
  if (node === null) return { take: async () => ({ end: async () => {} }), held: async () => null };

  async function renew(name: string): Promise<void> {
    await db.write(
      ({ manager }) =>
        rows(manager, `UPDATE leases SET until = ${databaseTime()} + ? WHERE name = ? AND node = ?`, [
          leaseMs,
          name,
          node,
        ]),
      lazily(name),
    );
  }

  return {
    async held() {
      const found = await rows<{ name: string; ageMs: unknown }>(
        db.read,
        `SELECT name, ${databaseTime()} - taken_at AS "ageMs" FROM leases
          WHERE name LIKE 'run:%' AND taken_at IS NOT NULL AND until > ${databaseTime()} ORDER BY name LIMIT ${mostShown}`,
        [],
      );
      return found.map(({ name, ageMs }) => ({ work: name.slice('run:'.length), ageMs: Number(ageMs) }));
    },
    async take(work, restMs = 0) {
      const name = `run:${work}`;
      const isTaken = await db.write(async (tx) => {
        if (restMs > 0 && !(await claim(tx, `rest:${work}`, node, restMs))) return false;
        return claim(tx, name, node, leaseMs);
      }, lazily(work));
      if (!isTaken) return null;
      const timer = setInterval(
        () => void renew(name).catch((error: unknown) => logger.warn('lease.not_renewed', { name, error })),
        renewMs,
      ).unref();
      return {
        async end() {
          clearInterval(timer);
          await db
            .write(
              ({ manager }) => rows(manager, 'DELETE FROM leases WHERE name = ? AND node = ?', [name, node]),
              lazily(name),
            )
            .catch((error: unknown) => logger.warn('lease.not_ended', { name, error }));
        },
      };
    },
  };
}

/** Takes a lease whose time is over, or that was never taken. */
async function claim({ manager }: Tx, name: string, node: string, forMs: number): Promise<boolean> {
  const taken = await rows(
    manager,
    `INSERT INTO leases (name, node, until, taken_at) VALUES (?, ?, ${databaseTime()} + CAST(? AS BIGINT), ${databaseTime()})
      ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = excluded.until, taken_at = excluded.taken_at
      WHERE leases.until <= ${databaseTime()}
      RETURNING name`,
    [name, node, Math.round(forMs)],
  );
  return taken.length > 0;
}
