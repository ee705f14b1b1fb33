import { createHash } from 'node:crypto';
import { IsNull, MoreThan } from 'typeorm';
import { isNotNull, rows, upsert } from '../../db/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import { asObject, webUrl } from '../documents/json-fields.ts';
import { instanceActor } from '../actors/find-actor.ts';
import { requireFederationOn } from '../require-federation-on.ts';
import type { FederationDeps } from '../deps.ts';
import { signRequest } from '../signatures/index.ts';
import { entriesFor } from './allowlist.ts';
import { pairingCodeSchema, peerSchema } from '../schema/peer-schema.ts';

/**
 * Pairing lets two administrators connect their servers without editing settings. One creates a code; the other accepts
 * it, which also confirms it; the first one confirms the requesting server. Each server allows a host only by its own
 * administrator's decision; a pairing is one more source of the allowlist.
 */

/** Lifetime of a code in milliseconds. */
const pairingTtlMs = 15 * 60_000;
const pairingPath = '/ap/pairing';

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Creates a code for one other server: it contains the URL of this server and the secret that permits the request. */
export async function invitePeer(deps: FederationDeps): Promise<{ code: string; expiresAt: number }> {
  requireFederationOn(deps);
  const secret = deps.random.bytes(16).toString('base64url');
  const expiresAt = await deps.db.write(async ({ manager, now }) => {
    await manager.insert(pairingCodeSchema, {
      codeHash: hashOf(secret),
      createdAt: now,
      expiresAt: now + pairingTtlMs,
      usedAt: null,
    });
    return now + pairingTtlMs;
  });
  deps.logger.info('peer.invited', { until: new Date(expiresAt).toISOString() });
  return { code: `${deps.settings.origin}${pairingPath}#${secret}`, expiresAt };
}

/** The server that created a code, without using the code. Throws `invalid_pairing_code`. */
export function hostOfCode(deps: FederationDeps, code: string): string {
  return readCode(deps, code).url.host;
}

/**
 * Accepts the code of another administrator: allows their server from now on and notifies it. If that fails, the server
 * is not allowed. Throws `invalid_pairing_code`, `pairing_refused` for a code that its server does not know (any more),
 * and as `outbound.send` does.
 * @returns the host
 */
export async function acceptInvite(deps: FederationDeps, code: string): Promise<string> {
  requireFederationOn(deps);
  const { url, secret } = readCode(deps, code);
  const wasPaired = await deps.db.read.existsBy(peerSchema, { host: url.host, pairedAt: isNotNull() });
  await allow(deps, url.host);
  try {
    const body = Buffer.from(JSON.stringify({ code: secret, origin: deps.settings.origin }));
    const key = await deps.localActors.signingKey((await instanceActor(deps)).path);
    const judged = await deps.outbound.checkUrl(url.href);
    const signed = await signRequest({ method: 'POST', url: judged, body, at: deps.clock.now() }, key);
    const headers = { ...signed, 'Content-Type': 'application/json' };
    const { status } = await deps.outbound.send({ method: 'POST', url: judged.href, headers, body, maxBytes: 4_096 });
    if (status < 200 || status > 299) {
      throw conflict(
        'pairing_refused',
        `${url.host} does not accept this code. A code works once and expires after 15 minutes. Ask for a new one.`,
      );
    }
  } catch (error) {
    if (!wasPaired)
      await deps.db.write(({ manager }) => manager.update(peerSchema, { host: url.host }, { pairedAt: null }));
    throw error;
  }
  deps.logger.info('peer.paired', { host: url.host });
  return url.host;
}

/**
 * Receives a pairing request with a local code. Fetches nothing and allows nothing: an administrator sees the request.
 * A host that is already allowed needs no confirmation. Throws `unknown_pairing_code`, alike for wrong, used and
 * expired codes.
 */
export async function receivePairing(deps: FederationDeps, body: Buffer): Promise<void> {
  const { code, origin } = asObject(parse(body));
  const url = webUrl(origin);
  const unknown = () => notFound('unknown_pairing_code');
  if (typeof code !== 'string' || code.length > 100 || url === null || url.origin !== origin) throw unknown();
  if (url.protocol !== 'https:' && !deps.settings.devAllowInsecure) throw unknown();
  await deps.db.write(async ({ manager, now }) => {
    const found = await manager.update(
      pairingCodeSchema,
      { codeHash: hashOf(code), usedAt: IsNull(), expiresAt: MoreThan(now) },
      { usedAt: now },
    );
    if (found.affected !== 1) throw unknown();
    const { host } = url;
    if (isInSettings(deps, url) || (await manager.existsBy(peerSchema, { host, pairedAt: isNotNull() }))) return;
    await manager.query(upsert('federation_peers', ['host'], ['asked_at']), [host, now]);
  });
  deps.logger.info('peer.asked_to_pair', { host: url.host });
}

/** Confirms the pairing request of a server. Throws `unknown_peer` if there is no request. */
export async function confirmPeer(deps: FederationDeps, host: string): Promise<void> {
  const hasRequest = await deps.db.read.existsBy(peerSchema, { host: host.toLowerCase(), askedAt: isNotNull() });
  if (!hasRequest) throw noSuchPeer(host);
  await allow(deps, host.toLowerCase());
  deps.logger.info('peer.paired', { host });
}

/**
 * Removes a pairing or declines a request. Servers in the settings stay allowed. Throws `unknown_peer`;
 * `peer_in_settings` if only the settings can remove it.
 */
export async function removePeer(deps: FederationDeps, host: string): Promise<void> {
  const found = await deps.db.write(({ manager }) =>
    rows(
      manager,
      `UPDATE federation_peers SET paired_at = NULL, asked_at = NULL
      WHERE host = ? AND (paired_at IS NOT NULL OR asked_at IS NOT NULL) RETURNING host`,
      [host.toLowerCase()],
    ),
  );
  if (found.length > 0) return deps.logger.info('peer.removed', { host });
  if (deps.settings.allowlist.includes(host.toLowerCase())) {
    throw conflict('peer_in_settings', `${host} is in SERVICE_FEDERATION_PEER_ALLOWLIST. Remove it there.`);
  }
  throw noSuchPeer(host);
}

const noSuchPeer = (host: string) => notFound('unknown_peer', `No pairing with ${host}, and it has not requested one.`);

async function allow({ db }: FederationDeps, host: string): Promise<void> {
  await db.write(({ manager, now }) =>
    manager.query(
      `INSERT INTO federation_peers (host, paired_at) VALUES (?, ?)
     ON CONFLICT (host) DO UPDATE SET paired_at = excluded.paired_at, asked_at = NULL, silent_since = NULL, gone_at = NULL`,
      [host, now],
    ),
  );
}

function isInSettings({ settings }: FederationDeps, url: URL): boolean {
  return entriesFor(url, settings.devAllowInsecure).some((entry) => settings.allowlist.includes(entry));
}

function readCode(deps: FederationDeps, code: string): { url: URL; secret: string } {
  const [address = '', secret = ''] = code.trim().split('#');
  const url = webUrl(address);
  if (url === null || url.pathname !== pairingPath || url.search !== '' || !/^[\w-]{16,64}$/.test(secret)) {
    throw invalid(
      'invalid_pairing_code',
      'This is not a pairing code. A pairing code is one line that starts with https:// and contains a #.',
    );
  }
  if (url.protocol !== 'https:' && !deps.settings.devAllowInsecure)
    throw invalid('invalid_pairing_code', 'Only https is allowed');
  if (url.host === new URL(deps.settings.origin).host)
    throw invalid('invalid_pairing_code', 'This code was created on this server. Use it on the other server.');
  return { url, secret };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
