/** The sets of values that the five fields of a cron expression allow. */
interface Cron {
  minutes: ReadonlySet<number>;
  hours: ReadonlySet<number>;
  days: ReadonlySet<number>;
  months: ReadonlySet<number>;
  weekdays: ReadonlySet<number>;
  /** Cron's rule: if day and weekday are both restricted, either match suffices. */
  eitherDay: boolean;
}

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const weekdayNames = 'sun mon tue wed thu fri sat'.split(' ');

/** Names of whole cron expressions, which Gitea and Forgejo also accept. */
const wholeExpressions: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Parses `*`, numbers, names, ranges, lists, steps and `@daily`; null if it is not a cron expression. */
export function parseCron(text: string): Cron | null {
  const given = text.trim();
  const fields = (
    given.startsWith('@') ? (Object.hasOwn(wholeExpressions, given) ? wholeExpressions[given]! : '') : given
  ).split(/\s+/);
  if (fields.length !== 5) return null;
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  const minutes = parseField(minute, 0, 59);
  const hours = parseField(hour, 0, 23);
  const days = parseField(day, 1, 31);
  const months = parseField(month, 1, 12, monthNames, 1);
  const weekdays = parseField(weekday, 0, 7, weekdayNames, 0);
  if (minutes === null || hours === null || days === null || months === null || weekdays === null) return null;
  if (weekdays.has(7)) weekdays.add(0);
  return { minutes, hours, days, months, weekdays, eitherDay: !day.startsWith('*') && !weekday.startsWith('*') };
}

function parseField(
  text: string,
  from: number,
  to: number,
  names: readonly string[] = [],
  firstName = 0,
): Set<number> | null {
  const values = new Set<number>();
  const number = (word: string): number => {
    const named = names.indexOf(word.toLowerCase());
    return named >= 0 ? named + firstName : /^\d{1,2}$/.test(word) ? Number(word) : NaN;
  };
  for (const part of text.split(',')) {
    const [, range = '', stepText] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const [first = '', last] = range === '*' ? [String(from), String(to)] : range.split('-');
    const start = number(first);
    const end = last !== undefined ? number(last) : stepText === undefined ? start : to;
    const step = stepText === undefined ? 1 : Number(stepText);
    if (!(start >= from && end <= to && start <= end && step >= 1)) return null;
    for (let value = start; value <= end; value += step) values.add(value);
  }
  return values;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** Search limit in days: 29 February on a given weekday may be 40 years away, which is never intended. */
const maxDays = 5 * 366;

/**
 * The first minute after a time that matches the expression, in UTC; null if there is none in the next five years (30
 * February).
 * @param after epoch milliseconds
 */
export function nextTime(cron: Cron, after: number): number | null {
  const start = Math.floor(after / minuteMs) * minuteMs + minuteMs;
  let day = Math.floor(start / dayMs) * dayMs;
  for (let count = 0; count < maxDays; count += 1, day += dayMs) {
    const date = new Date(day);
    if (!cron.months.has(date.getUTCMonth() + 1)) {
      // Skips to the end of the month, so that impossible days are not searched one by one.
      const last = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0);
      count += Math.round((last - day) / dayMs);
      day = last;
      continue;
    }
    if (!allowsDay(cron, date)) continue;
    for (const hour of [...cron.hours].sort((a, b) => a - b)) {
      for (const minute of [...cron.minutes].sort((a, b) => a - b)) {
        const at = day + (hour * 60 + minute) * minuteMs;
        if (at >= start) return at;
      }
    }
  }
  return null;
}

/** Assumes that the month matches. */
function allowsDay(cron: Cron, date: Date): boolean {
  const byDay = cron.days.has(date.getUTCDate());
  const byWeekday = cron.weekdays.has(date.getUTCDay());
  return cron.eitherDay ? byDay || byWeekday : byDay && byWeekday;
}
