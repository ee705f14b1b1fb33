import { codeUrl, joinPath } from '../app/code-urls.ts';
import type { DocumentLinks } from './document-links.ts';

/** The location of a document. */
export interface DocumentLocation {
  repositoryUrl: string;
  ref: string;
  /** The folder of the document. */
  folder: Buffer;
  /** Whether images of other hosts are shown. */
  showsRemoteImages: boolean;
  /** The URL that serves such an image; null if it is not shown. */
  remote?: (url: string) => string | null;
}

/** Resolves `docs/../a b.md` below a folder; a leading slash means the root, and `..` cannot go above it. */
function resolvePath(folder: Buffer, path: string): Buffer {
  const parts: string[] = path.startsWith('/')
    ? []
    : folder
        .toString('latin1')
        .split('/')
        .filter((part) => part !== '');
  for (const part of decode(path).toString('latin1').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return joinPath(Buffer.alloc(0), Buffer.from(parts.join('/'), 'latin1'));
}

function decode(path: string): Buffer {
  try {
    return Buffer.from(decodeURIComponent(path));
  } catch {
    return Buffer.from(path);
  }
}

/** URL of a file of an issue, as forms insert it into texts. */
const attachment = /^\/repos\/[^/?#]+\/[^/?#]+\/attachments\/[0-9a-f-]{36}$/;

/** Relative links of a document resolve to the files beside it at the same ref, images to their raw content. */
export function repositoryLinks({
  repositoryUrl,
  ref,
  folder,
  showsRemoteImages,
  remote = () => null,
}: DocumentLocation): DocumentLinks {
  return {
    showsRemoteImages,
    remote,
    page(address) {
      if (attachment.test(address)) return address;
      const [, path = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(address) ?? [];
      const fragment = /#(.*)$/s.exec(rest)?.[1];
      // A folder redirects to its own page.
      return (
        codeUrl(repositoryUrl, 'blob', ref, resolvePath(folder, path)) +
        (fragment ? `#user-content-${encodeURIComponent(fragment)}` : '')
      );
    },
    image: (address) =>
      attachment.test(address)
        ? address
        : codeUrl(repositoryUrl, 'raw', ref, resolvePath(folder, address.replace(/[?#].*$/s, ''))),
  };
}
