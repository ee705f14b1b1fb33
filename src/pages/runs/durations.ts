import { formatDuration } from '../../kernel/index.ts';

/** `2 m 5 s`; null while the duration is unknown. */
export const viewDuration = (startedAt: number | null, finishedAt: number | null, now: number): string | null =>
  startedAt === null ? null : formatDuration((finishedAt ?? now) - startedAt);
