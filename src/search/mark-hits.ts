import { fold, foldQuery } from './fold-text.ts';

/** A part of a text, and whether it matches the query. */
export interface TextSegment {
  text: string;
  isHit: boolean;
}

/**
 * Splits a text at the matches of a query, for highlighting. A match ends at a character boundary: `i` marks all of
 * `İ`.
 */
export function markHits(text: string, query: string): TextSegment[] {
  return hitMarker(query)(text);
}

/** `markHits` for many texts: a page of results has three hundred, and most have no match. */
export function hitMarker(query: string): (text: string) => TextSegment[] {
  const wanted = foldQuery(query);
  return (text) => {
    if (text === '') return [];
    if (ascii.test(text)) {
      const folded = text.toLowerCase();
      return wanted !== '' && folded.includes(wanted) ? markAscii(text, folded, wanted) : [{ text, isHit: false }];
    }
    const whole = text.normalize('NFC');
    return wanted !== '' && fold(whole).includes(wanted)
      ? markCharacters([...whole], wanted)
      : [{ text: whole, isHit: false }];
  };
}

const ascii = /^[\0-\x7f]*$/;

/** For text in which every code unit is one character, also when folded. */
function markAscii(text: string, folded: string, wanted: string): TextSegment[] {
  const segments: TextSegment[] = [];
  const take = (start: number, end: number, isHit: boolean): void => {
    const last = segments.at(-1);
    if (last?.isHit === isHit) last.text += text.slice(start, end);
    else if (end > start) segments.push({ text: text.slice(start, end), isHit });
  };
  let done = 0;
  for (let at = folded.indexOf(wanted); at !== -1; at = folded.indexOf(wanted, done)) {
    take(done, at, false);
    done = at + wanted.length;
    take(at, done, true);
  }
  take(done, text.length, false);
  return segments;
}

function markCharacters(characters: readonly string[], wanted: string): TextSegment[] {
  const folded = characters.map(fold);
  /** For each code unit of the folded text, its original character. */
  const origin = folded.flatMap((part, at) => Array.from({ length: part.length }, () => at));
  const all = folded.join('');
  const isMarked = characters.map(() => false);
  for (let at = all.indexOf(wanted); at !== -1; at = all.indexOf(wanted, at + wanted.length)) {
    isMarked.fill(true, origin[at]!, origin[at + wanted.length - 1]! + 1);
  }
  const segments: TextSegment[] = [];
  for (const [at, character] of characters.entries()) {
    const last = segments.at(-1);
    if (last !== undefined && last.isHit === isMarked[at]) last.text += character;
    else segments.push({ text: character, isHit: isMarked[at]! });
  }
  return segments;
}
