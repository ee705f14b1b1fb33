import { isAlone } from '../nodes/index.ts';
import { LessThan } from 'typeorm';
import { remoteActorSchema } from './schema/remote-actor-schema.ts';
import { outboxSchema } from './schema/outbox-schema.ts';
import { removeSettled } from './deliveries/manage-deliveries.ts';
import { receivedEventSchema } from './schema/received-event-schema.ts';
import { receivedPushSchema } from './schema/received-push-schema.ts';
import { inboxSchema } from './schema/inbox-schema.ts';
import { pairingCodeSchema } from './schema/peer-schema.ts';
import { recordOrigin } from './origin.ts';
import type { FederationDeps } from './deps.ts';

const dayMs = 86_400_000;
/** Longer than the validity of a signature, so that no activity outlives its deduplication record. */
const retentionMs = 30 * dayMs;
const pushRetentionMs = 180 * dayMs;
/** A clock jump must not delay deliveries for years. */
const furthestAttemptMs = 3_600_000;

/** Daily: removes old rows. Keeps local pushes, which are the outbox. */
export async function pruneFederation(deps: FederationDeps): Promise<void> {
  const now = deps.clock.now();
  await removeSettled(deps, now - retentionMs);
  await deps.db.write(async ({ manager }) => {
    await manager.delete(inboxSchema, { receivedAt: LessThan(now - retentionMs) });
    await manager
      .createQueryBuilder()
      .delete()
      .from(remoteActorSchema)
      .where('fetched_at < :before', { before: now - retentionMs })
      // The WebFinger handle of a followed actor is recorded only once.
      .andWhere('NOT EXISTS (SELECT 1 FROM remote_follows f WHERE f.remote_actor_id = remote_actors.id)')
      .andWhere('NOT EXISTS (SELECT 1 FROM remote_user_follows f WHERE f.remote_actor_id = remote_actors.id)')
      .execute();
    for (const received of [receivedPushSchema, receivedEventSchema])
      await manager.delete(received, { receivedAt: LessThan(now - pushRetentionMs) });
    await manager.delete(pairingCodeSchema, { expiresAt: LessThan(now - dayMs) });
    await manager
      .createQueryBuilder()
      .delete()
      .from(outboxSchema)
      .where('is_public = :no AND created_at < :before', { no: false, before: now - retentionMs })
      .andWhere('NOT EXISTS (SELECT 1 FROM federation_delivery d WHERE d.outbox_id = federation_outbox.id)')
      .execute();
  });
}

/**
 * At start, with the instance lock held: releases the claims of the previous process, and limits the wait of every
 * delivery to an hour.
 */
export async function recover(deps: FederationDeps): Promise<void> {
  await recordOrigin(deps);
  const latest = deps.clock.now() + furthestAttemptMs;
  // Nearly every start finds nothing to change, and then skips the write.
  const found: unknown[] = await deps.db.read.query(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM federation_delivery WHERE state = 'PENDING' AND ${isAlone(deps.db)} AND (locked_until > 0 OR next_attempt_at > ?))
     OR EXISTS (SELECT 1 FROM federation_peers WHERE retry_at > ?)`,
    [latest, latest],
  );
  if (found.length === 0) return;
  await deps.db.write(async ({ manager, now }) => {
    await manager.query(
      `UPDATE federation_delivery SET locked_until = 0 WHERE state = 'PENDING' AND locked_until > 0 AND ${isAlone(deps.db)}`,
    );
    await manager.query(
      `UPDATE federation_delivery SET next_attempt_at = ? WHERE state = 'PENDING' AND next_attempt_at > ?`,
      [now + furthestAttemptMs, now + furthestAttemptMs],
    );
    await manager.query('UPDATE federation_peers SET retry_at = ? WHERE retry_at > ?', [
      now + furthestAttemptMs,
      now + furthestAttemptMs,
    ]);
  });
}
