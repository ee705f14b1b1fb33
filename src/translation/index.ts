export { formatParts, hasMessage } from './catalogue.ts';
export type { MessageValue, MessageValues } from './catalogue.ts';
export { dateFormat, formatList, formatNumber, numberFormat, relativeFormat } from './formats.ts';
export { enablePseudoLanguages, findLanguage, languages, listLanguages, sourceLanguage } from './languages.ts';
export type { LanguageFacts } from './languages.ts';
export { chooseLanguage } from './negotiate-language.ts';
export { currentLanguage, currentLocale, inLanguage, rich, t } from './translate.ts';
export type { Elements, RichPart } from './translate.ts';
