import { isIP } from 'node:net';
import { deviceName } from '../accounts/index.ts';
import type { SecurityEvent } from '../accounts/index.ts';
import type { Tx } from '../db/index.ts';
import { networkPrefix } from '../kernel/index.ts';
import { knownSignInSchema } from './notice-schema.ts';

/** How long a device or a network stays known after the last sign-in from it, in milliseconds. */
const knownMs = 365 * 86_400_000;
/** Rows per person; the oldest go first. */
const maxKnown = 100;
/** The first session of an account belongs to who has made it. */
const newAccountMs = 10 * 60_000;

type SignIn = Extract<SecurityEvent, { kind: 'signed_in' }>;

interface Place {
  device: string;
  network: string;
}

/**
 * Records from where a person has signed in. @returns whether the device or the network is unknown: neither an earlier
 * sign-in nor an open session is from it. Devices are distinguished by browser and system, as well as a User-Agent can;
 * networks are wide, because the address of a home changes often within its provider.
 */
export async function isUnknownSignIn({ manager, now }: Tx, personId: string, event: SignIn): Promise<boolean> {
  const place = placeOf(event);
  const rows = await manager.find(knownSignInSchema, { where: { userId: personId }, order: { lastAt: 'DESC' } });
  const known: Place[] = [...rows.filter(({ lastAt }) => lastAt > now - knownMs), ...event.others.map(placeOf)];
  await manager.save(knownSignInSchema, { userId: personId, ...place, lastAt: now });
  for (const { device, network } of rows.slice(maxKnown - 1))
    await manager.delete(knownSignInSchema, { userId: personId, device, network });
  if (known.length === 0 && now - event.accountCreatedAt < newAccountMs) return false;
  return (
    !known.some(({ device }) => device === place.device) || !known.some(({ network }) => network === place.network)
  );
}

const placeOf = ({ userAgent, address }: { userAgent: string; address: string }): Place => ({
  device: deviceName(userAgent),
  network: wideNetwork(address),
});

/** The /16 of an IPv4 address, the /32 of an IPv6 address: about what one provider gives to one region. */
function wideNetwork(address: string): string {
  const prefix = networkPrefix(address);
  if (isIP(prefix) === 4) return `${prefix.split('.').slice(0, 2).join('.')}.0.0/16`;
  return /^[\da-f]+:[\da-f]+:/.test(prefix) ? `${prefix.split(':').slice(0, 2).join(':')}::/32` : prefix;
}
