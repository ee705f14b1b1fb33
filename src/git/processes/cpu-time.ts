/** Linux reports hundredths of a second. */
const tickMs = 10;

/** Positions of the two counts of each kind, after the program name. */
const places = { itself: [11, 12], 'ended children': [13, 14] } as const;

/**
 * CPU time in milliseconds, user and system, from `/proc/PID/stat` (proc(5)).
 * @param stat the content of that file; the result is zero if it is empty
 */
export function cpuMs(stat: string, whose: keyof typeof places): number {
  // Fields from the third on, after the program name, which may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return places[whose].reduce((sum, at) => sum + (Number(fields[at]) || 0), 0) * tickMs;
}
