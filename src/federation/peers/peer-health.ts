import type { EntityManager } from 'typeorm';
import { In, MoreThan } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { backoffMs } from '../deliveries/delivery-state.ts';
import type { FederationRoom } from '../room.ts';
import { peerSchema } from './peer-schema.ts';
import type { PeerRow } from './peer-schema.ts';

/** What is known of these hosts; nothing of those that were never contacted. */
export async function healthOf(manager: EntityManager, hosts: readonly string[]): Promise<Map<string, PeerRow>> {
  const rows = hosts.length === 0 ? [] : await manager.findBy(peerSchema, { host: In([...hosts]) });
  return new Map(rows.map((row) => [row.host, row]));
}

/** Servers that did not answer and are left alone until their next turn. */
export function countDeadHosts({ db, clock }: Pick<FederationRoom, 'db' | 'clock'>): Promise<number> {
  return db.read.countBy(peerSchema, { retryAt: MoreThan(clock.now()) });
}

/** Servers answered as they should. */
export async function noteSuccess({ manager, now }: Tx, hosts: ReadonlySet<string>): Promise<void> {
  if (hosts.size === 0) return;
  await manager.query(
    `INSERT INTO federation_peers (host, last_success_at) SELECT value, ? FROM json_each(?) WHERE true
     ON CONFLICT (host) DO UPDATE SET last_success_at = excluded.last_success_at, failures = 0, retry_at = 0`,
    [now, JSON.stringify([...hosts])],
  );
}

/** A server answered with a refusal or an error. */
export async function noteError({ manager, now }: Tx, host: string, error: string): Promise<void> {
  await manager.query(
    `INSERT INTO federation_peers (host, last_error, last_error_at) VALUES (?, ?, ?)
     ON CONFLICT (host) DO UPDATE SET last_error = excluded.last_error, last_error_at = excluded.last_error_at`,
    [host, error, now],
  );
}

/**
 * A server could not be reached. Several attempts that were under way at once
 * count as one failure.
 * @returns until when everything else for it waits, milliseconds since the epoch
 */
export async function noteUnreachable(tx: Tx, host: string, error: string): Promise<number> {
  await noteError(tx, host, error);
  const { failures, retryAt } = await tx.manager.findOneByOrFail(peerSchema, { host });
  if (retryAt > tx.now) return retryAt;
  const next = tx.now + backoffMs(failures + 1);
  await tx.manager.update(peerSchema, { host }, { failures: failures + 1, retryAt: next });
  return next;
}
