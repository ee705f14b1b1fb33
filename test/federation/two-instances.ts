// startPeer(t, {host, allow, env?, folder?, clock?}) → a Hearth whose actors live at http://host:port, on a loopback
// address of its own.
// startPair(t) → two of them that allow each other: {home, away}, with alice at home and bob away.
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import type { Clock } from '../../src/kernel/index.ts';

export interface Peer extends Hearth {
  /** `http://127.0.0.2:40123`: what its actor ids begin with. */
  origin: string;
  /** Host and port of it. */
  host: string;
}

interface PeerOptions {
  host: string;
  port?: number;
  /** Entries of its allowlist. */
  allow: string[];
  env?: Record<string, string>;
  folder?: string;
  clock?: Clock;
}

export async function startPeer(t: Owner, { host, port, allow, env = {}, folder, clock }: PeerOptions): Promise<Peer> {
  const http = port ?? (await freePort(host));
  const origin = `http://${host}:${http}`;
  const hearth = await startHearth(t, {
    env: {
      SERVICE_HTTP_LISTEN: `${host}:${http}`,
      SERVICE_SSH_LISTEN: `${host}:0`,
      SERVICE_FEDERATION_ENABLED: 'true',
      SERVICE_FEDERATION_BASE_URL: origin,
      SERVICE_FEDERATION_PEER_ALLOWLIST: allow.join(','),
      SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true',
      ...env,
    },
    ...(folder === undefined ? {} : { folder }),
    ...(clock === undefined ? {} : { clock }),
  });
  return { ...hearth, origin, host: `${host}:${http}` };
}

export interface Pair {
  home: Peer;
  away: Peer;
  alice: TestPerson;
  bob: TestPerson;
}

export async function startPair(
  t: Owner,
  more: { home?: Partial<PeerOptions>; away?: Partial<PeerOptions> } = {},
): Promise<Pair> {
  const away = await startPeer(t, { host: '127.0.0.2', allow: ['127.0.0.1'], ...more.away });
  const home = await startPeer(t, { host: '127.0.0.1', allow: ['127.0.0.2'], ...more.home });
  return { home, away, alice: await home.addPerson('alice'), bob: await away.addPerson('bob') };
}
