import type { EntityManager } from 'typeorm';
import { inList, rows } from '../db/index.ts';
import type { Tx } from '../db/index.ts';
import type { Leased } from './drain.ts';

/** A message reserved for this drain until its lease ends. */
export interface ClaimedMessage extends Leased {
  attempts: number;
  nextAt: number;
  createdAt: number;
}

/** Longer than handling the claimed messages of a key one after the other, unless each of them times out. */
export const leaseMs = 10 * 60_000;

/**
 * Keys of a kind with due messages. Skips from key to key along the index, so a hundred thousand messages of one key
 * cost as much as one.
 */
export async function dueKeys(manager: EntityManager, kind: string, now: number): Promise<string[]> {
  const due = await rows<{ key: string }>(
    manager,
    `WITH RECURSIVE keys (key) AS (
       SELECT min(o.key) FROM outbox o WHERE o.kind = ? AND o.state = 'PENDING'
       UNION ALL
       SELECT (SELECT min(o.key) FROM outbox o WHERE o.kind = ? AND o.state = 'PENDING' AND o.key > keys.key)
         FROM keys WHERE keys.key IS NOT NULL
     )
     SELECT keys.key FROM keys
      WHERE EXISTS (SELECT 1 FROM outbox o WHERE o.kind = ? AND o.key = keys.key AND o.state = 'PENDING'
                       AND o.next_at <= ? AND o.lease_until <= ?)`,
    [kind, kind, kind, now, now],
  );
  return due.map(({ key }) => key);
}

/** Claims due messages of several keys, longest due first. Two drains never claim the same message. */
export async function claim(
  { manager, now }: Tx,
  kind: string,
  wanted: readonly { key: string; limit: number }[],
): Promise<ClaimedMessage[]> {
  if (wanted.length === 0) return [];
  const due = `SELECT id, key, attempts, next_at AS "nextAt", created_at AS "createdAt" FROM outbox
    WHERE kind = ? AND key = ? AND state = 'PENDING' AND next_at <= ? AND lease_until <= ? ORDER BY next_at, id LIMIT ?`;
  const claimed = await rows<Omit<ClaimedMessage, 'leaseUntil'>>(
    manager,
    wanted.map((_, at) => `SELECT * FROM (${due}) AS due${at}`).join(' UNION ALL '),
    wanted.flatMap(({ key, limit }) => [kind, key, now, now, limit]),
  );
  if (claimed.length === 0) return [];
  const leaseUntil = now + leaseMs;
  const ids = JSON.stringify(claimed.map(({ id }) => id));
  await rows(manager, `UPDATE outbox SET lease_until = ? WHERE ${inList('id', { type: 'bigint' })}`, [leaseUntil, ids]);
  return claimed.map((message) => ({ ...message, leaseUntil }));
}

/** Ends leases that this process still holds. */
export async function release({ manager }: Tx, claimed: readonly ClaimedMessage[]): Promise<void> {
  for (const { id, leaseUntil } of claimed)
    await rows(manager, 'UPDATE outbox SET lease_until = 0 WHERE id = ? AND lease_until = ?', [id, leaseUntil]);
}
