import type { EntityManager } from 'typeorm';
import { listTable, rows } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import type { Leased } from '../../outbox/index.ts';

/** A delivery that this drain has to itself until its lease ends. */
export interface ClaimedDelivery extends Leased {
  /** The host. */
  readonly key: string;
  outboxId: string;
  targetInbox: string;
  attempts: number;
  nextAttemptAt: number;
}

/** How long a claim lasts. An attempt takes at most 10 s; the claim of a killed process is free afterwards. */
const leaseMs = 60_000;

/**
 * The hosts with deliveries that are due. It hops from host to host along the
 * index, so a hundred thousand rows for one of them cost what one row costs.
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

/** Hosts to take deliveries for, and how many at most of each. */
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
 * Takes due deliveries of several hosts, the longest due first. Two drains never get the
 * same one. One statement for all of them: a question to the writing thread costs as much
 * as several rows.
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

/** Gives back what was claimed and not tried. */
export async function release({ manager }: Tx, claimed: readonly ClaimedDelivery[]): Promise<void> {
  for (const { id, leaseUntil } of claimed) {
    await manager.query('UPDATE federation_delivery SET locked_until = 0 WHERE id = ? AND locked_until = ?', [
      id,
      leaseUntil,
    ]);
  }
}
