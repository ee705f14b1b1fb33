import { repositoryUrl } from '../../http/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { HereLink, WantedLinks } from '../../imports/index.ts';
import type { BareReference, Reference } from '../../issues/index.ts';
import { dependOn } from '../app/dependency.ts';
import type { Dependency } from '../app/dependency.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { entryUrl } from '../app/entry-urls.ts';
import { foreignPath } from '../app/foreign-path.ts';
import type { DocumentLinks } from './document-links.ts';
import { linkHtml } from './linked-text.ts';
import { escapeAttribute, escapeText, unescapeHtml } from './placeholders.ts';
import { textsOf } from './prepare-document.ts';
import type { PlainDocument, PreparedDocument } from './prepare-document.ts';
import type { ReferenceLink, ReferenceLinks } from './reference-links.ts';

/** Links of texts to the forge that their repository was imported from. */
export interface MovedLinks {
  /** Their references, for `readReferences`. */
  references: readonly BareReference[];
  /** The document with the references of its texts by numbers of the other forge. */
  rename(document: PreparedDocument): PreparedDocument;
  /** Inserts the corresponding links here; links without a counterpart stay as they are. */
  fill(html: string, references: ReferenceLinks): string;
  /** Attached files by relative URLs, and images by absolute ones. */
  links(links: Links): Links;
  dependency: Dependency;
}

type Links = Omit<DocumentLinks, 'showsRemoteImages'>;

/** Most texts have none of these: then no query is made. */
const mayBeMoved = /:\/\/|attachments\/|uploads\/|![1-9]|#[1-9]/;
const link = /<a href="(https?:[^"<>]{1,2000})" rel="nofollow ugc noopener">/g;
const bareLink = /<a href="(https?:[^"<>]{1,2000})" rel="nofollow ugc noopener">\1<\/a>/g;
/** The placeholders of `link-placeholders.ts` for relative URLs and for images elsewhere. */
const kept = /(?:href|src)="\/\.(?:page|image|remote)\/([^"]{1,2000})"/g;
/** `!7` of GitLab. */
const merge = /(?<![\w/!&.:=?%+~-])!([1-9]\d{0,8})(?!\w)/g;

/** Null for texts without references to another forge, and for a repository that was not imported. */
export async function readMovedLinks(
  { found }: Pick<RepositoryContext, 'found'>,
  { imports }: Pick<WebDeps, 'imports'>,
  texts: readonly { body: string; prepared: PreparedDocument | PlainDocument }[],
): Promise<MovedLinks | null> {
  const documents = texts.flatMap(({ body, prepared }) =>
    mayBeMoved.test(body) && !('text' in prepared) ? [prepared] : [],
  );
  if (documents.length === 0) return null;
  const { id } = found.repository;
  const source = await imports.links.sourceOf(id);
  if (source === null) return null;
  const isApart = source.kind === 'gitlab';
  const wanted: WantedLinks = {
    addresses: documents.flatMap(({ parts: { html } }) =>
      [link, kept].flatMap((pattern) => Array.from(html.matchAll(pattern), ([, address]) => unescapeHtml(address!))),
    ),
    named: isApart ? documents.flatMap(namesIn) : [],
  };
  if (wanted.addresses.length + wanted.named.length === 0) return null;
  const dependency = await dependOn(() => imports.links.resolve(id, source, wanted));
  const here = new Map(dependency.value.addresses);
  const numbers = new Map(dependency.value.numbers);
  const home = repositoryUrl(found.canonical);

  const rename = (document: PreparedDocument): PreparedDocument =>
    isApart ? { ...document, runs: renameRuns(document, numbers) } : document;
  const urlOf = (address: string, references: ReferenceLinks): string | null => {
    const there = here.get(unescapeHtml(address));
    return there === undefined ? null : hereUrl(there, home, references);
  };
  const fileOf = (address: string): string | null => {
    const there = here.get(address);
    return there?.kind === 'file' ? hereUrl(there, home) : null;
  };
  return {
    references: [
      ...[...here.values()].flatMap((each) => referenceOf(each) ?? []),
      ...(isApart ? documents.flatMap((document) => rename(document).runs.flat()) : []),
    ],
    rename,
    fill: (html, references) =>
      html
        .replace(bareLink, (whole, address: string) => {
          const there = here.get(unescapeHtml(address));
          const target = there === undefined ? null : referenceOf(there);
          const found = target === null ? null : references.of(target);
          const url = urlOf(address, references);
          if (there === undefined || found === null || url === null) return whole;
          return linkHtml(escapeText(shortName(there, found)), { ...found, url });
        })
        .replace(link, (whole, address: string) => {
          const url = urlOf(address, references);
          return url === null ? whole : `<a href="${escapeAttribute(url)}">`;
        }),
    links: (links) => ({
      page: (address) => fileOf(address) ?? links.page(address),
      image: (address) => fileOf(address) ?? links.image(address),
      remote: (address) => fileOf(address) ?? links.remote?.(address) ?? null,
    }),
    dependency,
  };
}

function referenceOf(there: HereLink): BareReference | null {
  if (there.kind === 'issue') return { kind: 'issue', repository: there.repository, number: there.number };
  return there.kind === 'commit' ? { kind: 'commit', repository: there.repository, oid: there.oid } : null;
}

/** Null for objects that are missing here or hidden from the viewer. */
function hereUrl(there: HereLink, home: string, references?: ReferenceLinks): string | null {
  if (there.kind === 'file') return `${home}/attachments/${there.id}`;
  if (there.kind === 'page') {
    const [word = '', ...rest] = there.segments;
    return `${home}/${foreignPath(word, rest).join('/')}${there.end}`;
  }
  const target = references?.of(referenceOf(there)!) ?? null;
  if (target === null || there.kind === 'commit') return target?.url ?? null;
  if (there.part !== null) return /\/pulls\/\d+$/.test(target.url) ? `${target.url}/${there.part}` : target.url;
  return there.position === null ? target.url : entryUrl(target.url, there.position);
}

const shortName = (there: HereLink, { name }: ReferenceLink): string => {
  if (there.kind !== 'issue') return name;
  return `${name}${there.part !== null ? ` (${there.part})` : there.position !== null ? ' (comment)' : ''}`;
};

/** The references `#7` and `!7` in the texts of a document. */
const namesIn = (document: PreparedDocument): ['issue' | 'pull', number][] => [
  ...document.runs.flat().flatMap((each): ['issue', number][] => (isOwnIssue(each) ? [['issue', each.number]] : [])),
  ...textsOf(document.parts.html).flatMap((text) =>
    Array.from(text.matchAll(merge), ([, number]): ['pull', number] => ['pull', Number(number)]),
  ),
];

const isOwnIssue = (reference: Reference): reference is Reference & { kind: 'issue' } =>
  reference.kind === 'issue' && reference.repository === null;

/** The references of each text, with their numbers on this server. */
function renameRuns(document: PreparedDocument, numbers: ReadonlyMap<string, number>): Reference[][] {
  const texts = textsOf(document.parts.html);
  return document.runs.map((run, at) => {
    const issues = run.map((each) =>
      isOwnIssue(each) ? { ...each, number: numbers.get(`issue:${each.number}`) ?? each.number } : each,
    );
    const merges = Array.from((texts[at] ?? '').matchAll(merge)).flatMap((match): Reference[] => {
      const number = numbers.get(`pull:${match[1]}`);
      const [start, end] = [match.index, match.index + match[0].length];
      return number === undefined ? [] : [{ kind: 'issue', repository: null, number, start, end }];
    });
    return [...issues, ...merges].sort((one, other) => one.start - other.start);
  });
}
