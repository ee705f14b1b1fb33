import { issueLimits, parseReferences } from '../../issues/index.ts';
import type { BareReference, Reference } from '../../issues/index.ts';
import { escapeAttribute, escapeText, unescapeHtml } from './placeholders.ts';
import type { ReferenceLink, ReferenceLinks } from './reference-links.ts';

/** A segment of a plain text; `url` is null for text without a reference. */
export interface TextPart {
  text: string;
  url: string | null;
  title: string | null;
  /** Set for links to other hosts. */
  rel?: string;
}

/** A reference in a plain text; a full URL of this server also has its fragment, perhaps empty. */
type PlacedReference = BareReference & { start: number; end: number; anchor?: string };

/** The references of a commit message or a title, in order. @param origin of this server as the browser knows it */
export function referencesOf(text: string, origin: string | null): PlacedReference[] {
  const named: PlacedReference[] = parseReferences(text);
  if (origin === null || !text.includes(`${origin}/repos/`)) return named;
  const addresses = Array.from(text.matchAll(/https?:\/\/[^\s<>"'`)\]]{1,500}/g)).flatMap(
    (match): PlacedReference[] => {
      // Punctuation after a URL belongs to the sentence.
      const address = match[0].replace(/[.,;:!?]+$/, '');
      const found = ownReference(address, origin);
      if (found === null) return [];
      return [{ ...found.reference, start: match.index, end: match.index + address.length, anchor: found.anchor }];
    },
  );
  const isFree = ({ start }: PlacedReference): boolean =>
    !addresses.some((address) => start >= address.start && start < address.end);
  return [...addresses, ...named.filter(isFree)]
    .sort((one, other) => one.start - other.start)
    .slice(0, issueLimits.referencesPerText);
}

/**
 * A plain text with its references as links; null when it has none.
 * @param withAddresses whether web URLs become links: in messages, but not in titles that are links themselves
 */
export function viewLinkedText(text: string, links: ReferenceLinks, withAddresses = false): TextPart[] | null {
  const addresses = withAddresses ? webAddresses(text) : [];
  const isIn = (start: number, places: readonly Place[]): boolean =>
    places.some((place) => start >= place.start && start < place.end);
  const named = referencesOf(text, links.origin).flatMap(({ start, end, anchor, ...reference }) => {
    const link = links.of(reference);
    // Commit ids and issue numbers inside a URL are part of it.
    if (link === null || (anchor === undefined && isIn(start, addresses))) return [];
    const shown = anchor === undefined ? text.slice(start, end) : addressName(link, anchor);
    return [{ start, end, part: { text: shown, url: link.url + (anchor ?? ''), title: link.title } }];
  });
  const elsewhere = addresses
    .filter(({ start }) => !isIn(start, named))
    .map(({ start, end }) => {
      const url = text.slice(start, end);
      return { start, end, part: { text: url, url, title: null, rel: 'nofollow ugc noopener' } };
    });
  const parts: TextPart[] = [];
  let written = 0;
  for (const { start, end, part } of [...named, ...elsewhere].sort((one, other) => one.start - other.start)) {
    if (start > written) parts.push({ text: text.slice(written, start), url: null, title: null });
    parts.push(part);
    written = end;
  }
  if (parts.length === 0) return null;
  if (written < text.length) parts.push({ text: text.slice(written), url: null, title: null });
  return parts;
}

const maxAddresses = 200;

/** A range in a text; the end is exclusive. */
interface Place {
  start: number;
  end: number;
}

/** Web URLs in a plain text, without punctuation at the end or brackets around them. */
function webAddresses(text: string): Place[] {
  if (!text.includes('://')) return [];
  return Array.from(text.matchAll(/(?<![\w])https?:\/\/[^\s<>"'`\]]{1,2000}/gi))
    .slice(0, maxAddresses)
    .flatMap((match) => {
      let address = match[0].replace(/[.,;:!?*_]+$/, '');
      while (address.endsWith(')') && address.split(')').length > address.split('(').length)
        address = address.slice(0, -1).replace(/[.,;:!?*_]+$/, '');
      return URL.canParse(address) ? [{ start: match.index, end: match.index + address.length }] : [];
    });
}

const addressName = ({ name }: ReferenceLink, anchor: string): string => name + (anchor === '' ? '' : ' (comment)');

export const linkHtml = (escapedText: string, { url, title }: ReferenceLink): string =>
  `<a href="${escapeAttribute(url)}" class="reference"${title === null ? '' : ` title="${escapeAttribute(title)}"`}>${escapedText}</a>`;

/** Escaped text of a document with its references as links. @param references of the text, with their ranges */
export function linkText(escaped: string, references: readonly Reference[], links: ReferenceLinks): string {
  if (references.length === 0) return escaped;
  const text = unescapeHtml(escaped);
  const segments: string[] = [];
  let written = 0;
  for (const reference of references) {
    const link = links.of(reference);
    if (link === null) continue;
    segments.push(escapeText(text.slice(written, reference.start)));
    segments.push(linkHtml(escapeText(text.slice(reference.start, reference.end)), link));
    written = reference.end;
  }
  return segments.join('') + escapeText(text.slice(written));
}

/** A link whose text is its URL, in the sanitiser's output. */
const bareLink = /<a href="([^"<>]{1,500})" rel="nofollow ugc noopener">\1<\/a>/g;

/** URLs of issues and commits of this server. */
const issuePath = /^\/repos\/([^/\s]{1,100})\/([^/\s]{1,100})\/(?:issues|pulls)\/([1-9]\d{0,8})(#e\d{1,9})?$/;
const commitPath = /^\/repos\/([^/\s]{1,100})\/([^/\s]{1,100})\/commit\/([0-9a-f]{7,64})$/;

function ownReference(address: string, origin: string): { reference: BareReference; anchor: string } | null {
  if (!address.startsWith(`${origin}/`)) return null;
  const path = address.slice(origin.length);
  const [, issueOwner, issueName, number, anchor = ''] = issuePath.exec(path) ?? [];
  if (number !== undefined) {
    const repository = { owner: issueOwner!, name: issueName! };
    return { reference: { kind: 'issue', repository, number: Number(number) }, anchor };
  }
  const [, owner, name, oid] = commitPath.exec(path) ?? [];
  if (oid === undefined) return null;
  return { reference: { kind: 'commit', repository: { owner: owner!, name: name! }, oid }, anchor: '' };
}

/** The objects of this server that full URLs in a document name. */
export function findInstanceUrls(html: string, origin: string): BareReference[] {
  if (!html.includes(origin)) return [];
  return Array.from(html.matchAll(bareLink), ([, href]) => ownReference(unescapeHtml(href!), origin)).flatMap(
    (found) => (found === null ? [] : [found.reference]),
  );
}

/** Shortens full URLs of issues and commits that the viewer can see to the reference. */
export function shortenInstanceUrls(html: string, origin: string, links: ReferenceLinks): string {
  if (!html.includes(origin)) return html;
  return html.replace(bareLink, (whole, href: string) => {
    const found = ownReference(unescapeHtml(href), origin);
    const link = found === null ? null : links.of(found.reference);
    if (found === null || link === null) return whole;
    return linkHtml(escapeText(addressName(link, found.anchor)), { ...link, url: link.url + found.anchor });
  });
}
