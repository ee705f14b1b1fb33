import type { DocumentLinks } from './document-links.ts';
import { escapeAttribute, unescapeHtml } from './placeholders.ts';

/**
 * A document is rendered once, wherever it is: its relative links are placeholders in
 * what is kept, and lead to the files beside it when a page is made. No document can write a
 * placeholder: whatever is relative in it becomes one, with what it wrote behind the mark.
 * Images of other hosts are placeholders, too, because their signed address names the repository.
 */
const pageMark = '/.page/';
const imageMark = '/.image/';
const remoteMark = '/.remote/';

type FilledLinks = Pick<DocumentLinks, 'page' | 'image' | 'remote'>;

export const placeholders: Required<FilledLinks> = {
  page: (address) => pageMark + address,
  image: (address) => imageMark + address,
  remote: (url) => remoteMark + url,
};

/** What the cleaner writes: attributes in double quotes, and `<`, `>` and quotes escaped everywhere else. */
const tag = /<(?:a|img|source) [^<>]*>/g;
const placeholder = /(^|\s)(href|src|srcset)="\/\.(page|image|remote)\/([^"]*)"/;

/**
 * All addresses of a document together, in UTF-16 units; a document of 128 KiB may have
 * twenty thousand links in a folder whose path is thousands of characters long.
 */
const maxAddressesLength = 4 * 1024 * 1024;

/** Puts the links in, in linear time; links beyond a limit lead nowhere. */
export function fillLinks(html: string, links: FilledLinks): string {
  let length = 0;
  return html.replace(tag, (whole) =>
    whole.replace(placeholder, (_all, space: string, name: string, kind: keyof FilledLinks, address: string) => {
      const filled = length > maxAddressesLength ? null : (links[kind]?.(unescapeHtml(address)) ?? null);
      length += filled?.length ?? 0;
      if (filled === null) return space;
      // In a list of images a comma would begin another one.
      const written = name === 'srcset' ? filled.replaceAll(',', '%2C').replaceAll(' ', '%20') : filled;
      return `${space}${name}="${escapeAttribute(written)}"`;
    }),
  );
}
