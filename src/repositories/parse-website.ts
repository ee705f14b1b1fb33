import { invalid } from '../kernel/index.ts';

const maxLength = 255;

/** Validates a repository's website, which becomes a link on public pages. Throws `invalid_website`. */
export function parseWebsite(text: string): string {
  const website = text.trim();
  if (website === '') return '';
  const url = URL.canParse(website) ? new URL(website) : null;
  const isPlain = url !== null && url.username === '' && url.password === '';
  if (website.length > maxLength || !/^https?:\/\//i.test(website) || !isPlain || /[\x00-\x20\x7f]/.test(website))
    throw invalid('invalid_website', 'The website must be an address that starts with https:// or http://.', {
      field: 'website',
    });
  return website;
}
