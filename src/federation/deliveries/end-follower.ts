import type { EntitySchema } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { followerSchema } from '../schema/follower-schema.ts';
import { followRequestSchema, ownerFollowerSchema } from '../schema/owner-follower-schema.ts';

interface Inbox {
  inbox: string;
  host: string;
}

/** Followers of everything that can be followed here, and those who ask to. */
export const followerTables = [followerSchema, ownerFollowerSchema, followRequestSchema] as readonly EntitySchema<
  Inbox & { actorId: string; followId: string }
>[];

/**
 * Inside a write: remote actors follow nothing here any more, because one is deleted, an inbox is gone for good, or a
 * server is blocked. What waits for their inboxes is not sent.
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
    // A shared inbox serves others.
    const others = await Promise.all(followerTables.map((table) => manager.existsBy(table, one)));
    if (others.includes(true)) continue;
    await manager.query(
      `UPDATE federation_delivery SET state = 'FAILED', last_error = ?, settled_at = ?, cancelled_at = ?
        WHERE state = 'PENDING' AND target_inbox = ? AND host = ? AND locked_until <= ?`,
      ['the follower is gone', now, now, one.inbox, one.host, now],
    );
  }
}
