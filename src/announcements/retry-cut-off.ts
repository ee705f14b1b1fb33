import type { Database } from '../db/index.ts';
import { parkedByEnds, quietUptimeMs, triedOnceMore } from './next-try.ts';
import type { ServerTime } from './attempts.ts';

/** The names of the tables of one kind of event, and how an attempt finds its event. */
interface EventTables {
  events: string;
  attempts: string;
  /** Pairs of columns: of the event, of the attempt. */
  join: readonly (readonly [event: string, attempt: string])[];
}

const atOnce = 200;

/**
 * Once a server has been up for ten minutes, tries events once more that an earlier one parked, and that no listener
 * failed with: their server ended again and again. Each event is tried so once.
 */
export async function retryCutOff(
  db: Database,
  { events, attempts, join }: EventTables,
  time: ServerTime,
): Promise<void> {
  if (time.now - time.startedAt < quietUptimeMs) return;
  const on = join.map(([event, attempt]) => `e.${event} = a.${attempt}`).join(' AND ');
  const columns = join.map(([, attempt]) => `a.${attempt} AS "${attempt}"`).join(', ');
  const rows = (await db.read.query(
    `SELECT ${columns} FROM ${attempts} a JOIN ${events} e ON ${on}
     WHERE a.ends = ? AND e.parked_at < ? LIMIT ${atOnce}`,
    [parkedByEnds, time.startedAt],
  )) as { [column: string]: string | number }[];
  if (rows.length === 0) return;
  await db.write(async ({ manager }) => {
    for (const row of rows) {
      const place = (pick: 0 | 1) => join.map((pair) => `${pair[pick]} = ?`).join(' AND ');
      const values = join.map(([, attempt]) => row[attempt]);
      await manager.query(`UPDATE ${attempts} SET ends = ? WHERE ${place(1)} AND ends = ?`, [
        triedOnceMore,
        ...values,
        parkedByEnds,
      ]);
      await manager.query(`UPDATE ${events} SET parked_at = NULL WHERE ${place(0)}`, values);
    }
  });
}
