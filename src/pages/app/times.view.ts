import { currentLanguage, dateFormat, relativeFormat, t } from '../../translation/index.ts';

/** A moment for a `<time>` element. */
export interface TimeView {
  /** Machine-readable: `2026-11-20T07:31:02.000Z`. */
  iso: string;
  /** Tooltip: the exact time in UTC, or of a commit on the clock of its author. */
  title: string;
  /** Visible text: `2 hours ago`. */
  text: string;
}

const exactFormat = dateFormat({ dateStyle: 'medium', timeStyle: 'short' });

const steps: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 365.25 * 86_400],
  ['month', 30.44 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** Commits may have any year; a time beyond the range of Date cannot be formatted. */
const lastMoment = 8.64e15;
const clamp = (ms: number): number => Math.min(Math.max(Number.isFinite(ms) ? ms : 0, -lastMoment), lastMoment);

/** Cache of formatted texts: a list has fifty times, and formatting takes microseconds for each. */
const relativeTexts = new Map<string, string>();
const exactTexts = new Map<string, string>();
const maxMemoised = 2_000;

function memoised<Key>(texts: Map<Key, string>, key: Key, make: () => string): string {
  let text = texts.get(key);
  if (text === undefined) {
    if (texts.size >= maxMemoised) texts.clear();
    texts.set(key, (text = make()));
  }
  return text;
}

function relativeText(seconds: number): string {
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) < length) continue;
    const count = Math.trunc(seconds / length);
    return memoised(relativeTexts, `${count} ${unit} ${currentLanguage()}`, () => relativeFormat().format(count, unit));
  }
  return seconds > 0 ? t('times.soon') : t('times.now');
}

/** A moment in a commit or a tag; `offsetMinutes` is the zone that it was made in. */
interface ZonedMoment {
  at: number;
  offsetMinutes: number;
}

/** Like `viewTime`; the tooltip is the local time with its zone, as in `28 Nov 2026, 22:06 +09:00`. */
export function viewZonedTime({ at, offsetMinutes }: ZonedMoment, now: number): TimeView {
  const time = viewTime(at, now);
  if (offsetMinutes === 0) return time;
  const minutes = Math.abs(offsetMinutes);
  const digits = [Math.trunc(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  const zone = `${offsetMinutes < 0 ? '-' : '+'}${digits.join(':')}`;
  const local = clamp(clamp(at) + offsetMinutes * 60_000);
  const title = memoised(
    exactTexts,
    `${Math.floor(local / 60_000)} ${zone} ${currentLanguage()}`,
    () => `${exactFormat(new Date(local))} ${zone}`,
  );
  return { ...time, title };
}

/** @param ms the moment, @param now both in milliseconds since the epoch */
export function viewTime(ms: number, now: number): TimeView {
  const date = new Date(clamp(ms));
  return {
    iso: date.toISOString(),
    title: memoised(
      exactTexts,
      `${Math.floor(date.getTime() / 60_000)} ${currentLanguage()}`,
      () => `${exactFormat(date)} UTC`,
    ),
    text: relativeText((date.getTime() - now) / 1000),
  };
}
