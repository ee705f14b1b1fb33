import type { Database } from '../../db/index.ts';
import { createLru } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { peerSchema } from '../schema/peer-schema.ts';

export type SignatureScheme = 'draft-cavage' | 'rfc9421';

/** How requests to a server are signed, and whether the other scheme may be tried when it refuses. */
interface PeerScheme {
  scheme: SignatureScheme;
  mayTryOther: boolean;
}

type Method = 'GET' | 'POST';

/**
 * The schemes of servers. Forges get the usual one; others what they are known to read. Documents are asked for before
 * it is known what their server is, so a server that may be a forge is asked for them by the other scheme, too.
 */
export interface PeerSchemes {
  of(host: string, method: Method): Promise<PeerScheme>;
  /** A server that refused one scheme was asked by the other. */
  tried(host: string, method: Method, other: SignatureScheme, isAccepted: boolean): Promise<void>;
}

const knownForMs = 60_000;
/** A server that refuses both is not asked twice each time. */
const tryAgainAfterMs = 3_600_000;

export function createPeerSchemes({ db, clock }: { db: Database; clock: Clock }): PeerSchemes {
  const known = createLru<string, { at: number; scheme: SignatureScheme; reads: string | null }>({
    name: 'signature schemes',
    maxWeight: 10_000,
  });
  const refusedBoth = createLru<string, number>({ name: 'refused signature schemes', maxWeight: 10_000 });

  return {
    async of(host, method) {
      const now = clock.now();
      let found = known.get(host);
      if (found === undefined || Math.abs(now - found.at) >= knownForMs) {
        const row = await db.read.findOneBy(peerSchema, { host });
        const scheme = row?.scheme === 'rfc9421' ? 'rfc9421' : 'draft-cavage';
        found = { at: now, scheme, reads: row?.reads ?? null };
        // What a server is gets known between its first document and the first delivery.
        if (method === 'POST') known.set(host, found);
      }
      const isRefused = now - (refusedBoth.get(`${method} ${host}`) ?? -Infinity) < tryAgainAfterMs;
      const mayBeAsked = method === 'GET' ? found.reads !== 'push' : found.reads === 'note';
      return { scheme: found.scheme, mayTryOther: mayBeAsked && !isRefused };
    },
    async tried(host, method, other, isAccepted) {
      if (!isAccepted) return void refusedBoth.set(`${method} ${host}`, clock.now());
      const scheme = other === 'rfc9421' ? other : null;
      const { affected } = await db.write(({ manager }) => manager.update(peerSchema, { host }, { scheme }));
      // A server of which nothing is recorded yet: for the requests that follow at once.
      if (affected === 0) known.set(host, { at: clock.now(), scheme: other, reads: null });
      else known.delete(host);
    },
  };
}
