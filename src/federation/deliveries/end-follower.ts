import type { Tx } from '../../db/index.ts';
import { followerSchema } from '../schema/follower-schema.ts';

/**
 * Inside a write: a remote actor follows nothing here any more, because it is deleted or its inbox is gone for good.
 * What waits for its inbox is not sent.
 */
export async function endFollower(tx: Tx, gone: { actorId: string } | { inbox: string }): Promise<void> {
  const { manager, now } = tx;
  const where = 'inbox' in gone ? { ...gone, host: new URL(gone.inbox).host } : gone;
  const rows = await manager.findBy(followerSchema, where);
  if (rows.length === 0) return;
  await manager.delete(followerSchema, where);
  for (const inbox of new Set(rows.map((row) => row.inbox))) {
    // A shared inbox serves others.
    if (await manager.existsBy(followerSchema, { inbox, host: new URL(inbox).host })) continue;
    await manager.query(
      `UPDATE federation_delivery SET state = 'FAILED', last_error = ?, settled_at = ?, cancelled_at = ?
        WHERE state = 'PENDING' AND target_inbox = ? AND host = ? AND locked_until <= ?`,
      ['the follower is gone', now, now, inbox, new URL(inbox).host, now],
    );
  }
}
