import type { BrowseDeps } from '../objects/browse.ts';
import { diffArguments } from './list-diff.ts';
import type { ChangedFile, DiffRange } from './list-diff.ts';
import { quotePath } from './quote-path.ts';
import { lineSplitter, readGit } from './read-git.ts';
import type { ReadOptions } from './read-git.ts';

type LineKind = 'same' | 'added' | 'removed';

export interface PatchLine {
  kind: LineKind;
  /** Null if the line does not exist. */
  oldNumber: number | null;
  newNumber: number | null;
  /** Bytes without the end of the line. */
  text: Buffer;
  /** Whether it is the last line of a file without a final line break. */
  isUnended: boolean;
}

export interface Hunk {
  oldStart: number;
  newStart: number;
  /** The context line that git found above: often the name of the function. */
  heading: string;
  lines: PatchLine[];
}

/** The changes of one file. */
export interface Patch {
  file: ChangedFile;
  hunks: Hunk[];
  isBinary: boolean;
  /** Whether the patch exceeds the limits; the lines read so far are dropped. */
  isTooLarge: boolean;
}

export interface PatchLimits {
  files: number;
  linesPerFile: number;
  /** Length limit of a line; longer lines are truncated. */
  bytesPerLine: number;
  /** Size limit of all files together, in bytes. */
  bytes: number;
}

export interface Patches {
  /** In list order; files beyond the limits are missing. */
  patches: Patch[];
  cutShort: boolean;
}

const decoder = new TextDecoder();

/**
 * The patches of the first files of a comparison, parsed from one git as it writes them: output beyond a limit is
 * discarded as it arrives. Throws `git_busy`.
 * @param files the result of `listDiff` for the same range
 */
export async function readPatches(
  deps: BrowseDeps,
  path: string,
  range: DiffRange,
  files: readonly ChangedFile[],
  limits: PatchLimits,
  options: Pick<ReadOptions, 'environment'> = {},
): Promise<Patches> {
  const reader = new PatchReader(files, limits);
  const splitter = lineSplitter(0x0a, (line) => reader.take(line));
  const whole = await readGit(deps, path, diffArguments(range, '--patch'), splitter.feed, {
    signal: range.signal,
    ...options,
  });
  if (whole) splitter.end();
  return { patches: reader.patches, cutShort: !whole && !reader.hasEnough };
}

/** Approximate bytes; a line is an object with a few fields around its text. */
export const weighPatches = ({ patches }: Pick<Patches, 'patches'>): number =>
  patches.reduce(
    (sum, { hunks }) =>
      sum +
      500 +
      hunks.reduce((lines, hunk) => lines + hunk.lines.reduce((bytes, { text }) => bytes + text.length + 200, 0), 0),
    0,
  );

/** Parses git's patch format line by line. */
export class PatchReader {
  readonly patches: Patch[] = [];
  hasEnough = false;
  readonly #files: readonly ChangedFile[];
  readonly #limits: PatchLimits;
  #next = 0;
  #patch: Patch | null = null;
  #hunk: Hunk | null = null;
  /** Lines left in the current hunk, by its own count: a content line is never mistaken for a header. */
  #oldLeft = 0;
  #newLeft = 0;
  #oldNumber = 0;
  #newNumber = 0;
  #lines = 0;
  #bytes = 0;

  constructor(files: readonly ChangedFile[], limits: PatchLimits) {
    this.#files = files;
    this.#limits = limits;
  }

  /** Returns whether more lines are wanted. */
  take(line: Buffer): boolean {
    const isContent = this.#oldLeft > 0 || this.#newLeft > 0;
    if (isContent || line[0] === 0x5c) this.#takeContent(line);
    else this.#parseHead(line);
    return !this.hasEnough;
  }

  #parseHead(line: Buffer): void {
    const text = line.toString('latin1');
    if (text.startsWith('diff --git ')) this.#startFile(text);
    else if (text.startsWith('@@ ')) this.#startHunk(line);
    else if (this.#patch && text.startsWith('Binary files ')) this.#patch.isBinary = true;
  }

  /** Files whose only changes were ignored have no patch, so the next header may belong to a later file. */
  #startFile(text: string): void {
    const headOf = ({ oldPath, newPath }: ChangedFile) =>
      `diff --git ${quotePath('a/', oldPath)} ${quotePath('b/', newPath)}`;
    // A file that became a symbolic link has two consecutive patches.
    if (this.#patch && text === headOf(this.#patch.file)) return;
    if (
      this.#next === this.#files.length ||
      this.patches.length === this.#limits.files ||
      this.#bytes > this.#limits.bytes
    ) {
      this.hasEnough = true;
      return;
    }
    const at = this.#files.findIndex((each, index) => index >= this.#next && text === headOf(each));
    const file = this.#files[at];
    if (file === undefined) {
      // The source of a copy also has a patch, which may not be wanted.
      this.#patch = null;
      return;
    }
    this.#next = at + 1;
    this.#patch = { file, hunks: [], isBinary: false, isTooLarge: false };
    this.#hunk = null;
    this.#lines = 0;
    this.patches.push(this.#patch);
  }

  #startHunk(line: Buffer): void {
    const [, oldStart = '0', oldCount = '1', newStart = '0', newCount = '1', heading = ''] =
      /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/s.exec(decoder.decode(line)) ?? [];
    [this.#oldLeft, this.#newLeft] = [Number(oldCount), Number(newCount)];
    [this.#oldNumber, this.#newNumber] = [Number(oldStart), Number(newStart)];
    this.#hunk = { oldStart: this.#oldNumber, newStart: this.#newNumber, heading, lines: [] };
    if (this.#patch && !this.#patch.isTooLarge) this.#patch.hunks.push(this.#hunk);
  }

  #takeContent(line: Buffer): void {
    if (line[0] === 0x5c) {
      const last = this.#hunk?.lines.at(-1);
      if (last) last.isUnended = true;
      return;
    }
    const kind: LineKind = line[0] === 0x2b ? 'added' : line[0] === 0x2d ? 'removed' : 'same';
    const oldNumber = kind === 'added' ? null : this.#oldNumber++;
    const newNumber = kind === 'removed' ? null : this.#newNumber++;
    if (oldNumber !== null) this.#oldLeft -= 1;
    if (newNumber !== null) this.#newLeft -= 1;
    this.#lines += 1;
    if (!this.#patch || this.#patch.isTooLarge) return;
    // Copied, because a line is a view of a 64 kB chunk that would stay in memory with it.
    const text = Buffer.from(line.subarray(1, 1 + this.#limits.bytesPerLine));
    this.#bytes += text.length;
    this.#hunk?.lines.push({ kind, oldNumber, newNumber, text, isUnended: false });
    if (this.#lines > this.#limits.linesPerFile || this.#bytes > this.#limits.bytes) {
      this.#patch.isTooLarge = true;
      this.#patch.hunks.length = 0;
    }
  }
}
