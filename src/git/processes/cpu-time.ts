/** Linux counts for its readers in hundredths of a second. */
const tickMs = 10;

/** Where the two counts of each stand, behind the name of the program. */
const places = { itself: [11, 12], 'ended children': [13, 14] } as const;

/**
 * Milliseconds of processor time, of the program and of the system for it, by `/proc/PID/stat` (proc(5)).
 * @param stat the content of that file; nothing when it is empty
 */
export function cpuMs(stat: string, whose: keyof typeof places): number {
  // Behind the name, which may contain anything: the third field and on.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return places[whose].reduce((sum, at) => sum + (Number(fields[at]) || 0), 0) * tickMs;
}
