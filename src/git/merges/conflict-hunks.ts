/** A line of a file with conflict markers (git-merge(1), "How conflicts are presented"). */
export interface ConflictLine {
  /** `mark`: a marker itself; `ours` and `theirs`: what each side has; `base`: what both began with. */
  kind: 'context' | 'mark' | 'ours' | 'base' | 'theirs';
  /** In the file with its marks, from 1. */
  number: number;
  /** Without its end; a long line is cut. */
  text: Buffer;
}

interface ConflictHunks {
  /** Conflicts with the lines around them; those that are near to each other are one. */
  hunks: ConflictLine[][];
  /** There are more lines than the limits let through. */
  cutShort: boolean;
}

interface HunkLimits {
  lines: number;
  bytes: number;
}

const contextLines = 3;
const lineBytes = 2_000;

/**
 * The conflicts in a file that git-merge-tree(1) has marked, and the lines around each. One pass over the bytes. A
 * marker is known by the id behind it, so that lines which only look like one stay text; its length may be another
 * than seven (gitattributes(5), `conflict-marker-size`), and a shorter or longer one inside is text.
 * @param sides the ids that the merge was called with
 */
export function conflictHunks(
  content: Buffer,
  sides: { ours: string; theirs: string },
  limits: HunkLimits,
): ConflictHunks {
  const reader = new HunkReader(sides, limits);
  for (let from = 0, number = 1; from < content.length; number += 1) {
    const newline = content.indexOf(0x0a, from);
    const end = newline === -1 ? content.length : newline;
    if (!reader.take(content.subarray(from, end), number)) return { hunks: reader.hunks, cutShort: true };
    from = end + 1;
  }
  return { hunks: reader.hunks, cutShort: false };
}

class HunkReader {
  readonly hunks: ConflictLine[][] = [];
  readonly #opening: RegExp;
  readonly #limits: HunkLimits;
  /** What ends each part of the conflict that is read; null outside of conflicts. */
  #marks: { base: string; middle: string; end: string } | null = null;
  #side: 'ours' | 'base' | 'theirs' = 'ours';
  readonly #theirs: string;
  /** The last lines before a conflict that may come. */
  readonly #before: ConflictLine[] = [];
  /** How many lines after the last conflict belong to its hunk still. */
  #after = 0;
  #lines = 0;
  #bytes = 0;

  constructor({ ours, theirs }: { ours: string; theirs: string }, limits: HunkLimits) {
    this.#opening = new RegExp(`^(<+) ${ours}(?:$|:)`);
    this.#theirs = theirs;
    this.#limits = limits;
  }

  /** @returns whether more text fits */
  take(line: Buffer, number: number): boolean {
    const text = Buffer.from(line.subarray(0, lineBytes));
    const words = (text.at(-1) === 0x0d ? text.subarray(0, -1) : text).toString('latin1');
    if (this.#marks === null) return this.#takeOutside({ kind: 'context', number, text }, words);
    const { base, middle, end } = this.#marks;
    if (this.#side === 'ours' && (words === base || words.startsWith(`${base} `)))
      return this.#turn('base', number, text);
    if (this.#side !== 'theirs' && words === middle) return this.#turn('theirs', number, text);
    if (this.#side !== 'theirs' || (words !== end && !words.startsWith(`${end}:`)))
      return this.#put({ kind: this.#side, number, text });
    this.#marks = null;
    this.#after = contextLines;
    return this.#put({ kind: 'mark', number, text });
  }

  #takeOutside(line: ConflictLine, words: string): boolean {
    const size = this.#opening.exec(words)?.[1]?.length;
    if (size === undefined) {
      if (this.#after > 0) {
        this.#after -= 1;
        return this.#put(line);
      }
      this.#before.push(line);
      if (this.#before.length > contextLines) this.#before.shift();
      return true;
    }
    const [first] = this.#before;
    const last = this.hunks.at(-1)?.at(-1);
    if (last === undefined || last.number + 1 < (first ?? line).number) this.hunks.push([]);
    this.#marks = {
      base: '|'.repeat(size),
      middle: '='.repeat(size),
      end: `${'>'.repeat(size)} ${this.#theirs}`,
    };
    this.#side = 'ours';
    this.#after = 0;
    return this.#before.splice(0).every((each) => this.#put(each)) && this.#put({ ...line, kind: 'mark' });
  }

  #turn(side: 'base' | 'theirs', number: number, text: Buffer): boolean {
    this.#side = side;
    return this.#put({ kind: 'mark', number, text });
  }

  #put(line: ConflictLine): boolean {
    if (this.#lines >= this.#limits.lines || this.#bytes + line.text.length > this.#limits.bytes) return false;
    this.#lines += 1;
    this.#bytes += line.text.length;
    this.hunks.at(-1)!.push(line);
    return true;
  }
}
