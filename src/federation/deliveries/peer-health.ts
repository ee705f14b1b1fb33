import type { EntityManager } from 'typeorm';
import { In, MoreThan } from 'typeorm';
import { isNotNull, listTable } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { backoffMs } from '../../outbox/index.ts';
import type { FederationDeps } from '../deps.ts';
import { peerSchema } from '../schema/peer-schema.ts';
import type { PeerRow } from '../schema/peer-schema.ts';

/** Known state of these hosts; omits hosts that were never contacted. */
export async function healthOf(manager: EntityManager, hosts: readonly string[]): Promise<Map<string, PeerRow>> {
  const rows = hosts.length === 0 ? [] : await manager.findBy(peerSchema, { host: In([...hosts]) });
  return new Map(rows.map((row) => [row.host, row]));
}

/** Time in milliseconds without any response after which deliveries to a server end. */
const goneAfterMs = 7 * 86_400_000;
/**
 * Silence counts only while deliveries are attempted: after a pause longer than this, one more attempt must fail before
 * deliveries to a server end.
 */
const observedMs = 86_400_000;

/** Servers that did not respond and wait for their next attempt, and those to which deliveries have ended. */
export function countDeadHosts({ db, clock }: Pick<FederationDeps, 'db' | 'clock'>): Promise<number> {
  return db.read.countBy(peerSchema, [{ retryAt: MoreThan(clock.now()) }, { goneAt: isNotNull() }]);
}

/** State of a server after it responds or contacts this one. */
export const reachable = { failures: 0, retryAt: 0, silentSince: null, goneAt: null } as const;
const setReachable = 'failures = 0, retry_at = 0, silent_since = NULL, gone_at = NULL';

/** Records servers that responded with success. */
export async function recordSuccess({ manager, now }: Tx, hosts: ReadonlySet<string>): Promise<void> {
  if (hosts.size === 0) return;
  await manager.query(
    `INSERT INTO federation_peers (host, last_success_at) SELECT value, ? FROM ${listTable()} WHERE true
     ON CONFLICT (host) DO UPDATE SET last_success_at = excluded.last_success_at, ${setReachable}`,
    [now, JSON.stringify([...hosts])],
  );
}

/** Records that a server responded with a refusal or an error. */
export async function recordError({ manager, now }: Tx, host: string, error: string): Promise<void> {
  await manager.query(
    `INSERT INTO federation_peers (host, last_error, last_error_at) VALUES (?, ?, ?)
     ON CONFLICT (host) DO UPDATE SET last_error = excluded.last_error, last_error_at = excluded.last_error_at, ${setReachable}`,
    [host, error, now],
  );
}

/** State of all pending deliveries to a server that did not respond. */
export interface Silence {
  /** Time until which they wait, milliseconds since the epoch. */
  retryAt: number;
  isGone: boolean;
  /** Whether deliveries to it have just ended. */
  isNewlyGone: boolean;
  since: number;
}

/**
 * Records that a server did not respond: it was unreachable or must not be contacted. Concurrent failed attempts count
 * as one failure.
 * @param wasTried false if nothing was sent, so that its other deliveries need not wait
 */
export async function recordSilence(
  { manager, now }: Tx,
  host: string,
  error: string,
  wasTried: boolean,
): Promise<Silence> {
  const known = (await healthOf(manager, [host])).get(host);
  const since = known?.silentSince ?? now;
  const failures = known?.failures ?? 0;
  /** Another attempt has already recorded this. */
  const waits = (known?.retryAt ?? 0) > now || known?.lastErrorAt === now;
  const isObserved = !waits && known?.lastErrorAt != null && now - known.lastErrorAt <= observedMs;
  const wasGone = known?.goneAt != null;
  const isGone = wasGone || (isObserved && now - since >= goneAfterMs);
  const next =
    !wasTried || waits
      ? { failures, retryAt: known?.retryAt ?? 0 }
      : { failures: failures + 1, retryAt: now + backoffMs(failures + 1) };
  await manager.query(
    `INSERT INTO federation_peers (host, last_error, last_error_at, failures, retry_at, silent_since, gone_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (host) DO UPDATE SET last_error = excluded.last_error, last_error_at = excluded.last_error_at,
       failures = excluded.failures, retry_at = excluded.retry_at,
       silent_since = excluded.silent_since, gone_at = excluded.gone_at`,
    [host, error, now, next.failures, next.retryAt, since, isGone ? (known?.goneAt ?? now) : null],
  );
  return { retryAt: next.retryAt, isGone, isNewlyGone: isGone && !wasGone, since };
}
