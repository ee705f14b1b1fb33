import type { Database } from '../db/index.ts';
import { createLru } from '../kernel/index.ts';
import type { Clock } from '../kernel/index.ts';
import type { OutboundResponse } from '../outbound/index.ts';
import { peerSchema } from './schema/peer-schema.ts';

export type SignatureScheme = 'draft-cavage' | 'rfc9421';

type Method = 'GET' | 'POST';

/**
 * The signature schemes of servers. Forges get the usual one; other servers the one that they are known to support.
 * Documents are fetched before the software of their server is known, so the other scheme is tried for a server that
 * may be a forge.
 */
export interface PeerSchemes {
  /**
   * Sends a request in the signature scheme that its server supports. After a 401, retries with the other scheme if the
   * server may support it, and stores the scheme that was accepted.
   * @returns the response; the first one if both schemes are refused
   */
  knock(
    host: string,
    method: Method,
    send: (scheme: SignatureScheme) => Promise<OutboundResponse>,
  ): Promise<OutboundResponse>;
}

const knownForMs = 60_000;
/** A server that refuses both schemes gets only one request per delivery from then on. */
const tryAgainAfterMs = 3_600_000;

export function createPeerSchemes({ db, clock }: { db: Database; clock: Clock }): PeerSchemes {
  const known = createLru<string, { at: number; scheme: SignatureScheme; reads: string | null }>({
    name: 'signature schemes',
    maxWeight: 10_000,
  });
  const refusedBoth = createLru<string, number>({ name: 'refused signature schemes', maxWeight: 10_000 });

  async function schemeOf(host: string, method: Method) {
    const now = clock.now();
    let found = known.get(host);
    if (found === undefined || Math.abs(now - found.at) >= knownForMs) {
      const row = await db.read.findOneBy(peerSchema, { host });
      const scheme = row?.scheme === 'rfc9421' ? 'rfc9421' : 'draft-cavage';
      found = { at: now, scheme, reads: row?.reads ?? null };
      // The software of a server becomes known between its first document and the first delivery.
      if (method === 'POST') known.set(host, found);
    }
    const isRefused = now - (refusedBoth.get(`${method} ${host}`) ?? -Infinity) < tryAgainAfterMs;
    const mayBeAsked = method === 'GET' ? found.reads !== 'push' : found.reads === 'note';
    return { scheme: found.scheme, mayTryOther: mayBeAsked && !isRefused };
  }

  async function remember(host: string, accepted: SignatureScheme): Promise<void> {
    const scheme = accepted === 'rfc9421' ? accepted : null;
    const { affected } = await db.write(({ manager }) => manager.update(peerSchema, { host }, { scheme }));
    // A server without a stored row: remembered for the requests that follow at once.
    if (affected === 0) known.set(host, { at: clock.now(), scheme: accepted, reads: null });
    else known.delete(host);
  }

  return {
    async knock(host, method, send) {
      const { scheme, mayTryOther } = await schemeOf(host, method);
      const first = await send(scheme);
      if (first.status !== 401 || !mayTryOther) return first;
      const other = scheme === 'rfc9421' ? 'draft-cavage' : 'rfc9421';
      const second = await send(other);
      if (second.status !== 401) {
        await remember(host, other);
        return second;
      }
      refusedBoth.set(`${method} ${host}`, clock.now());
      return first;
    },
  };
}
