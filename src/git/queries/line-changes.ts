import type { BrowseDeps } from '../objects/browse.ts';
import { diffArguments } from './list-diff.ts';
import type { DiffRange } from './list-diff.ts';
import { lineSplitter, readGit } from './read-git.ts';

/** Lines replaced by others. A side without lines names the line after which they would be. */
export interface LineChange {
  oldStart: number;
  oldCount: number;
  newStart: number;
  newCount: number;
}

export interface LineChanges {
  /** By `<old blob>..<new blob>`, in line order; null for binary files. Omits equal files. */
  files: Map<string, LineChange[] | null>;
  /** Git ran out of time, or a limit was reached: files may be missing. */
  cutShort: boolean;
}

/** Limit of changes read from one comparison. */
const maxChanges = 500_000;

/** Line ranges that differ between files, without their text (`git diff -U0`). Throws `git_busy`. */
export async function lineChanges(deps: BrowseDeps, path: string, range: DiffRange): Promise<LineChanges> {
  const files: LineChanges['files'] = new Map();
  let key: string | null = null;
  let count = 0;
  // Without context lines, every content line begins with a plus, a minus or a backslash.
  const splitter = lineSplitter(0x0a, (line) => {
    if (line[0] === 0x69 && line.subarray(0, 6).equals(index)) {
      key = /^index ([0-9a-f]+\.\.[0-9a-f]+)/.exec(line.toString('latin1', 0, 160))?.[1] ?? null;
    } else if (line[0] === 0x40 && key !== null) {
      const change = readHunk(line);
      if (change === null) return true;
      const changes = files.get(key);
      if (changes === undefined) files.set(key, [change]);
      else if (changes !== null) changes.push(change);
      count += 1;
    } else if (line[0] === 0x42 && key !== null) files.set(key, null);
    else if (line[0] === 0x64) key = null;
    return count < maxChanges;
  });
  const argv = diffArguments(range, '--patch', '-U0');
  const whole = await readGit(deps, path, argv, splitter.feed, { signal: range.signal });
  if (whole) splitter.end();
  return { files, cutShort: !whole };
}

const index = Buffer.from('index ');

function readHunk(line: Buffer): LineChange | null {
  const [, oldStart, oldCount = '1', newStart, newCount = '1'] =
    /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line.toString('latin1', 0, 100)) ?? [];
  if (oldStart === undefined || newStart === undefined) return null;
  return {
    oldStart: Number(oldStart),
    oldCount: Number(oldCount),
    newStart: Number(newStart),
    newCount: Number(newCount),
  };
}
