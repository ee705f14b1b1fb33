import type { Timestamp } from './runner-messages.ts';

const shape = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/;

/** Parses RFC 3339 with up to nine fractional digits; null for anything else. */
export function parseTimestamp(text: string): Timestamp | null {
  const [, day, time, fraction = '', zone = 'Z'] = shape.exec(text) ?? [];
  if (day === undefined) return null;
  const ms = Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  if (Number.isNaN(ms)) return null;
  return { seconds: BigInt(Math.floor(ms / 1000)), nanos: Number(fraction.padEnd(9, '0')) };
}

/** Formats RFC 3339 in UTC. Clamps times outside the years 1 to 9999. */
export function formatTimestamp({ seconds, nanos }: Timestamp): string {
  const held = Number(seconds < firstSecond ? firstSecond : seconds > lastSecond ? lastSecond : seconds);
  const fraction =
    nanos === 0
      ? ''
      : `.${String(nanos)
          .padStart(9, '0')
          .replace(/(?:000){1,2}$/, '')}`;
  return new Date(held * 1000).toISOString().replace(/\.000Z$/, `${fraction}Z`);
}

const firstSecond = -62_135_596_800n;
const lastSecond = 253_402_300_799n;
