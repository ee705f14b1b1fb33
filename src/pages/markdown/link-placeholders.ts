import type { DocumentLinks } from './document-links.ts';
import { escapeAttribute, unescapeHtml } from './placeholders.ts';

/**
 * A document is rendered once, wherever it is: relative links are placeholders in the cached HTML, and are resolved
 * against its folder when a page is rendered. No document can forge a placeholder: every relative link becomes one,
 * with its text behind the mark. Images of other hosts are also placeholders, because their signed URL names the
 * repository.
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

/** The sanitiser's output: attributes in double quotes; `<`, `>` and quotes escaped elsewhere. */
const tag = /<(?:a|img|source) [^<>]*>/g;
const placeholder = /(^|\s)(href|src|srcset)="\/\.(page|image|remote)\/([^"]*)"/;

/**
 * Limit on all URLs of a document together, in UTF-16 units; a document of 128 KiB may have twenty thousand links in a
 * folder whose path is thousands of characters long.
 */
const maxAddressesLength = 4 * 1024 * 1024;

/** Inserts the links, in linear time; links beyond a limit have no target. */
export function fillLinks(html: string, links: FilledLinks): string {
  let length = 0;
  return html.replace(tag, (whole) =>
    whole.replace(placeholder, (_all, space: string, name: string, kind: keyof FilledLinks, address: string) => {
      const filled = length > maxAddressesLength ? null : (links[kind]?.(unescapeHtml(address)) ?? null);
      length += filled?.length ?? 0;
      if (filled === null) return space;
      // A comma would start another image in `srcset`.
      const written = name === 'srcset' ? filled.replaceAll(',', '%2C').replaceAll(' ', '%20') : filled;
      return `${space}${name}="${escapeAttribute(written)}"`;
    }),
  );
}
