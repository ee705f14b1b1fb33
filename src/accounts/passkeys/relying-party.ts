import { isIP } from 'node:net';
import { conflict } from '../../kernel/index.ts';

/** This server as authenticators know it (WebAuthn Level 3, §5.1.2). */
interface RelyingParty {
  /** The host name that passkeys are bound to. */
  id: string;
  /** The only origin whose answers are accepted. */
  origin: string;
}

/**
 * The relying party of a public origin; null where browsers have no passkeys: without a configured address, over plain
 * http except on this machine, and at an IP address.
 */
export function relyingPartyOf(baseUrl: string | null): RelyingParty | null {
  if (baseUrl === null) return null;
  const { origin, hostname, protocol } = new URL(baseUrl);
  if (isIP(hostname) !== 0 || hostname.startsWith('[')) return null;
  return protocol === 'https:' || hostname === 'localhost' ? { id: hostname, origin } : null;
}

export const passkeysUnavailable = () =>
  conflict('passkeys_unavailable', 'Passkeys need a server whose base_url is an https address with a host name.');
