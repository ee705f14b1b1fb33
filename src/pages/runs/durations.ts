/** `2 m 5 s`; null while there is no duration. */
export function viewDuration(startedAt: number | null, finishedAt: number | null, now: number): string | null {
  if (startedAt === null) return null;
  const seconds = Math.max(0, Math.round(((finishedAt ?? now) - startedAt) / 1000));
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  return first === -1
    ? '0 s'
    : parts
        .slice(first, first + 2)
        .map(([count, unit]) => `${count} ${unit}`)
        .join(' ');
}
