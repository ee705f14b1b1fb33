import type { EntityManager } from 'typeorm';
import { listTable, rows } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import type { Leased } from '../../outbox/index.ts';

/** A delivery that is reserved for this run until its lease ends. */
export interface ClaimedDelivery extends Leased {
  /** The host. */
  readonly key: string;
  outboxId: string;
  targetInbox: string;
  attempts: number;
  nextAttemptAt: number;
}

/** Duration of a claim in milliseconds. An attempt takes at most 10 s; the claim of a killed process then expires. */
const leaseMs = 60_000;

/**
 * The hosts with due deliveries. Skips from host to host along the index, so a hundred thousand rows for one host cost
 * as much as one row.
 */
export async function dueHosts(manager: EntityManager, now: number): Promise<string[]> {
  const rows: { host: string }[] = await manager.query(
    `WITH RECURSIVE hosts (host) AS (
       SELECT min(host) FROM federation_delivery WHERE state = 'PENDING'
       UNION ALL
       SELECT (SELECT min(d.host) FROM federation_delivery d WHERE d.state = 'PENDING' AND d.host > hosts.host)
         FROM hosts WHERE hosts.host IS NOT NULL
     )
     SELECT host FROM hosts
      WHERE (SELECT min(d.next_attempt_at) FROM federation_delivery d WHERE d.state = 'PENDING' AND d.host = hosts.host) <= ?`,
    [now],
  );
  return rows.map(({ host }) => host);
}

/** Hosts to claim deliveries for, and the limit for each. */
export interface HostsWithCapacity {
  hosts: readonly string[];
  limit: number;
}

const dueOf = `SELECT d.id FROM ${listTable()} CROSS JOIN federation_delivery d
   WHERE d.id IN (
     SELECT id FROM federation_delivery
      WHERE state = 'PENDING' AND host = list.value AND next_attempt_at <= ? AND locked_until <= ?
      ORDER BY next_attempt_at, id LIMIT ?)`;

/**
 * Claims due deliveries of several hosts, longest due first. Concurrent runs never claim the same one. One statement
 * for all hosts: a round trip to the write thread costs as much as several rows.
 */
export async function claim(
  { manager, now }: Tx,
  few: HostsWithCapacity,
  many: HostsWithCapacity,
): Promise<ClaimedDelivery[]> {
  if (few.hosts.length + many.hosts.length === 0) return [];
  const due = [few, many].flatMap(({ hosts, limit }) => [JSON.stringify(hosts), now, now, limit]);
  const taken = await rows<Omit<ClaimedDelivery, 'leaseUntil'>>(
    manager,
    `UPDATE federation_delivery SET locked_until = ? WHERE id IN (${dueOf} UNION ALL ${dueOf})
      RETURNING id, outbox_id AS "outboxId", target_inbox AS "targetInbox", host AS key, attempts, next_attempt_at AS "nextAttemptAt"`,
    [now + leaseMs, ...due],
  );
  const claimed = taken.map((row) => ({ ...row, leaseUntil: now + leaseMs }));
  return claimed.sort((a, b) => a.nextAttemptAt - b.nextAttemptAt || a.id - b.id);
}

/** Releases claimed deliveries that were not attempted. */
export async function release({ manager }: Tx, claimed: readonly ClaimedDelivery[]): Promise<void> {
  for (const { id, leaseUntil } of claimed) {
    await manager.query('UPDATE federation_delivery SET locked_until = 0 WHERE id = ? AND locked_until = ?', [
      id,
      leaseUntil,
    ]);
  }
}
