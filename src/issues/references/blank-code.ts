/**
 * Replaces what is code or a comment in a Markdown text by spaces, so that positions stay. Fences, code spans and HTML
 * comments are known, in time that is linear in the text; indented code is not: in a list it would be text.
 */
export function blankCode(text: string): string {
  return blankSpans(blankFences(text));
}

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
