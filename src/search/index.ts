export { createSearch, mostHits } from './search.ts';
export type { FirstHits, Found, Search } from './search.ts';
export { foldQuery } from './fold.ts';
export { markHits } from './mark-hits.ts';
export type { Piece } from './mark-hits.ts';
