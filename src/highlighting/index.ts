export { createHighlighting } from './highlighting.ts';
export type { Highlighting } from './highlighting.ts';
export { fileNamesOf, languageCalled, languageOf } from './languages.ts';
export { highlightBlocks } from './highlight-blocks.ts';
export { isUsuallyGenerated, linguistAttributes } from './linguist-attributes.ts';
export type { LinguistAttributes } from './linguist-attributes.ts';
