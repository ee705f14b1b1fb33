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

/** The schemes of servers. Forges get the usual one; others what they are known to read. */
export interface PeerSchemes {
  of(host: string): Promise<PeerScheme>;
  /** A server that refused one scheme was asked by the other. */
  tried(host: string, other: SignatureScheme, isAccepted: boolean): Promise<void>;
}

const knownForMs = 60_000;
/** A server that refuses both is not asked twice each time. */
const tryAgainAfterMs = 3_600_000;

export function createPeerSchemes({ db, clock }: { db: Database; clock: Clock }): PeerSchemes {
  const known = createLru<string, { at: number; scheme: SignatureScheme; readsNotes: boolean }>({
    name: 'signature schemes',
    maxWeight: 10_000,
  });
  const refusedBoth = createLru<string, number>({ name: 'refused signature schemes', maxWeight: 10_000 });

  return {
    async of(host) {
      const now = clock.now();
      let found = known.get(host);
      if (found === undefined || Math.abs(now - found.at) >= knownForMs) {
        const row = await db.read.findOneBy(peerSchema, { host });
        const scheme = row?.scheme === 'rfc9421' ? 'rfc9421' : 'draft-cavage';
        known.set(host, (found = { at: now, scheme, readsNotes: row?.reads === 'note' }));
      }
      const isRefused = now - (refusedBoth.get(host) ?? -Infinity) < tryAgainAfterMs;
      return { scheme: found.scheme, mayTryOther: found.readsNotes && !isRefused };
    },
    async tried(host, other, isAccepted) {
      if (!isAccepted) return void refusedBoth.set(host, clock.now());
      known.delete(host);
      const scheme = other === 'rfc9421' ? other : null;
      await db.write(({ manager }) => manager.update(peerSchema, { host }, { scheme }));
    },
  };
}
