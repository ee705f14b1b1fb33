/** A branch or tag with the object it names. */
export interface NamedRef {
  /** Without `refs/heads/` or `refs/tags/`. */
  name: string;
  oid: string;
}

/** A ref from the ref cache. */
interface Entry {
  /** The full name, one character per byte. */
  readonly name: string;
  readonly oid: string;
}

/**
 * The refs of a repository at one moment, sorted by the bytes of their names. Lookups of a ref or a part of a folder
 * use binary search, so they cost about the same for ten refs as for a hundred thousand, except for methods documented
 * to walk the refs.
 */
export class RefListing {
  readonly #refs: readonly Entry[];

  /**
   * @param refs sorted by name
   */
  constructor(refs: readonly Entry[]) {
    this.#refs = refs;
  }

  /** Builds a listing from names that are text. */
  static ofNames(refs: Iterable<readonly [name: string, oid: string]>): RefListing {
    const entries = [...refs].map(([name, oid]): Entry => ({ name: toBytes(name), oid }));
    return new RefListing(entries.sort((one, other) => (one.name < other.name ? -1 : 1)));
  }

  get size(): number {
    return this.#refs.length;
  }

  /** The object that a ref names. @param name full name */
  get(name: string): string | undefined {
    const bytes = toBytes(name);
    const found = this.#refs[this.#placeOf(bytes)];
    return found?.name === bytes ? found.oid : undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Number of names with this prefix, such as `refs/heads/`. */
  count(prefix: string): number {
    const [from, to] = this.#rangeOf(prefix);
    return to - from;
  }

  /** Names with this prefix, without the prefix. @param from index of the first one, from 0 */
  page(prefix: string, from: number, limit: number): NamedRef[] {
    const [begin, end] = this.#rangeOf(prefix);
    const length = toBytes(prefix).length;
    return this.#refs
      .slice(begin + from, Math.min(begin + from + limit, end))
      .map(({ name, oid }) => ({ name: toText(name.slice(length)), oid }));
  }

  /**
   * Number of names with this prefix up to and including this one. @param name without the prefix; it need not exist
   */
  upTo(prefix: string, name: string): number {
    const [begin, end] = this.#rangeOf(prefix);
    const bytes = toBytes(prefix + name);
    const at = this.#placeOf(bytes);
    return Math.min(Math.max(at + (this.#refs[at]?.name === bytes ? 1 : 0), begin), end) - begin;
  }

  /** Walks the names with this prefix backwards. */
  *namesFromLast(prefix: string): Generator<string> {
    const [begin, end] = this.#rangeOf(prefix);
    const length = toBytes(prefix).length;
    for (let at = end - 1; at >= begin; at -= 1) yield toText(this.#refs[at]!.name.slice(length));
  }

  /** The first name with this prefix that names this object, except one full name; walks them. */
  nameOf(prefix: string, oid: string, except = ''): string | null {
    const [begin, end] = this.#rangeOf(prefix);
    const other = toBytes(except);
    for (let at = begin; at < end; at += 1) {
      const ref = this.#refs[at]!;
      if (ref.oid === oid && ref.name !== other) return toText(ref.name.slice(toBytes(prefix).length));
    }
    return null;
  }

  /** The objects of the names with this prefix, except one or several full names; walks them. */
  idsOf(prefix: string, except: ReadonlySet<string>): string[] {
    const [begin, end] = this.#rangeOf(prefix);
    const others = new Set([...except].map(toBytes));
    const ids = new Set<string>();
    for (let at = begin; at < end; at += 1) {
      const { name, oid } = this.#refs[at]!;
      if (!others.has(name)) ids.add(oid);
    }
    return [...ids];
  }

  /** Walks all refs with their objects. */
  *[Symbol.iterator](): Generator<[name: string, oid: string]> {
    for (const { name, oid } of this.#refs) yield [toText(name), oid];
  }

  #rangeOf(prefix: string): [from: number, to: number] {
    const bytes = toBytes(prefix);
    // The range ends before the prefix with its last character incremented; no name contains byte 255.
    const behind = bytes.slice(0, -1) + String.fromCharCode(bytes.charCodeAt(bytes.length - 1) + 1);
    return [this.#placeOf(bytes), this.#placeOf(behind)];
  }

  /** The first index whose name is not before this one. */
  #placeOf(bytes: string): number {
    let [low, high] = [0, this.#refs.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#refs[middle]!.name < bytes) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const toBytes = (text: string): string => (/^[\x20-\x7e]*$/.test(text) ? text : Buffer.from(text).toString('latin1'));
const toText = (bytes: string): string =>
  /^[\x20-\x7e]*$/.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString();
