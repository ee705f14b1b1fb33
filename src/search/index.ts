export { createSearch, mostCounted, mostHits } from './search.ts';
export type { Search } from './search.ts';
export type { First, FoundPerson, FoundRepository } from './find-repositories-and-people.ts';
export { hitMarker, markHits } from './mark-hits.ts';
export type { TextSegment } from './mark-hits.ts';
export { createCodeSearch } from './code/code-search.ts';
export type { CodeSearch } from './code/code-search.ts';
export type { CodeHit, Coverage } from './code/find-code.ts';
export { createIssueIndex } from './issues/issue-index.ts';
