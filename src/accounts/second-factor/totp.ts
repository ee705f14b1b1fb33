import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Time-based one-time passwords (RFC 6238) as every authenticator app generates them: HMAC-SHA-1, six digits, steps of
 * 30 seconds. Apps ignore other parameters or handle them differently, so none are used.
 */
const stepMs = 30_000;
const digits = 6;

/** Bytes of a secret: as long as the hash, which RFC 4226 §4 recommends. */
export const totpSecretBytes = 20;

export const stepOf = (timeMs: number): number => Math.floor(timeMs / stepMs);

/** The code of a time step (RFC 4226 §5.3). */
export function totpCode(secret: Buffer, step: number, length = digits): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac[mac.length - 1]! & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** length).padStart(length, '0');
}

/** The digits of a code as typed, perhaps in two groups; null for anything else. */
export function parseTotpCode(text: string): string | null {
  const code = text.replace(/[\s-]/g, '');
  return code.length === digits && /^\d+$/.test(code) ? code : null;
}

/**
 * The time step of a code: now, the step before or after (RFC 6238 §5.2), and later than `lastStep`, so that a code
 * works once. Null if there is none.
 * @param window number of steps before and after now
 */
export function matchingStep(
  secret: Buffer,
  code: string,
  { now, lastStep, window = 1 }: { now: number; lastStep: number; window?: number },
): number | null {
  const current = stepOf(now);
  let found: number | null = null;
  // Compares all steps, so that the time does not reveal which one matched.
  for (let step = Math.max(0, current - window); step <= current + window; step += 1) {
    const isEqual = timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(code));
    if (isEqual && step > lastStep) found = step;
  }
  return found;
}

const base32Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base32 (RFC 4648 §6) without padding, the form in which secrets are typed into apps. */
export function base32(bytes: Uint8Array): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => base32Alphabet[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}

/** Content of the QR code: the Key URI Format that authenticator apps read. */
export function otpauthUri(secret: Buffer, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
