import { dateFormat, t } from '../../translation/index.ts';
import { viewCount } from '../app/format-numbers.ts';

/** A year of pushes and commits, one square for each day, a column for each week. */
interface PushCalendarView {
  /** `214 commits and 12 pushes in the last year` */
  summary: string;
  width: number;
  height: number;
  /** The squares of days without pushes and commits, as one path. */
  quiet: string;
  days: { x: number; y: number; level: number; title: string }[];
  months: { x: number; name: string }[];
}

const dayMs = 86_400_000;
const weeks = 53;
const [step, square, top] = [13, 10, 16] as const;

const format = (options: Intl.DateTimeFormatOptions) => {
  const ofMs = dateFormat(options);
  return (day: number): string => ofMs(day * dayMs);
};
const dateOf = format({ dateStyle: 'long' });
const monthOf = format({ month: 'short' });

/** The first day shown: a Monday, a year ago. */
export const firstDayShown = (now: number): number => {
  const today = Math.floor(now / dayMs);
  return today - weekdayOf(today) - (weeks - 1) * 7;
};

/** Days since Monday; the epoch was a Thursday. */
const weekdayOf = (day: number): number => (day + 3) % 7;

/** Keyed by the number of the day since the epoch. */
type Counts = ReadonlyMap<number, number>;

/** `3 commits and 1 push`; omits commits if there are none. */
const describe = (commits: number, pushes: number): string =>
  [
    ...(commits > 0 ? [viewCount(commits, 'commit')] : []),
    ...(pushes > 0 || commits === 0 ? [viewCount(pushes, 'push')] : []),
  ].join(' and ');

/** The shade of a day depends on the sum of its commits and pushes. */
export function viewPushCalendar(
  { pushes, commits }: { pushes: Counts; commits: Counts },
  now: number,
): PushCalendarView {
  const [first, today] = [firstDayShown(now), Math.floor(now / dayMs)];
  const countOn = (day: number) => (pushes.get(day) ?? 0) + (commits.get(day) ?? 0);
  const most = Math.max(1, ...[...pushes.keys(), ...commits.keys()].map(countOn));
  const view: PushCalendarView = {
    summary: '',
    width: weeks * step - (step - square),
    height: top + 7 * step - (step - square),
    quiet: '',
    days: [],
    months: [],
  };
  const total = { commits: 0, pushes: 0 };
  for (let day = first; day <= today; day += 1) {
    const [x, y] = [Math.floor((day - first) / 7) * step, top + weekdayOf(day) * step];
    const count = countOn(day);
    total.commits += commits.get(day) ?? 0;
    total.pushes += pushes.get(day) ?? 0;
    if (count === 0) view.quiet += `M${x} ${y}h${square}v${square}h-${square}z`;
    else
      view.days.push({
        x,
        y,
        level: Math.max(1, Math.ceil((count / most) * 4)),
        title: `${describe(commits.get(day) ?? 0, pushes.get(day) ?? 0)} on ${dateOf(day)}`,
      });
    const isFirstWeek = weekdayOf(day) === 0 && new Date(day * dayMs).getUTCDate() <= 7;
    // A name would not fit into the last columns.
    if (isFirstWeek && x < view.width - 2 * step) view.months.push({ x, name: monthOf(day) });
  }
  view.summary = t('account.push_calendar.describe_in_the_last_year', {
    describe: describe(total.commits, total.pushes),
  });
  return view;
}
