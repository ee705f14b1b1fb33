/**
 * The two largest units of a duration: `2 m 5 s`.
 * @param gap between a number and its unit
 */
export function formatDuration(ms: number, gap = ' '): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const shown = first === -1 ? parts.slice(2) : parts.slice(first, first + 2);
  return shown.map(([count, unit]) => `${count}${gap}${unit}`).join(' ');
}
