import type { Signature } from '../../git/index.ts';
import type { CommitAuthors } from './commit-authors.ts';

/** A feed in the format of RFC 4287. */
interface Feed {
  title: string;
  /** Absolute URLs. */
  self: string;
  page: string;
  /** Epoch milliseconds. */
  updatedAt: number;
  entries: readonly FeedEntry[];
}

interface FeedEntry {
  /** Permanent: stays the same when the entry changes. */
  id: string;
  url: string;
  title: string;
  author: FeedAuthor;
  at: number;
  text: string;
}

interface FeedAuthor {
  name: string;
  /** The profile URL; null without an account. */
  uri: string | null;
}

/** The author of a commit or a tag: a local account, otherwise the name recorded by git. */
export function feedAuthor(
  authors: Pick<CommitAuthors, 'of'>,
  signature: Pick<Signature, 'name' | 'email'>,
  origin: string,
): FeedAuthor {
  const { name, url } = authors.of(signature);
  return url === null ? { name: signature.name || 'unknown', uri: null } : { name, uri: `${origin}${url}` };
}

/** Drops characters that XML cannot contain; escapes the rest. */
function xml(text: string): string {
  return text
    .replace(
      /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      '\ufffd',
    )
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** A commit may claim any year; feeds allow four digits. */
const time = (at: number): string => new Date(Math.min(Math.max(at, 0), 253_402_300_799_000)).toISOString();

function entry({ id, url, title, author, at, text }: FeedEntry): string {
  return `<entry>
<id>${xml(id)}</id>
<title>${xml(title)}</title>
<updated>${time(at)}</updated>
<author><name>${xml(author.name)}</name>${author.uri === null ? '' : `<uri>${xml(author.uri)}</uri>`}</author>
<link rel="alternate" href="${xml(url)}"/>
<content type="text">${xml(text)}</content>
</entry>`;
}

export function writeFeed({ title, self, page, updatedAt, entries }: Feed): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${xml(self)}</id>
<title>${xml(title)}</title>
<updated>${time(updatedAt)}</updated>
<link rel="self" href="${xml(self)}"/>
<link rel="alternate" href="${xml(page)}"/>
${entries.map(entry).join('\n')}
</feed>
`;
}
