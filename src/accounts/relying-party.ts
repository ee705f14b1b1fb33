import { isIP } from 'node:net';
import { conflict } from '../kernel/index.ts';

/** This server as known to authenticators (WebAuthn Level 3, §5.1.2). */
interface RelyingParty {
  /** The host name to which passkeys are bound. */
  id: string;
  /** The only origin whose responses are accepted. */
  origin: string;
}

/**
 * The relying party of a public origin; null if browsers support no passkeys there: without a configured URL, over
 * plain http except on this machine, and at an IP address.
 */
export function relyingPartyOf(baseUrl: string | null): RelyingParty | null {
  if (baseUrl === null) return null;
  const { origin, hostname, protocol } = new URL(baseUrl);
  if (isIP(hostname) !== 0 || hostname.startsWith('[')) return null;
  return protocol === 'https:' || hostname === 'localhost' ? { id: hostname, origin } : null;
}

export const passkeysUnavailable = () =>
  conflict('passkeys_unavailable', 'Passkeys require a base_url that is an https address with a host name.');
