/** A language that pages and mails are written in. */
interface LanguageFacts {
  /** BCP 47, as in `lang` and in the name of its file below `translations/`. */
  code: string;
  /** Its name in the language itself: never translated. */
  name: string;
  dir: 'ltr' | 'rtl';
  /** The locale of dates and numbers, where it is not the code: British dates stay unambiguous beside ISO ones. */
  formats?: string;
}

/** The source language first; `scripts/check-translations` must pass for the file of each. */
export const languages: readonly LanguageFacts[] = [
  { code: 'en', name: 'English', dir: 'ltr', formats: 'en-GB' },
  { code: 'de', name: 'Deutsch', dir: 'ltr' },
  { code: 'fr', name: 'Français', dir: 'ltr' },
];

export const sourceLanguage = 'en';

/**
 * Languages generated from English, for layout tests: words half as long again, and right-to-left text. The names are
 * those of pseudo-locales in other projects.
 */
const pseudoLanguages: readonly LanguageFacts[] = [
  { code: 'en-XA', name: '[Éñglîsh one half]', dir: 'ltr', formats: 'en-GB' },
  { code: 'ar-XB', name: '[Right to left]', dir: 'rtl', formats: 'ar' },
];

let known = new Map(languages.map((language) => [language.code, language]));

/** Makes the pseudo-languages selectable: for tests only. */
export function enablePseudoLanguages(): void {
  known = new Map([...languages, ...pseudoLanguages].map((language) => [language.code, language]));
}

/** The properties of a language; null for one that does not exist, or no longer. */
export const findLanguage = (code: string): LanguageFacts | null => known.get(code) ?? null;

/** The languages that a user can choose. */
export const listLanguages = (): readonly LanguageFacts[] => [...known.values()];
