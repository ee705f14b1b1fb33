import { dateFormat, formatNumber } from '../../translation/index.ts';
import type { Milestone } from '../../issues/index.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';

interface MilestoneView {
  id: string;
  title: string;
  description: string;
  url: string;
  isClosed: boolean;
  closed: TimeView | null;
  /** `31 December 2026`; null without a date. */
  due: { iso: string; text: string; isPast: boolean } | null;
  openCount: string;
  closedCount: string;
  /** Percentage. */
  percent: number;
}

const dayFormat = dateFormat({ dateStyle: 'long' });

/** A day ends only when it has ended in every time zone. */
const lastOfDayMs = 36 * 3_600_000;

export function viewMilestone(milestone: Milestone, listUrl: string, now: number): MilestoneView {
  const { id, title, description, dueOn, closedAt, openCount, closedCount } = milestone;
  const total = openCount + closedCount;
  const at = dueOn === null ? null : Date.parse(`${dueOn}T00:00:00Z`);
  return {
    id,
    title,
    description,
    url: `${listUrl}/${id}`,
    isClosed: closedAt !== null,
    closed: closedAt === null ? null : viewTime(closedAt, now),
    due: at === null ? null : { iso: dueOn!, text: dayFormat(at), isPast: closedAt === null && now > at + lastOfDayMs },
    openCount: formatNumber(openCount),
    closedCount: formatNumber(closedCount),
    percent: total === 0 ? 0 : Math.floor((closedCount * 100) / total),
  };
}
