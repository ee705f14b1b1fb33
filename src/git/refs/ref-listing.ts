/** A branch or tag with the object it names. */
export interface NamedRef {
  /** Without `refs/heads/` or `refs/tags/`. */
  name: string;
  oid: string;
}

/** A ref as the ref cache has it. */
interface Entry {
  /** The full name, one character per byte. */
  readonly name: string;
  readonly oid: string;
}

/**
 * The refs of a repository at one moment, in the order of the bytes of their names. A ref, and a part of a folder, is
 * found by halving: what is asked of it costs the same with ten refs as with a hundred thousand, unless it says that it
 * walks them.
 */
export class RefListing {
  readonly #refs: readonly Entry[];

  /** @param refs in the order of their names */
  constructor(refs: readonly Entry[]) {
    this.#refs = refs;
  }

  /** Of names that are text. */
  static ofNames(refs: Iterable<readonly [name: string, oid: string]>): RefListing {
    const entries = [...refs].map(([name, oid]): Entry => ({ name: toBytes(name), oid }));
    return new RefListing(entries.sort((one, other) => (one.name < other.name ? -1 : 1)));
  }

  get size(): number {
    return this.#refs.length;
  }

  /** The object that a ref names. @param name in full */
  get(name: string): string | undefined {
    const bytes = toBytes(name);
    const found = this.#refs[this.#placeOf(bytes)];
    return found?.name === bytes ? found.oid : undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** How many names begin with these characters: `refs/heads/`. */
  count(prefix: string): number {
    const [from, to] = this.#rangeOf(prefix);
    return to - from;
  }

  /** Those that begin so, without these characters. @param from the first of them, counted from 0 */
  page(prefix: string, from: number, limit: number): NamedRef[] {
    const [begin, end] = this.#rangeOf(prefix);
    const length = toBytes(prefix).length;
    return this.#refs
      .slice(begin + from, Math.min(begin + from + limit, end))
      .map(({ name, oid }) => ({ name: toText(name.slice(length)), oid }));
  }

  /** How many names that begin so are not behind this one. @param name without the prefix; it need not be there */
  upTo(prefix: string, name: string): number {
    const [begin, end] = this.#rangeOf(prefix);
    const bytes = toBytes(prefix + name);
    const at = this.#placeOf(bytes);
    return Math.min(Math.max(at + (this.#refs[at]?.name === bytes ? 1 : 0), begin), end) - begin;
  }

  /** Walks the names that begin so from the last to the first. */
  *namesFromLast(prefix: string): Generator<string> {
    const [begin, end] = this.#rangeOf(prefix);
    const length = toBytes(prefix).length;
    for (let at = end - 1; at >= begin; at -= 1) yield toText(this.#refs[at]!.name.slice(length));
  }

  /** The first name that begins so and names this object, but for a full name; walks them. */
  nameOf(prefix: string, oid: string, except = ''): string | null {
    const [begin, end] = this.#rangeOf(prefix);
    const other = toBytes(except);
    for (let at = begin; at < end; at += 1) {
      const ref = this.#refs[at]!;
      if (ref.oid === oid && ref.name !== other) return toText(ref.name.slice(toBytes(prefix).length));
    }
    return null;
  }

  /** The objects of the names that begin so, but for one full name or several; walks them. */
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

  /** Walks all of them with the objects that they name. */
  *[Symbol.iterator](): Generator<[name: string, oid: string]> {
    for (const { name, oid } of this.#refs) yield [toText(name), oid];
  }

  #rangeOf(prefix: string): [from: number, to: number] {
    const bytes = toBytes(prefix);
    // What begins so is before the same characters with a larger last one; no name has a byte of 255.
    const behind = bytes.slice(0, -1) + String.fromCharCode(bytes.charCodeAt(bytes.length - 1) + 1);
    return [this.#placeOf(bytes), this.#placeOf(behind)];
  }

  /** The first place whose name is not before this one. */
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
