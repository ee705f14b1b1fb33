import { unquotePath } from '../../git/index.ts';
import { pathText } from '../encode-path.ts';
import type { ThreadSide } from '../schema/review-schema.ts';

/** Position of a line of a patch in the code. */
export interface PatchLinePosition {
  /** The commit of its mail; null in a diff. */
  commitOid: string | null;
  path: string;
  side: ThreadSide;
  /** Null for lines that name a file, and for files without displayable lines. */
  line: number | null;
  /** For a removed line: the preceding line of the new version, from 1; null if there is none. */
  nearest: number | null;
}

export interface PatchLine {
  text: string;
  /** Null for lines outside of files, like the commit message. */
  place: PatchLinePosition | null;
}

/** Names of a file before and after. */
interface Names {
  old: string | null;
  new: string | null;
}

/** The next line of each version, and the number of remaining lines of the hunk. */
interface Hunk {
  old: number;
  new: number;
  oldLeft: number;
  newLeft: number;
}

/** Parses a patch as git writes it, or several mails, into lines with their positions. Linear in its size. */
export function parsePatch(text: string): PatchLine[] {
  const lines: PatchLine[] = [];
  let commitOid: string | null = null;
  let file = null as Names | null;
  let hunk = null as Hunk | null;
  const ofFile = (): PatchLinePosition | null => {
    const path = file?.new ?? file?.old ?? null;
    const side = file !== null && file.new === null ? 'OLD' : 'NEW';
    return path === null ? null : { commitOid, path, side, line: null, nearest: null };
  };
  for (const line of text.split('\n')) {
    if (hunk !== null && (hunk.oldLeft > 0 || hunk.newLeft > 0 || line.startsWith('\\'))) {
      lines.push({ text: line, place: placeInHunk(line) });
      continue;
    }
    hunk = null;
    const [, mail] = /^From ([0-9a-f]{40,64}) Mon Sep 17 00:00:00 2001$/.exec(line) ?? [];
    const [, oldStart, oldCount, newStart, newCount] =
      /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/.exec(line) ?? [];
    if (mail !== undefined) [commitOid, file] = [mail, null];
    else if (line.startsWith('diff --git ')) file = namesIn(line);
    else if (file !== null && line.startsWith('--- ')) file = { ...file, old: nameIn(line) };
    else if (file !== null && line.startsWith('+++ ')) file = { ...file, new: nameIn(line) };
    else if (file !== null && oldStart !== undefined)
      hunk = {
        old: Number(oldStart),
        new: Number(newStart),
        oldLeft: Number(oldCount ?? 1),
        newLeft: Number(newCount ?? 1),
      };
    lines.push({ text: line, place: line === '' ? null : ofFile() });
  }
  return lines;

  function placeInHunk(line: string): PatchLinePosition | null {
    const at = ofFile();
    if (at === null || hunk === null || line.startsWith('\\')) return at;
    if (line.startsWith('-')) {
      hunk.oldLeft -= 1;
      const path = file!.old ?? at.path;
      return { ...at, path, side: 'OLD', line: hunk.old++, nearest: hunk.new > 1 ? hunk.new - 1 : null };
    }
    if (!line.startsWith('+')) {
      hunk.oldLeft -= 1;
      hunk.old += 1;
    }
    hunk.newLeft -= 1;
    return { ...at, side: 'NEW', line: hunk.new++ };
  }
}

/** The two names of `diff --git a/one b/one`; a renamed file has them on separate lines. */
function namesIn(line: string): Names {
  const names = line.slice('diff --git '.length);
  const half = (names.length - 1) / 2;
  const [one, other] = [names.slice(0, half), names.slice(half + 1)];
  const name = Number.isInteger(half) ? nameIn(`--- ${one}`) : null;
  return name !== null && name === nameIn(`+++ ${other}`) ? { old: name, new: name } : { old: null, new: null };
}

/** The name in `--- a/file`; null if the file does not exist on that side. */
function nameIn(line: string): string | null {
  const written = line.slice(4).replace(/[\t\r]+$/, '');
  if (written === '/dev/null') return null;
  const bytes = written.startsWith('"') ? unquotePath(Buffer.from(written).toString('latin1')) : Buffer.from(written);
  return pathText(bytes.subarray(2));
}
