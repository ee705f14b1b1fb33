import { formatNumber, numberFormat, t } from '../../translation/index.ts';

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

const oneDecimal = numberFormat({ minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** A readable size: `0 B`, `512 B`, `1.4 kB`, `20 MB`; in powers of 1000, the units of disks and networks. */
export function viewSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const text = unit === 0 || value >= 9.95 ? formatNumber(Math.round(value)) : oneDecimal(value);
  return `${text} ${units[unit]}`;
}

type CountedNoun =
  | 'branch'
  | 'cell'
  | 'changed file'
  | 'changed line'
  | 'check'
  | 'commit'
  | 'delivery'
  | 'download'
  | 'file'
  | 'follower'
  | 'follower on other servers'
  | 'fork'
  | 'line'
  | 'mirror'
  | 'object'
  | 'open issue'
  | 'organisation'
  | 'person'
  | 'push'
  | 'repository'
  | 'row'
  | 'star'
  | 'starred repository'
  | 'tag'
  | 'version';

/** `1 branch`, `2 branches`, `1,204 tags`: the plural is the one of the message `counts.branch`. */
export const viewCount = (count: number, noun: CountedNoun): string =>
  t(`counts.${noun.replaceAll(' ', '_')}`, { count });

/** `1,204`. */
export const viewNumber = (count: number): string => formatNumber(count);
