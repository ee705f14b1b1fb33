import { fold, foldQuery } from './fold.ts';

/** A piece of a text, and whether the query was found there. */
export interface Piece {
  text: string;
  isHit: boolean;
}

/**
 * Takes a text apart at the places where a query is found in it, for a page that marks
 * them. A hit ends where a whole character ends: `i` marks all of `İ`.
 */
export function markHits(text: string, query: string): Piece[] {
  const wanted = foldQuery(query);
  const characters = [...text.normalize('NFC')];
  if (wanted === '') return [{ text: characters.join(''), isHit: false }];

  const folded = characters.map(fold);
  /** For each unit of the folded text, the character it comes from. */
  const origin = folded.flatMap((part, at) => Array.from({ length: part.length }, () => at));
  const all = folded.join('');
  const isMarked = characters.map(() => false);
  for (let at = all.indexOf(wanted); at !== -1; at = all.indexOf(wanted, at + wanted.length)) {
    isMarked.fill(true, origin[at]!, origin[at + wanted.length - 1]! + 1);
  }
  const pieces: Piece[] = [];
  for (const [at, character] of characters.entries()) {
    const last = pieces.at(-1);
    if (last !== undefined && last.isHit === isMarked[at]) last.text += character;
    else pieces.push({ text: character, isHit: isMarked[at]! });
  }
  return pieces;
}
