/** A language that pages and mails are written in. */
interface LanguageFacts {
  /** BCP 47, as in `lang` and in the name of its file below `translations/`. */
  code: string;
  /** What its speakers call it: never translated. */
  name: string;
  dir: 'ltr' | 'rtl';
  /** The locale of dates and numbers, where it is not the code: British dates stay unambiguous beside ISO ones. */
  formats?: string;
}

/** The source language first; `scripts/check-translations` finds nothing wrong in the file of each. */
export const languages: readonly LanguageFacts[] = [
  { code: 'en', name: 'English', dir: 'ltr', formats: 'en-GB' },
  { code: 'de', name: 'Deutsch', dir: 'ltr' },
  { code: 'fr', name: 'Français', dir: 'ltr' },
];

export const sourceLanguage = 'en';

/**
 * Languages made from English, for tests of the layout: words half as long again, and from right to left. The names are
 * those that other projects use for pseudo-locales.
 */
const pseudoLanguages: readonly LanguageFacts[] = [
  { code: 'en-XA', name: '[Éñglîsh one half]', dir: 'ltr', formats: 'en-GB' },
  { code: 'ar-XB', name: '[Right to left]', dir: 'rtl', formats: 'ar' },
];

let known = new Map(languages.map((language) => [language.code, language]));

/** Lets people choose the made-up languages: tests only. */
export function enablePseudoLanguages(): void {
  known = new Map([...languages, ...pseudoLanguages].map((language) => [language.code, language]));
}

/** The facts of a language; null for one that does not exist, or no longer. */
export const findLanguage = (code: string): LanguageFacts | null => known.get(code) ?? null;

/** What a person can choose from. */
export const listLanguages = (): readonly LanguageFacts[] => [...known.values()];
