import type { FederationRoom } from '../room.ts';
import { peerSchema } from './peer-schema.ts';

/** Another server, with how it does. */
export interface ListedPeer {
  /** Host, with its port where it is not the usual one. */
  host: string;
  /** Where it is allowed: in the settings, by a pairing, or not at all (any more). */
  allowed: 'settings' | 'pairing' | 'no';
  /** When it asked to be paired and waits for an administrator. */
  askedAt: number | null;
  lastSuccessAt: number | null;
  lastErrorAt: number | null;
  lastError: string | null;
  /** Since how many tries in a row it cannot be reached. */
  failures: number;
  retryAt: number | null;
  queued: number;
  failed: number;
}

/** Every server that is allowed, was ever contacted, or has deliveries. */
export async function listPeers({ db, settings, clock }: FederationRoom): Promise<ListedPeer[]> {
  const rows = new Map((await db.read.find(peerSchema)).map((row) => [row.host, row]));
  const counts: { host: string; queued: number; failed: number }[] = await db.read.query(
    `SELECT host, sum(state = 'PENDING') AS queued, sum(state = 'FAILED') AS failed
       FROM federation_delivery WHERE state <> 'DELIVERED' GROUP BY host`,
  );
  const byHost = new Map(counts.map((row) => [row.host, row]));
  const listed = new Set(settings.allowlist);
  const hosts = new Set([...listed, ...rows.keys(), ...byHost.keys()]);
  const isListed = (host: string): boolean =>
    listed.has(host) || (settings.devAllowInsecure && listed.has(host.replace(/:\d+$/, '')));
  return [...hosts].sort().map((host) => {
    const row = rows.get(host);
    return {
      host,
      allowed: isListed(host) ? 'settings' : row?.pairedAt != null ? 'pairing' : 'no',
      askedAt: row?.askedAt ?? null,
      lastSuccessAt: row?.lastSuccessAt ?? null,
      lastErrorAt: row?.lastErrorAt ?? null,
      lastError: row?.lastError ?? null,
      failures: row?.failures ?? 0,
      retryAt: row !== undefined && row.retryAt > clock.now() ? row.retryAt : null,
      queued: byHost.get(host)?.queued ?? 0,
      failed: byHost.get(host)?.failed ?? 0,
    };
  });
}
