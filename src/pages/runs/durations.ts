import { formatDuration } from '../../kernel/index.ts';

/** `2 m 5 s`; null while there is no duration. */
export const viewDuration = (startedAt: number | null, finishedAt: number | null, now: number): string | null =>
  startedAt === null ? null : formatDuration((finishedAt ?? now) - startedAt);
