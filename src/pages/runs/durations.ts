import { formatDuration } from '../../kernel/index.ts';

/** `2 m 5 s`; null while the duration is unknown. */
export const viewDuration = (startedAt: number | null, finishedAt: number | null, now: number): string | null =>
  startedAt === null ? null : formatDuration((finishedAt ?? now) - startedAt);

/** How long a job or run has waited for a runner; null if it did not, or for less than a second. */
export function viewWait(
  { waitingSince, startedAt, finishedAt }: Record<'waitingSince' | 'startedAt' | 'finishedAt', number | null>,
  now: number,
): string | null {
  if (waitingSince === null || (startedAt === null && finishedAt !== null)) return null;
  const waited = (startedAt ?? now) - waitingSince;
  return waited < 1_000 ? null : formatDuration(waited);
}
