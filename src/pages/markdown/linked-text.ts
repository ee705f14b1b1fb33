import { parseReferences } from '../../issues/index.ts';
import type { BareReference, Reference } from '../../issues/index.ts';
import { escapeAttribute, escapeText, unescapeHtml } from './marks.ts';
import type { ReferenceLink, ReferenceLinks } from './reference-links.ts';

/** A piece of a plain text; `url` is null for what refers to nothing. */
export interface TextPart {
  text: string;
  url: string | null;
  title: string | null;
}

/** The references of a commit message or a title. */
export const referencesOf = (text: string): Reference[] => parseReferences(text, 'commit');

/** A plain text with its references as links; null when it has none. */
export function viewLinkedText(text: string, links: ReferenceLinks): TextPart[] | null {
  const parts: TextPart[] = [];
  let written = 0;
  for (const reference of referencesOf(text)) {
    const link = links.of(reference);
    if (link === null) continue;
    if (reference.start > written) parts.push({ text: text.slice(written, reference.start), url: null, title: null });
    parts.push({ text: text.slice(reference.start, reference.end), url: link.url, title: link.title });
    written = reference.end;
  }
  if (parts.length === 0) return null;
  if (written < text.length) parts.push({ text: text.slice(written), url: null, title: null });
  return parts;
}

export const linkHtml = (escapedText: string, { url, title }: ReferenceLink): string =>
  `<a href="${escapeAttribute(url)}" class="reference"${title === null ? '' : ` title="${escapeAttribute(title)}"`}>${escapedText}</a>`;

/** Escaped text of a document with its references as links. @param references of the text, with their places in it */
export function linkText(escaped: string, references: readonly Reference[], links: ReferenceLinks): string {
  if (references.length === 0) return escaped;
  const text = unescapeHtml(escaped);
  const pieces: string[] = [];
  let written = 0;
  for (const reference of references) {
    const link = links.of(reference);
    if (link === null) continue;
    pieces.push(escapeText(text.slice(written, reference.start)));
    pieces.push(linkHtml(escapeText(text.slice(reference.start, reference.end)), link));
    written = reference.end;
  }
  return pieces.join('') + escapeText(text.slice(written));
}

/** A link whose text is its address, as the cleaner writes it. */
const bareLink = /<a href="([^"<>]{1,500})" rel="nofollow ugc noopener">\1<\/a>/g;

/** Addresses of issues and commits of this server. */
const issuePath = /^\/repos\/([^/\s]{1,100})\/([^/\s]{1,100})\/(?:issues|pulls)\/([1-9]\d{0,8})(#e\d{1,9})?$/;
const commitPath = /^\/repos\/([^/\s]{1,100})\/([^/\s]{1,100})\/commit\/([0-9a-f]{7,64})$/;

function ownReference(address: string, origin: string): { reference: BareReference; hash: string } | null {
  if (!address.startsWith(`${origin}/`)) return null;
  const path = address.slice(origin.length);
  const [, issueOwner, issueName, number, hash = ''] = issuePath.exec(path) ?? [];
  if (number !== undefined) {
    const repository = { owner: issueOwner!, name: issueName! };
    return { reference: { kind: 'issue', repository, number: Number(number) }, hash };
  }
  const [, owner, name, oid] = commitPath.exec(path) ?? [];
  if (oid === undefined) return null;
  return { reference: { kind: 'commit', repository: { owner: owner!, name: name! }, oid }, hash: '' };
}

/** What full addresses in a document refer to on this server. */
export function ownAddresses(html: string, origin: string): BareReference[] {
  if (!html.includes(origin)) return [];
  return Array.from(html.matchAll(bareLink), ([, href]) => ownReference(unescapeHtml(href!), origin)).flatMap(
    (found) => (found === null ? [] : [found.reference]),
  );
}

/** Shortens full addresses of issues and commits that the viewer may see to the reference. */
export function shortenAddresses(html: string, origin: string, links: ReferenceLinks): string {
  if (!html.includes(origin)) return html;
  return html.replace(bareLink, (whole, href: string) => {
    const found = ownReference(unescapeHtml(href), origin);
    const link = found === null ? null : links.of(found.reference);
    if (found === null || link === null) return whole;
    const name = escapeText(link.name) + (found.hash === '' ? '' : ' (comment)');
    return linkHtml(name, { ...link, url: link.url + found.hash });
  });
}
