import { invalid } from '../../kernel/index.ts';
import type { ThreadAnchor } from '../threads/locate-thread.ts';
import type { PatchLinePosition, PatchLine } from './parse-patch.ts';

/** Text that a user has written between the quoted lines of a patch. */
interface PatchReply {
  /** Text that refers to no line of code: the body of the review. */
  body: string;
  comments: (ThreadAnchor & { body: string })[];
}

/** Whether a text quotes a patch, as a mail reply does. */
export const isPatchReply = (text: string): boolean => /^> ?diff --git /m.test(text);

/** Limit of steps for finding quoted lines in a patch, in addition to one per line. */
const maxSteps = 2_000_000;
/** Number of following quoted lines that must also match after omitted lines. */
const lookAhead = 4;

/**
 * Parses a reply to a patch: lines after `> ` are quoted, and text below one refers to it. Quoted lines may be omitted,
 * but not changed or reordered. Text that refers to no file belongs to the review as a whole, with its quoted line.
 * Throws `quote_unknown` with the line.
 * @param headOid the head of the round, whose old side is the base of the round and not the parent of the commit
 * @param isSingle whether the round has one commit
 */
export function parsePatchReply(
  text: string,
  patch: readonly PatchLine[],
  { headOid, isSingle }: { headOid: string; isSingle: boolean },
): PatchReply {
  const follow = followQuotes(patch);
  const body: string[] = [];
  const comments: PatchReply['comments'] = [];
  let quoted: PatchLine | null = null;
  let answer: string[] = [];
  const end = (): void => {
    const words = answer.join('\n').trim();
    answer = [];
    if (words === '') return;
    const place = quoted?.place ?? null;
    if (place !== null) comments.push(commentOn(place, quoted!.text, words, { headOid, isSingle }));
    else body.push(quoted === null || quoted.text.trim() === '' ? words : `> ${quoted.text.trim()}\n\n${words}`);
  };
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const quotes = lines.map((line) => (line.startsWith('>') ? line.replace(/^> ?/, '').trimEnd() : null));
  for (const [at, line] of lines.entries()) {
    const quote = quotes[at]!;
    if (quote === null) {
      // A mail signature.
      if (line === '-- ') break;
      if (!isLeftOut(line, quoted === null)) answer.push(line);
      continue;
    }
    end();
    const next = quotes.slice(at + 1, at + 1 + lookAhead);
    const found = follow(quote, next.slice(0, next.indexOf(null) === -1 ? lookAhead : next.indexOf(null)));
    if (found === null && quote !== '')
      throw invalid('quote_unknown', `Line ${at + 1} quotes text that is not in the patch of this round.`);
    quoted = found ?? quoted;
  }
  end();
  return { body: body.join('\n\n'), comments };
}

/** Markers for omitted lines, and the line with which mail programs introduce a reply. */
const isLeftOut = (line: string, isFirst: boolean): boolean =>
  /^\s*\[?(?:\.{3,}|…)\]?\s*$/.test(line) || (isFirst && /^On .{1,200} wrote:$/.test(line));

/** Finds quoted lines one after the other. */
function followQuotes(patch: readonly PatchLine[]) {
  const places = new Map<string, number[]>();
  const texts = patch.map(({ text }) => text.trimEnd());
  for (const [index, text] of texts.entries()) {
    const known = places.get(text);
    if (known === undefined) places.set(text, [index]);
    else known.push(index);
  }
  let next = 0;
  let steps = 0;
  return (quote: string, following: readonly (string | null)[]): PatchLine | null => {
    if (texts[next] !== quote) {
      if (quote === '') return null;
      const later: number[] = [];
      for (const index of places.get(quote) ?? []) {
        if ((steps += 1) > maxSteps) return null;
        if (index < next) continue;
        if (later.length === 0) later.push(index);
        if (following.every((text, offset) => texts[index + 1 + offset] === text)) {
          later[0] = index;
          break;
        }
      }
      if (later[0] === undefined) return null;
      [next] = later as [number];
    }
    next += 1;
    return patch[next - 1]!;
  };
}

/** A line removed by the newest of several commits does not exist in the base of the round, so it is quoted as text. */
function commentOn(
  { commitOid, path, side, line, nearest }: PatchLinePosition,
  quoted: string,
  body: string,
  { headOid, isSingle }: { headOid: string; isSingle: boolean },
): PatchReply['comments'][number] {
  if (side === 'OLD' && commitOid === headOid && !isSingle)
    return {
      commitOid,
      path,
      side: 'NEW',
      firstLine: nearest,
      body: `> \`${quoted.replaceAll('`', "'")}\`\n\n${body}`,
    };
  return { commitOid, path, side, firstLine: line, body };
}
