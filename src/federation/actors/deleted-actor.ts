import type { FederationDeps } from '../deps.ts';
import type { LocalActor } from '../local-actors.ts';

/** Whether an activity of this actor is still pending delivery. */
const hasPendingDeliveries = `SELECT 1 FROM federation_delivery d JOIN federation_outbox o ON o.id = d.outbox_id
  WHERE d.state = 'PENDING' AND o.actor_path = ? LIMIT 1`;

/**
 * The actor of a deleted account until the Undos of all its follows are delivered: other servers fetch the key before
 * they accept an Undo. `null` once everything is delivered.
 * @param path a path without an actor
 */
export async function deletedActor(
  { db, localActors }: Pick<FederationDeps, 'db' | 'localActors'>,
  path: string,
): Promise<LocalActor | null> {
  const actor = await localActors.atPath(path);
  if (actor?.kind !== 'user') return null;
  const waiting: unknown[] = await db.read.query(hasPendingDeliveries, [path]);
  return waiting.length > 0 ? actor : null;
}
