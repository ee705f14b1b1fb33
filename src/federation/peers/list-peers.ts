import type { FederationDeps } from '../deps.ts';
import { peerSchema } from '../schema/peer-schema.ts';

/** Another server, with its state. */
export interface ListedPeer {
  /** Host, with its port where it is not the usual one. */
  host: string;
  /** Where it is allowed: in the settings, by a pairing, or not (any more). */
  allowed: 'settings' | 'pairing' | 'no';
  /** When it asked to be paired and waits for an administrator. */
  askedAt: number | null;
  lastSuccessAt: number | null;
  lastErrorAt: number | null;
  lastError: string | null;
  /** Consecutive failed attempts. */
  failures: number;
  retryAt: number | null;
  /** When deliveries to it ended, after seven days without a response. */
  goneAt: number | null;
  /** Since when it has not responded. */
  silentSince: number | null;
  /** Of such a server: its followers of local repositories, which are kept. */
  followers: number;
  queued: number;
  failed: number;
}

/** Every server that is allowed, was ever contacted, or has deliveries. */
export async function listPeers({ db, settings, clock }: FederationDeps): Promise<ListedPeer[]> {
  const rows = new Map((await db.read.find(peerSchema)).map((row) => [row.host, row]));
  const counts: { host: string; queued: number; failed: number }[] = await db.read.query(
    `SELECT host, sum(CASE WHEN state = 'PENDING' THEN 1 ELSE 0 END) AS queued,
            sum(CASE WHEN state = 'FAILED' THEN 1 ELSE 0 END) AS failed
       FROM federation_delivery WHERE state <> 'DELIVERED' AND cancelled_at IS NULL GROUP BY host`,
  );
  const byHost = new Map(counts.map((row) => [row.host, row]));
  const followerCounts: { host: string; followers: number }[] = await db.read.query(
    `SELECT p.host, count(*) AS followers FROM federation_peers p CROSS JOIN repository_followers f
      WHERE p.gone_at IS NOT NULL AND f.host = p.host GROUP BY p.host`,
  );
  const followersOf = new Map(followerCounts.map((row) => [row.host, Number(row.followers)]));
  const listed = new Set(settings.allowlist);
  const known = [...rows.keys(), ...byHost.keys()];
  // In development an entry allows every port of its host: the one in use stands for it.
  const stands = (host: string): boolean =>
    settings.devAllowInsecure && !known.includes(host) && known.some((each) => each.replace(/:\d+$/, '') === host);
  const hosts = new Set([...[...listed].filter((host) => !stands(host)), ...known]);
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
      goneAt: row?.goneAt ?? null,
      silentSince: row?.silentSince ?? null,
      followers: followersOf.get(host) ?? 0,
      queued: byHost.get(host)?.queued ?? 0,
      failed: byHost.get(host)?.failed ?? 0,
    };
  });
}
