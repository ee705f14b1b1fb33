const shape =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** A time in HTTP format: `Mon, 02 Mar 2026 09:30:00 GMT` (IMF-fixdate, RFC 9110 §5.6.7). */
export function formatHttpDate(epochMs: number): string {
  return new Date(epochMs).toUTCString();
}

/** Cached: requests within a second have the same date. */
let lastRead: { text: string | null; epochMs: number } = { text: null, epochMs: 0 };

/**
 * Parses an IMF-fixdate; `null` for anything else. `Date.parse` alone would accept dozens of other spellings, and days
 * that do not exist.
 * @returns milliseconds since the epoch
 */
export function parseHttpDate(text: string): number | null {
  if (text === lastRead.text) return lastRead.epochMs;
  if (!shape.test(text)) return null;
  const epochMs = Date.parse(text);
  if (!Number.isFinite(epochMs) || formatHttpDate(epochMs) !== text) return null;
  lastRead = { text, epochMs };
  return epochMs;
}
