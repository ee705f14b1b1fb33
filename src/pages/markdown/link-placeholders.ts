import type { DocumentLinks } from './document-links.ts';

/**
 * A document is rendered once, wherever it lies: its relative links stand as placeholders in
 * what is kept, and lead to the files beside it when a page is made. No document can write a
 * placeholder: whatever is relative in it becomes one, with what it wrote behind the mark.
 */
const pageMark = '/.page/';
const imageMark = '/.image/';

export const placeholders: Pick<DocumentLinks, 'page' | 'image'> = {
  page: (address) => pageMark + address,
  image: (address) => imageMark + address,
};

/** What the cleaner writes: attributes in double quotes, and `<`, `>` and quotes escaped everywhere else. */
const tag = /<(?:a|img) [^<>]*>/g;
const placeholder = /(^|\s)(href|src)="\/\.(page|image)\/([^"]*)"/;

/**
 * All addresses of a document together, in UTF-16 units; a document of 128 KiB may have
 * twenty thousand links in a folder whose path is thousands of characters long.
 */
const maxAddressesLength = 4 * 1024 * 1024;

/** Puts the links in, in linear time; links beyond a limit lead nowhere. */
export function fillLinks(html: string, links: Pick<DocumentLinks, 'page' | 'image'>): string {
  let length = 0;
  return html.replace(tag, (whole) =>
    whole.replace(placeholder, (_all, space: string, name: string, kind: 'page' | 'image', address: string) => {
      const filled = length > maxAddressesLength ? null : links[kind](unescape(address));
      length += filled?.length ?? 0;
      return filled === null ? space : `${space}${name}="${escape(filled)}"`;
    }),
  );
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

const unescape = (text: string): string => text.replace(/&(amp|lt|gt|quot);/g, (_all, name: string) => entities[name]!);

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
