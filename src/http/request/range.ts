/** First and last byte, both included. */
export interface Range {
  first: number;
  last: number;
}

/**
 * One byte range of a `Range` header (RFC 9110, 14.2); null without one, for several, and for invalid ones: then
 * everything is sent. A range that ends before it begins is refused, as in nginx.
 * @param bytes total size
 */
export function parseRange(header: string, bytes: number): Range | 'unsatisfiable' | null {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim()) ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return null;
  if (from === '') {
    const suffix = Math.min(Number(to), bytes);
    return suffix === 0 ? 'unsatisfiable' : { first: bytes - suffix, last: bytes - 1 };
  }
  const [first, last] = [Number(from), to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1)];
  const isBackwards = to !== '' && Number(to) < first;
  return isBackwards || first >= bytes ? 'unsatisfiable' : { first, last };
}
