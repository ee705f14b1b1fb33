import type { Tx } from '../../db/index.ts';

/**
 * Inside a write: queues again the Accepts of follows that were held back while the repository was private. Their
 * followers get pushes from now on, and would otherwise wait forever.
 * @param actorPath actor path of a public repository
 */
export async function sendHeldAccepts({ manager, now }: Tx, actorPath: string): Promise<void> {
  await manager.query(
    `INSERT INTO federation_delivery (outbox_id, target_inbox, host, state, attempts, next_attempt_at, locked_until, created_at)
     SELECT d.outbox_id, d.target_inbox, d.host, 'PENDING', 0, ?, 0, ?
       FROM federation_outbox o JOIN federation_delivery d ON d.outbox_id = o.id
       JOIN repository_followers f ON f.repository_id = o.repository_id AND f.inbox = d.target_inbox
      WHERE o.actor_path = ? AND o.is_public = 0 AND o.type = 'Accept' AND d.state = 'FAILED' AND d.cancelled_at IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM federation_delivery later WHERE later.outbox_id = d.outbox_id AND later.id > d.id)`,
    [now, now, actorPath],
  );
}
