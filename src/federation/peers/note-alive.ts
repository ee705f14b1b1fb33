import { MoreThan } from 'typeorm';
import type { Clock } from '../../kernel/index.ts';
import type { Database } from '../../db/index.ts';
import { peerSchema } from './peer-schema.ts';

/** How long the list of servers that were down may be old; an activity more or less wakes them. */
const knownForMs = 1_000;

/**
 * A server that speaks to us is up again, whatever we thought: what only waited
 * for it goes out with the next drain.
 */
export function createNoteAlive({ db, clock }: { db: Database; clock: Clock }): (host: string) => Promise<void> {
  let down = new Set<string>();
  let readAt = -Infinity;
  return async (host) => {
    if (Math.abs(clock.now() - readAt) >= knownForMs) {
      readAt = clock.now();
      down = new Set((await db.read.find(peerSchema, { where: { failures: MoreThan(0) } })).map((row) => row.host));
    }
    if (!down.delete(host)) return;
    await db.write(async ({ manager, now }) => {
      await manager.update(peerSchema, { host }, { failures: 0, retryAt: 0 });
      // Rows that were tried keep the backoff of their own attempts (SPEC §3).
      await manager.query(
        `UPDATE federation_delivery SET next_attempt_at = ? WHERE state = 'PENDING' AND host = ? AND attempts = 0 AND next_attempt_at > ?`,
        [now, host, now],
      );
    });
  };
}
