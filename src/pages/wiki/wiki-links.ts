import { isPageFile, titleOfFile } from '../../repositories/index.ts';
import type { RepositoryAddress } from '../../repositories/index.ts';
import type { DocumentLinks } from '../markdown/document-links.ts';
import { wikiFileUrl, wikiPageUrl, wikiUrl } from '../app/wiki-urls.ts';

interface WikiPlace extends Pick<DocumentLinks, 'showsRemoteImages' | 'remote'> {
  at: RepositoryAddress;
  /** The path of the page's file in the wiki. */
  file: string;
  /** Files of the wiki that are not pages. */
  files: ReadonlySet<string>;
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Resolves a path relative to a file; a leading slash means the root, and `..` cannot go above it. */
function resolve(file: string, path: string): string {
  const parts = path.startsWith('/') ? [] : file.split('/').slice(0, -1);
  for (const part of decode(path).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** Relative links resolve to pages of the wiki, and to its other files; URLs of this server stay unchanged. */
export function wikiLinks({ at, file, files, ...images }: WikiPlace): DocumentLinks {
  const fileAt = (path: string): string => wikiFileUrl(at, path);
  return {
    ...images,
    page(address) {
      if (/^\/(?:repos|users|orgs)\//.test(address)) return address;
      const [, path = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(address) ?? [];
      const fragment = /#(.*)$/s.exec(rest)?.[1];
      const anchor = fragment ? `#user-content-${encodeURIComponent(decode(fragment))}` : '';
      // The URL of the wiki names pages by title, whatever folder they are in, unless it contains a path.
      const target = resolve(file, path);
      if (files.has(target)) return fileAt(target);
      if (target === '') return `${wikiUrl(at)}${anchor}`;
      const title = isPageFile(target) ? titleOfFile(target) : target;
      return `${wikiPageUrl(at, title)}${anchor}`;
    },
    image: (address) =>
      /^\/(?:repos\/[^/]+\/[^/]+\/)(?:raw|attachments)\//.test(address)
        ? address
        : fileAt(resolve(file, address.replace(/[?#].*$/s, ''))),
  };
}
