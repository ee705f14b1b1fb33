import { MoreThan } from 'typeorm';
import type { FederationRoom } from '../room.ts';
import { peerSchema } from './peer-schema.ts';

/** A server that speaks to us is up again, whatever we thought: what only waited for it goes out with the next drain. */
export async function noteAlive({ db }: Pick<FederationRoom, 'db'>, host: string): Promise<void> {
  if (!(await db.read.existsBy(peerSchema, { host, failures: MoreThan(0) }))) return;
  await db.write(async ({ manager, now }) => {
    await manager.update(peerSchema, { host }, { failures: 0, retryAt: 0 });
    // Rows that were tried keep the backoff of their own attempts (SPEC §3).
    await manager.query(
      `UPDATE federation_delivery SET next_attempt_at = ? WHERE state = 'PENDING' AND host = ? AND attempts = 0 AND next_attempt_at > ?`,
      [now, host, now],
    );
  });
}
