/**
 * Replaces the parts of a Markdown document that readers do not see as text by spaces, so that positions stay: fences,
 * indented code outside of lists, code spans, HTML elements of code, tags, comments and links. Linear in time.
 */
export function blankCode(text: string): string {
  return blankLinks(blankElements(blankSpans(blankIndented(blankFences(text)))));
}

const indented = /^(?: {4,}| {0,3}\t)/;
const listItem = /^[ >]{0,12}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;

/** Indented code begins behind an empty line; in a list the same is a paragraph of its item. */
function blankIndented(text: string): string {
  const lines = text.split('\n');
  let [isInList, isInCode, followsBlank] = [false, false, true];
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') {
      followsBlank = true;
      continue;
    }
    const isIndented = indented.test(line);
    if (!isIndented && listItem.test(line)) isInList = true;
    else if (!isIndented && followsBlank) isInList = false;
    isInCode = isIndented && !isInList && (isInCode || followsBlank);
    if (isInCode) lines[at] = spaces(line);
    followsBlank = false;
  }
  return lines.join('\n');
}

const codeTag = /<(\/?)(?:code|pre|kbd|samp|tt|script|style)(?:\s[^<>]*)?>/gi;
const anyTag = /<\/?[a-z][a-z0-9-]*(?:\s[^<>]*)?\/?>/gi;

/** What HTML shows as code; an element that does not end goes on to the end of its paragraph. Then all other tags. */
function blankElements(text: string): string {
  const segments: string[] = [];
  const gaps = [...text.matchAll(/\n[ \t]*\n/g)].map(({ index }) => index);
  let [written, start, depth, nextGap] = [0, 0, 0, 0];
  const gapAfterStart = (): number => {
    while (nextGap < gaps.length && gaps[nextGap]! < start) nextGap += 1;
    return gaps[nextGap] ?? text.length;
  };
  const blank = (end: number): void => {
    segments.push(text.slice(written, start), spaces(text.slice(start, end)));
    written = end;
    depth = 0;
  };
  for (const match of text.matchAll(codeTag)) {
    if (match.index < written) continue;
    if (depth > 0 && gapAfterStart() < match.index && !/^<pre/i.test(text.slice(start, start + 4)))
      blank(gapAfterStart());
    if (match[1] === '') {
      if (depth === 0) start = match.index;
      depth += 1;
    } else if (depth > 0) {
      depth -= 1;
      if (depth === 0) blank(match.index + match[0].length);
    }
  }
  if (depth > 0) blank(gapAfterStart());
  return (segments.join('') + text.slice(written)).replace(anyTag, spaces);
}

const inlineLink = /!?\[[^[\]\n]{0,1000}\]\([^()\s]{0,2000}(?:[ \t]+"[^"\n]{0,300}")?\)/g;
const linkDefinition = /^ {0,3}\[[^[\]\n]{1,300}\]:[^\n]*$/gm;

/** Links say what they lead to; the renderer looks for no reference in them either. */
const blankLinks = (text: string): string => text.replace(inlineLink, spaces).replace(linkDefinition, spaces);

const spaces = (text: string): string => text.replace(/[^\n]/g, ' ');

function blankFences(text: string): string {
  const lines = text.split('\n');
  let fence: string | null = null;
  for (const [at, line] of lines.entries()) {
    const [, marker] = /^[ >]{0,12}(?:[-*+] {1,4}|\d{1,9}[.)] {1,4})?(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence === null) {
      // An info string behind backticks has none of them: ```a``` is a code span.
      const opens =
        marker !== undefined && (marker[0] === '~' || !line.slice(line.indexOf(marker) + marker.length).includes('`'));
      if (!opens) continue;
      fence = marker;
    } else if (marker?.startsWith(fence) === true && line.trimEnd().endsWith(marker)) fence = null;
    lines[at] = spaces(line);
  }
  return lines.join('\n');
}

interface Mark {
  start: number;
  end: number;
}

function blankSpans(text: string): string {
  const runs: Mark[] = [...text.matchAll(/`+/g)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
  const byLength = Map.groupBy(runs.keys(), (index) => runs[index]!.end - runs[index]!.start);
  /** How far the lists of `byLength` have been walked. */
  const walked = new Map<number, number>();
  const segments: string[] = [];
  let written = 0;
  const blank = (start: number, end: number): void => {
    segments.push(text.slice(written, start), spaces(text.slice(start, end)));
    written = end;
  };
  const comments = [...text.matchAll(/<!--|-->/g)];
  let nextComment = 0;
  let index = 0;
  for (;;) {
    while (index < runs.length && runs[index]!.start < written) index += 1;
    while (
      nextComment < comments.length &&
      (comments[nextComment]![0] !== '<!--' || comments[nextComment]!.index < written)
    )
      nextComment += 1;
    const run = runs[index];
    const comment = comments[nextComment];
    if (run === undefined && comment === undefined) break;
    if (comment !== undefined && (run === undefined || comment.index < run.start)) {
      let end = nextComment + 1;
      while (end < comments.length && comments[end]![0] !== '-->') end += 1;
      // One that does not end goes on to the end of the text, as browsers and renderers have it.
      blank(comment.index, end < comments.length ? comments[end]!.index + 3 : text.length);
      nextComment = end + 1;
      continue;
    }
    const closing = closingRun(index, runs, byLength, walked);
    if (closing !== null && !/\n[ \t]*\n/.test(text.slice(run!.end, runs[closing]!.start))) {
      blank(run!.start, runs[closing]!.end);
      index = closing + 1;
    } else index += 1;
  }
  return segments.join('') + text.slice(written);
}

/** The next run of as many backticks as the one at `index`. */
function closingRun(
  index: number,
  runs: readonly Mark[],
  byLength: ReadonlyMap<number, number[]>,
  walked: Map<number, number>,
): number | null {
  const length = runs[index]!.end - runs[index]!.start;
  const same = byLength.get(length)!;
  let at = walked.get(length) ?? 0;
  while (at < same.length && same[at]! <= index) at += 1;
  walked.set(length, at);
  return same[at] ?? null;
}
