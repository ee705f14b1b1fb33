import { invalid } from '../../kernel/index.ts';
import { findLanguage } from '../../translation/index.ts';
import { parseText } from '../validate-text.ts';
import type { TextRule } from '../validate-text.ts';

export const displayNameRule: TextRule = { field: 'display_name', called: 'The display name', maxCharacters: 100 };
export const bioRule: TextRule = { field: 'bio', called: 'The text about you', maxCharacters: 1000, manyLines: true };
/** Validates a language code; '' and null mean none. Throws `unknown_language`. */
export function parseLanguage(code: string | null): string | null {
  if (code === null || code === '') return null;
  if (findLanguage(code) === null)
    throw invalid('unknown_language', 'Choose one of the languages in the list.', { field: 'language' });
  return code;
}

const websiteRule: TextRule = { field: 'website', called: 'The website', maxCharacters: 255 };

/**
 * Validates the website of a user, an organisation or a repository, and returns it as it was written, so that tools
 * read what they wrote. It becomes a link on public pages, so only http and https are allowed. Throws `invalid`:
 * `invalid_website`, and what `parseText` throws.
 */
export function parseWebsite(value: unknown): string {
  const text = parseText(value, websiteRule);
  if (text === '') return '';
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null || /\s/.test(text) || url.username !== '' || url.password !== '') {
    throw invalid('invalid_website', 'The website must be a URL that starts with https:// or http://.', {
      field: websiteRule.field,
    });
  }
  return text;
}
