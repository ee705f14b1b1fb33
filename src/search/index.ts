export { createSearch, mostCounted, mostHits } from './search.ts';
export type { Search } from './search.ts';
export type { First, FoundPerson, FoundRepository } from './find.ts';
export { foldQuery } from './query-text.ts';
export { hitMarker, markHits } from './mark-hits.ts';
export type { Piece } from './mark-hits.ts';
export { createCodeSearch } from './code/code-search.ts';
export type { CodeSearch } from './code/code-search.ts';
export type { CodeFindings, CodeHit, Coverage } from './code/find-code.ts';
