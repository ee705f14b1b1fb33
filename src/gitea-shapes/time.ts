/** The value that Gitea's clients read as an unset time. */
export const noTime = '0001-01-01T00:00:00Z';

const limit = 8.64e15;

/**
 * Whole seconds, as in Gitea: some clients read no other format.
 * @param ms epoch milliseconds; those of commits may be outside the range of dates
 */
export const giteaTime = (ms: number): string =>
  new Date(Math.min(Math.max(ms, -limit), limit)).toISOString().replace(/\.\d{3}Z$/, 'Z');

/**
 * The same in the author's time zone: `2026-11-28T22:06:00+09:00`.
 * @param offsetMinutes east of UTC, at most a day
 */
export function zonedTime(ms: number, offsetMinutes: number): string {
  const local = giteaTime(ms + offsetMinutes * 60_000);
  if (offsetMinutes === 0 || local.length !== 20) return giteaTime(ms);
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = Math.abs(offsetMinutes);
  const sign = offsetMinutes < 0 ? '-' : '+';
  return `${local.slice(0, -1)}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

export const giteaTimeOrNull = (ms: number | null): string | null => (ms === null ? null : giteaTime(ms));
