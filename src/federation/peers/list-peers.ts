import { In } from 'typeorm';
import { namesOf } from '../block-list.ts';
import type { FederationDeps } from '../deps.ts';
import { blockSchema } from '../schema/block-schema.ts';
import { peerSchema } from '../schema/peer-schema.ts';
import type { PeerRow } from '../schema/peer-schema.ts';

/** Another server and its state. */
export interface ListedPeer {
  /** Host, with its port unless it is the default. */
  host: string;
  /**
   * Source of its permission: the settings, a pairing, followers only because they may come from all servers, none (any
   * more), or none because it is blocked.
   */
  allowed: 'settings' | 'pairing' | 'followers' | 'no' | 'blocked';
  /** Software name from its NodeInfo; null if it was not requested or is missing. */
  software: string | null;
  /** Kind of activity that its followers here get. */
  reads: 'push' | 'note';
  /** Time of its pending pairing request, which an administrator must confirm. */
  askedAt: number | null;
  lastSuccessAt: number | null;
  lastErrorAt: number | null;
  lastError: string | null;
  /** Consecutive failed attempts. */
  failures: number;
  retryAt: number | null;
  /** Time when deliveries to it ended, after seven days without a response. */
  goneAt: number | null;
  /** Time since which it has not responded. */
  silentSince: number | null;
  /** Number of its followers here. */
  followers: number;
  queued: number;
  failed: number;
}

/** All servers that are allowed, were ever contacted, or have deliveries. */
export async function listPeers({ db, settings, clock }: FederationDeps): Promise<ListedPeer[]> {
  const rows = new Map((await db.read.find(peerSchema)).map((row) => [row.host, row]));
  const counts: { host: string; queued: number; failed: number }[] = await db.read.query(
    `SELECT host, sum(CASE WHEN state = 'PENDING' THEN 1 ELSE 0 END) AS queued,
            sum(CASE WHEN state = 'FAILED' THEN 1 ELSE 0 END) AS failed
       FROM federation_delivery WHERE state <> 'DELIVERED' AND cancelled_at IS NULL GROUP BY host`,
  );
  const byHost = new Map(counts.map((row) => [row.host, row]));
  const followerCounts: { host: string; followers: number }[] = await db.read.query(
    `SELECT p.host AS host, (SELECT count(*) FROM repository_followers f WHERE f.host = p.host)
          + (SELECT count(*) FROM owner_followers f WHERE f.host = p.host) AS followers FROM federation_peers p`,
  );
  const followersOf = new Map(followerCounts.map((row) => [row.host, Number(row.followers)]));
  const listed = new Set(settings.allowlist);
  const known = [...rows.keys(), ...byHost.keys()];
  // In development an entry allows every port of its host: the port in use replaces it.
  const stands = (host: string): boolean =>
    settings.devAllowInsecure && !known.includes(host) && known.some((each) => each.replace(/:\d+$/, '') === host);
  const hosts = new Set([...[...listed].filter((host) => !stands(host)), ...known]);
  const isListed = (host: string): boolean =>
    listed.has(host) || (settings.devAllowInsecure && listed.has(host.replace(/:\d+$/, '')));
  const blocked = new Set(
    (await db.read.findBy(blockSchema, { kind: 'host', value: In([...hosts].flatMap(blockNames)) })).map(
      ({ value }) => value,
    ),
  );
  const allowedBy = (host: string, row: PeerRow | undefined): ListedPeer['allowed'] => {
    if (blockNames(host).some((name) => blocked.has(name))) return 'blocked';
    if (isListed(host)) return 'settings';
    if (row?.pairedAt != null) return 'pairing';
    return row?.openAt != null && settings.openFollowers ? 'followers' : 'no';
  };
  return [...hosts].sort().map((host) => {
    const row = rows.get(host);
    return {
      host,
      allowed: allowedBy(host, row),
      software: row?.software ?? null,
      reads: row?.reads ?? 'push',
      askedAt: row?.askedAt ?? null,
      lastSuccessAt: row?.lastSuccessAt ?? null,
      // An error before the last success is obsolete.
      ...((row?.lastErrorAt ?? 0) >= (row?.lastSuccessAt ?? 0)
        ? { lastErrorAt: row?.lastErrorAt ?? null, lastError: row?.lastError ?? null }
        : { lastErrorAt: null, lastError: null }),
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

/** The names that may block a host with its port. */
const blockNames = (host: string): string[] => namesOf(URL.parse(`https://${host}`)?.hostname ?? host);
