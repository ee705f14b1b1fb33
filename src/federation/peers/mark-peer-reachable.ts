import { isNotNull } from '../../db/index.ts';
import { MoreThan } from 'typeorm';
import type { Clock, Logger } from '../../kernel/index.ts';
import type { Database } from '../../db/index.ts';
import { reachable } from '../deliveries/peer-health.ts';
import { peerSchema } from '../schema/peer-schema.ts';

/** Cache time in milliseconds of the list of unreachable servers; one activity more or less does not matter. */
const knownForMs = 1_000;

/**
 * A server that contacts this one is reachable again, even if deliveries to it had ended: the next run of the queue
 * sends waiting deliveries. FAILED ones stay FAILED (SPEC §3).
 */
export function createReachabilityRecorder({
  db,
  clock,
  logger,
}: {
  db: Database;
  clock: Clock;
  logger?: Logger;
}): (host: string) => Promise<void> {
  /** Whether deliveries to each server have ended. */
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
      await manager.update(peerSchema, { host }, reachable);
      // Attempted rows keep their own backoff (SPEC §3).
      await manager.query(
        `UPDATE federation_delivery SET next_attempt_at = ? WHERE state = 'PENDING' AND host = ? AND attempts = 0 AND next_attempt_at > ?`,
        [now, host, now],
      );
    });
  };
}
