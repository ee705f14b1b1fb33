export { createHighlighting } from './highlighting.ts';
export type { Highlighting, HighlightRequest } from './highlighting.ts';
export { fileNamesOf, languageCalled, languageOf } from './languages.ts';
export type { Language } from './languages.ts';
export { highlightBlocks } from './highlight-blocks.ts';
export { isUsuallyGenerated, linguistAttributes } from './linguist-attributes.ts';
export type { AttributesFile, LinguistAttributes } from './linguist-attributes.ts';
