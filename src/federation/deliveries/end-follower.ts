import type { EntitySchema } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { followerSchema } from '../schema/follower-schema.ts';
import { followRequestSchema, ownerFollowerSchema } from '../schema/owner-follower-schema.ts';

interface Inbox {
  inbox: string;
  host: string;
}

/** Tables of followers and follow requests. */
export const followerTables = [followerSchema, ownerFollowerSchema, followRequestSchema] as readonly EntitySchema<
  Inbox & { actorId: string; followId: string }
>[];

/**
 * Inside a write: removes all follows by remote actors, because an actor is deleted, an inbox is permanently gone, or a
 * server is blocked. Cancels pending deliveries to their inboxes.
 */
export async function endFollower(
  tx: Tx,
  gone: { actorId: string } | { inbox: string } | { host: string },
): Promise<void> {
  const { manager, now } = tx;
  const where = 'inbox' in gone ? { ...gone, host: new URL(gone.inbox).host } : gone;
  const inboxes = new Map<string, Inbox>();
  for (const table of followerTables) {
    for (const { inbox, host } of await manager.findBy(table, where)) inboxes.set(inbox, { inbox, host });
    await manager.delete(table, where);
  }
  for (const one of inboxes.values()) {
    // A shared inbox also serves other actors.
    const others = await Promise.all(followerTables.map((table) => manager.existsBy(table, one)));
    if (others.includes(true)) continue;
    await manager.query(
      `UPDATE federation_delivery SET state = 'FAILED', last_error = ?, settled_at = ?, cancelled_at = ?
        WHERE state = 'PENDING' AND target_inbox = ? AND host = ? AND locked_until <= ?`,
      ['the follower is gone', now, now, one.inbox, one.host, now],
    );
  }
}
