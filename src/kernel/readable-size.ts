/** A readable size: `512 bytes`, `1.5 GiB`; rounded down to a tenth. */
export function readableSize(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let [size, unit] = [bytes, 0];
  for (; size >= 1024 && unit < units.length - 1; unit += 1) size /= 1024;
  return `${unit === 0 ? size : Math.floor(size * 10) / 10} ${units[unit]}`;
}
