import { formatDuration } from '../../kernel/index.ts';

const units: readonly [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** ISO 8601 in UTC, whole seconds: `2026-11-20T07:31:02Z`. */
export function absoluteTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** `2 hours ago`, `in 3 days`, `just now`, `in a moment`. */
export function relativeTime(epochMs: number, nowMs: number): string {
  const distance = epochMs - nowMs;
  const [unit, size] = units.find(([, ms]) => Math.abs(distance) >= ms) ?? [null, 1];
  if (unit === null) return distance > 0 ? 'in a moment' : 'just now';
  return new Intl.RelativeTimeFormat('en').format(Math.trunc(distance / size), unit);
}

/** A duration: `1h 4m`, `2m 5s`, `0s`; empty while it has not ended. */
export function duration(startedAt: number | null, finishedAt: number | null): string {
  if (startedAt === null || finishedAt === null) return '';
  return formatDuration(finishedAt - startedAt, '');
}
