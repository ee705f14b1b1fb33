import { instantsOf, isTimeZone, offsetAt } from './time-zone.ts';
import type { Schedule } from './workflow.ts';

/** The sets of values that the five fields of a cron expression allow. */
interface Cron {
  minutes: ReadonlySet<number>;
  hours: ReadonlySet<number>;
  days: ReadonlySet<number>;
  months: ReadonlySet<number>;
  weekdays: ReadonlySet<number>;
  /** Cron's rule: if day and weekday are both restricted, either match suffices. */
  eitherDay: boolean;
  /** An IANA name; null for UTC. */
  timeZone: string | null;
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

/**
 * Parses `*`, numbers, names, ranges, lists, steps and `@daily`; null if it is not a cron expression. Gitea and Forgejo
 * also take a zone before it, `TZ=Asia/Tokyo 0 4 * * *`.
 * @param zone IANA name of the zone, from a key beside the expression; null without one
 */
export function parseCron(text: string, zone: string | null = null): Cron | null {
  const { prefix, expression } = splitZone(text);
  const timeZone = prefix ?? zone;
  if ((prefix !== null && zone !== null) || (timeZone !== null && !isTimeZone(timeZone))) return null;
  const given = expression.trim();
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
  const eitherDay = !day.startsWith('*') && !weekday.startsWith('*');
  return { minutes, hours, days, months, weekdays, eitherDay, timeZone };
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

/** The zone in which the clock reads a schedule: `UTC`, `Europe/Berlin`. */
export const zoneOf = ({ cron, timeZone }: Schedule): string => timeZone ?? splitZone(cron).prefix ?? 'UTC';

/** The zone before an expression; null without one. */
function splitZone(text: string): { prefix: string | null; expression: string } {
  const [, prefix = null, expression = ''] = /^\s*(?:(?:CRON_)?TZ=(\S+)\s)?([^]*)$/.exec(text)!;
  return { prefix, expression };
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** Search limit in days: 29 February on a given weekday may be 40 years away, which is never intended. */
const maxDays = 5 * 366;

/**
 * The first minute after a time that matches the expression in its zone; null if there is none in the next five years
 * (30 February).
 * @param after epoch milliseconds
 */
export function nextTime(cron: Cron, after: number): number | null {
  const { timeZone } = cron;
  const start = Math.floor(after / minuteMs) * minuteMs + minuteMs;
  const local = start + (timeZone === null ? 0 : offsetAt(timeZone, start));
  for (const day of daysOf(cron, Math.floor(local / dayMs) * dayMs)) {
    const times = timesOf(cron, day);
    for (const at of timeZone === null ? times : instantsOf(timeZone, times, cron.hours.size === 24))
      if (at >= start) return at;
  }
  return null;
}

/** The days that match, as midnights in UTC. */
function* daysOf(cron: Cron, first: number): Generator<number> {
  for (let count = 0, day = first; count < maxDays; count += 1, day += dayMs) {
    const date = new Date(day);
    if (cron.months.has(date.getUTCMonth() + 1)) {
      if (allowsDay(cron, date)) yield day;
      continue;
    }
    // Skips to the end of the month, so that impossible days are not searched one by one.
    const last = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0);
    count += Math.round((last - day) / dayMs);
    day = last;
  }
}

/** The minutes of a day, as a clock shows them. */
function* timesOf({ hours, minutes }: Cron, day: number): Generator<number> {
  const sorted = [...minutes].sort((a, b) => a - b);
  for (const hour of [...hours].sort((a, b) => a - b))
    for (const minute of sorted) yield day + (hour * 60 + minute) * minuteMs;
}

/** Assumes that the month matches. */
function allowsDay(cron: Cron, date: Date): boolean {
  const byDay = cron.days.has(date.getUTCDate());
  const byWeekday = cron.weekdays.has(date.getUTCDay());
  return cron.eitherDay ? byDay || byWeekday : byDay && byWeekday;
}
