import { currentLanguage, dateFormat, relativeFormat, t } from '../../translation/index.ts';

/** A moment for a `<time>` element. */
export interface TimeView {
  /** Machine-readable: `2026-11-20T07:31:02.000Z`. */
  iso: string;
  /** Tooltip: the exact time in UTC. */
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
