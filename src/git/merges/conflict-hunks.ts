/** A line of a file with conflict markers (git-merge(1), "How conflicts are presented"). */
export interface ConflictLine {
  /** `mark`: a marker line; `ours` and `theirs`: lines of each side; `base`: lines of the common ancestor. */
  kind: 'context' | 'mark' | 'ours' | 'base' | 'theirs';
  /** Line number in the file with conflict markers, from 1. */
  number: number;
  /** Without the line end; long lines are truncated. */
  text: Buffer;
}

interface ConflictHunks {
  /** Conflicts with their context lines; nearby ones are joined. */
  hunks: ConflictLine[][];
  /** Whether lines beyond the limits were omitted. */
  cutShort: boolean;
}

interface HunkLimits {
  lines: number;
  bytes: number;
}

const contextLines = 3;
const lineBytes = 2_000;

/**
 * The conflicts in a file with the markers of git-merge-tree(1), with context lines. Makes one pass over the bytes. A
 * marker is recognised by the id after it, so that similar lines stay text; its length may differ from seven
 * (gitattributes(5), `conflict-marker-size`), and markers of another length inside a conflict are text.
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
  /** Line that ends each part of the current conflict; null outside of conflicts. */
  #marks: { base: string; middle: string; end: string } | null = null;
  #side: 'ours' | 'base' | 'theirs' = 'ours';
  readonly #theirs: string;
  /** The last lines, as context of a conflict that may follow. */
  readonly #before: ConflictLine[] = [];
  /** Number of context lines still to add after the last conflict. */
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
