export { hasMessage } from './catalogue.ts';
export type { MessageValues } from './catalogue.ts';
export { dateFormat, formatList, formatNumber, formatOptions, numberFormat, relativeFormat } from './formats.ts';
export { enablePseudoLanguages, findLanguage, languages, listLanguages } from './languages.ts';
export { chooseLanguage } from './negotiate-language.ts';
export { translateRefusal, translateTerm } from './refusals.ts';
export { currentLanguage, inLanguage, rich, t } from './translate.ts';
export { translated } from './translated.ts';
