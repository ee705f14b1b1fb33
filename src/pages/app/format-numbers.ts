const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** A size for people: `0 B`, `512 B`, `1.4 kB`, `20 MB`; thousands, as disks and networks are sold. */
export function viewSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const text = unit === 0 || value >= 9.95 ? Math.round(value).toString() : value.toFixed(1);
  return `${text} ${units[unit]}`;
}

/** `1 branch`, `2 branches`, `1,204 tags`. */
export function viewCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** `1,204`. */
export const viewNumber = (count: number): string => count.toLocaleString('en');
