import { isNotNull } from '../../db/index.ts';
import { MoreThan } from 'typeorm';
import type { Clock, Logger } from '../../kernel/index.ts';
import type { Database } from '../../db/index.ts';
import { answering } from '../deliveries/peer-health.ts';
import { peerSchema } from '../schema/peer-schema.ts';

/** How long the list of servers that were down may be old; an activity more or less wakes them. */
const knownForMs = 1_000;

/**
 * A server that speaks to us is up again, whatever we thought, also when it was given up: what only
 * waited for it goes out with the next drain. What was given up stays FAILED (SPEC §3).
 */
export function createContactRecorder({
  db,
  clock,
  logger,
}: {
  db: Database;
  clock: Clock;
  logger?: Logger;
}): (host: string) => Promise<void> {
  /** Whether each was given up. */
  let down = new Map<string, boolean>();
  let readAt = -Infinity;
  return async (host) => {
    if (Math.abs(clock.now() - readAt) >= knownForMs) {
      readAt = clock.now();
      const where = [{ failures: MoreThan(0) }, { silentSince: isNotNull<number>() }];
      down = new Map((await db.read.find(peerSchema, { where })).map((row) => [row.host, row.goneAt !== null]));
    }
    const wasGone = down.get(host);
    if (wasGone === undefined) return;
    down.delete(host);
    if (wasGone) logger?.info('peer.resumed', { host });
    await db.write(async ({ manager, now }) => {
      await manager.update(peerSchema, { host }, answering);
      // Rows that were tried keep the backoff of their own attempts (SPEC §3).
      await manager.query(
        `UPDATE federation_delivery SET next_attempt_at = ? WHERE state = 'PENDING' AND host = ? AND attempts = 0 AND next_attempt_at > ?`,
        [now, host, now],
      );
    });
  };
}
