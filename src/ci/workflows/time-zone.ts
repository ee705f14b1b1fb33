const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Formats in use, by zone; a format takes a fraction of a millisecond to make, and there are a few hundred zones. */
const formats = new Map<string, Intl.DateTimeFormat>();
const maxFormats = 1_000;

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  if (formats.size >= maxFormats) formats.clear();
  formats.set(timeZone, format);
  return format;
}

/** Whether a text is an IANA name, such as `Europe/Berlin`; an offset such as `+02:00` is not. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * How far the clocks of a zone are ahead of UTC, in milliseconds.
 * @param timeZone an IANA name
 * @param at epoch milliseconds
 */
export function offsetAt(timeZone: string, at: number): number {
  const { value = '' } =
    formatOf(timeZone)
      .formatToParts(at)
      .find(({ type }) => type === 'timeZoneName') ?? {};
  const [, sign, hours = '0', minutes = '0'] = /([+-])(\d\d):(\d\d)/.exec(value) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * hourMs + Number(minutes) * minuteMs);
}

/**
 * The instants, in order, at which the clocks of a zone show some times of one day. A time that is skipped when clocks
 * are put forward becomes the first moment after that, as on GitHub; one that comes twice counts once. With `isHourly`,
 * for schedules of every hour, a skipped time is left out and one that comes twice counts twice.
 * @param times of one day, in order, in milliseconds as if they were in UTC
 */
export function instantsOf(timeZone: string, times: Iterable<number>, isHourly: boolean): number[] {
  const shown = [...times];
  const [first, last] = [shown[0], shown.at(-1)];
  if (first === undefined || last === undefined) return [];
  // No zone is more than 14 hours away.
  const [before, after] = [offsetAt(timeZone, first - 15 * hourMs), offsetAt(timeZone, last + 15 * hourMs)];
  if (before === after) return shown.map((time) => time - before);
  const instants = new Set<number>();
  for (const time of shown) {
    const found = [time - before, time - after].filter((at) => at + offsetAt(timeZone, at) === time);
    if (isHourly) for (const at of found) instants.add(at);
    else instants.add(found.length === 0 ? firstAfterGap(timeZone, time - before) : Math.min(...found));
  }
  return [...instants].sort((a, b) => a - b);
}

/** The moment at which the clocks were put forward to their present offset. */
function firstAfterGap(timeZone: string, at: number): number {
  const offset = offsetAt(timeZone, at);
  let first = at;
  while (offsetAt(timeZone, first - minuteMs) === offset) first -= minuteMs;
  return first;
}
