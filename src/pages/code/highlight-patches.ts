import type { Hunk, Patch, PatchLine } from '../../git/index.ts';
import { languageOf } from '../../highlighting/index.ts';
import type { Colours } from './diff-lines.view.ts';
import { noRef, nullIfNotFound } from '../../kernel/index.ts';
import { decodeFileText } from '../app/decode-text.ts';
import { nullOnTimeout } from '../app/null-on-timeout.ts';
import type { CodeDeps } from './deps.ts';

/** Both versions of a file are highlighted from their beginning, because a single line lacks its context. */
const maxFiles = 40;
const maxBytes = 256 * 1024;
/** Default time that a page waits for highlighting; the highlighter caches results for the next view. */
const usualWaitMs = 400;

interface HighlightedPatches {
  /** Keyed by the file of the patch. */
  colours: Map<Patch['file'], Colours>;
  /** False when a later view may have more. */
  isComplete: boolean;
}

/** Highlights the first files of a comparison whose language is known. */
export async function highlightPatches(
  path: string,
  deps: Pick<CodeDeps, 'git' | 'highlighting'>,
  patches: readonly Patch[],
  waitMs = usualWaitMs,
): Promise<HighlightedPatches> {
  const colours: HighlightedPatches['colours'] = new Map();
  const wanted = patches
    .filter(
      ({ file, hunks, isTooLarge }) => hunks.length > 0 && !isTooLarge && languageOf(file.newPath.toString())?.grammar,
    )
    .slice(0, maxFiles);
  const until = performance.now() + waitMs;
  for (const { file, hunks } of wanted) {
    const leftMs = until - performance.now();
    if (leftMs <= 0) return { colours, isComplete: false };
    const old = shownLines(hunks, ({ kind, oldNumber }) => (kind === 'removed' ? oldNumber : null));
    const fresh = shownLines(hunks, ({ newNumber }) => newNumber);
    const sides = await nullOnTimeout(
      Promise.all([
        old.length > 0 ? colourBlob(path, deps, file.oldOid, file.oldPath, old) : null,
        fresh.length > 0 ? colourBlob(path, deps, file.newOid, file.newPath, fresh) : null,
      ]),
      leftMs,
    );
    if (sides === null) return { colours, isComplete: false };
    colours.set(file, { old: sides[0], fresh: sides[1] });
  }
  return { colours, isComplete: true };
}

/** The lines of one side, as line ranges. */
function shownLines(hunks: readonly Hunk[], numberOf: (line: PatchLine) => number | null): [number, number][] {
  const ranges: [number, number][] = [];
  for (const { lines } of hunks)
    for (const line of lines) {
      const number = numberOf(line);
      const range = ranges.at(-1);
      if (number === null) continue;
      if (range !== undefined && range[1] === number - 1) range[1] = number;
      else ranges.push([number, number]);
    }
  return ranges;
}

async function colourBlob(
  path: string,
  { git, highlighting }: Pick<CodeDeps, 'git' | 'highlighting'>,
  oid: string,
  name: Buffer,
  ranges: [number, number][],
): Promise<string[] | null> {
  if (noRef.test(oid)) return null;
  // A side that was merged for this comparison is not stored in any repository.
  const content = (await git.objects.blob(path, oid, { maxBytes }).catch(nullIfNotFound))?.content ?? null;
  const text = content && decodeFileText(content);
  return text?.encoding === 'UTF-8'
    ? highlighting.highlight({ oid, fileName: name.toString(), text: text.text, client: path, ranges })
    : null;
}
