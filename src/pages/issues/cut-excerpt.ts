import { markHits } from '../../search/index.ts';
import type { TextSegment } from '../../search/index.ts';

/** Characters before and after a match: about two lines. */
const before = 60;
const behind = 140;
/** A text has at most 64 KiB; folding all of it for each of fifty rows would take too long. */
const longest = 20_000;

/**
 * The part of a text around a match, with the word marked; empty when the word is in the title, or too far behind. Line
 * breaks and runs of spaces become one space.
 */
export function cutExcerpt(text: string, word: string): TextSegment[] {
  const segments = markHits(text.slice(0, longest).replace(/\s+/g, ' '), word.replace(/\s+/g, ' '));
  const first = segments.findIndex(({ isHit }) => isHit);
  if (first === -1) return [];
  const lead = segments[first - 1]?.text ?? '';
  const shown: TextSegment[] =
    lead === '' ? [] : [{ text: lead.length > before ? `…${lead.slice(-before)}` : lead, isHit: false }];
  let rest = behind;
  for (const { text: part, isHit } of segments.slice(first)) {
    if (rest <= 0) break;
    shown.push({ text: part.length > rest && !isHit ? `${part.slice(0, rest)}…` : part, isHit });
    rest -= part.length;
  }
  return shown;
}
