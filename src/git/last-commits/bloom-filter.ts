/** A path's hash for the Bloom filters of a commit-graph; null if git may hash it differently. */
export type PathHashes = readonly [number, number] | null;

const seeds = [0x293ae76f, 0x7e646e2c] as const;

/**
 * @param path the full path, without a trailing slash, one character per byte
 */
export function hashesOf(path: string): PathHashes {
  // git's first version of the hash depends on the sign of C's `char` for bytes above 127, so such paths have no
  // reliable hash.
  if (/[^\x00-\x7f]/.test(path)) return null;
  const bytes = Buffer.from(path, 'latin1');
  return [murmur3(seeds[0], bytes), murmur3(seeds[1], bytes)];
}

/**
 * Whether a changed-path Bloom filter may contain a path; false means surely not.
 * @param bytes holds the filter from `from` to `to`
 * @param hashCount number of bits set per path
 */
export function mightContain(
  bytes: Buffer,
  from: number,
  to: number,
  [first, second]: readonly [number, number],
  hashCount: number,
): boolean {
  const bits = (to - from) * 8;
  for (let index = 0; index < hashCount; index += 1) {
    const bit = ((first + Math.imul(index, second)) >>> 0) % bits;
    if ((bytes[from + (bit >>> 3)]! & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

/** MurmurHash3, 32 bits (A. Appleby, public domain), as git's commit-graph-format describes it. */
function murmur3(seed: number, bytes: Buffer): number {
  let hash = seed;
  const whole = bytes.length - (bytes.length % 4);
  for (let at = 0; at < whole; at += 4) {
    const block = Math.imul(rotate(Math.imul(bytes.readInt32LE(at), 0xcc9e2d51), 15), 0x1b873593);
    hash = Math.imul(rotate(hash ^ block, 13), 5) + 0xe6546b64;
  }
  let rest = 0;
  for (let at = bytes.length - 1; at >= whole; at -= 1) rest = (rest << 8) | bytes[at]!;
  if (whole < bytes.length) hash ^= Math.imul(rotate(Math.imul(rest, 0xcc9e2d51), 15), 0x1b873593);
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
