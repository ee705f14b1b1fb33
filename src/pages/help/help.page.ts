import { hash } from 'node:crypto';
import { embedded } from '../../embedded/index.ts';
import { notFound } from '../../kernel/index.ts';
import { t } from '../../translation/index.ts';
import { page } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import { noReferences } from '../markdown/reference-links.ts';
import { prepareDocument } from '../markdown/prepare-document.ts';
import { fillDocument } from '../markdown/render-document.ts';
import type { HelpDeps } from './deps.ts';
import { findDocument, listDocuments } from './documents.ts';
import type { HelpDocument } from './documents.ts';
import { helpGroups } from '../app/help-topics.ts';
import { maxQuery, searchDocuments } from './search-documents.ts';

/** `/help`: the documentation of the running version; `?q=` searches it. */
export const showHelp: Page<RequestContext, HelpDeps> = ({ query }) => {
  const q = (query.get('q') ?? '').slice(0, maxQuery);
  const documents = listDocuments(embedded);
  const named = new Map(documents.map((document) => [document.name, document]));
  return page('help/help', {
    query: q,
    found:
      q.trim() === ''
        ? null
        : searchDocuments(documents, q).map(({ document, section, excerpt }) => ({
            title: section.anchor === '' ? document.title : `${document.title}: ${section.title}`,
            url: urlOf(document, section.anchor),
            excerpt,
          })),
    groups: helpGroups.map(({ key, names }) => ({
      key,
      title: t(`help.groups.${key}`),
      documents: names.flatMap((name) => {
        const document = named.get(name);
        return document === undefined ? [] : [viewDocument(document)];
      }),
    })),
  });
};

const urlOf = ({ name }: HelpDocument, anchor: string): string => `/help/${name}${anchor === '' ? '' : `#${anchor}`}`;

const viewDocument = (document: HelpDocument) => ({
  title: document.title,
  url: urlOf(document, ''),
  summary: document.summary,
});

/** `/help/{name}`: one documentation page. Throws `document_not_found`. */
export const showDocument: Page<RequestContext, HelpDeps> = async ({ params }, { workers }) => {
  const document = findDocument(embedded, params['name'] ?? '');
  if (document === null) throw notFound('document_not_found', 'There is no help page with this name.');
  // The page already shows the title as its heading.
  const source = document.source.replace(/^# .*\n+/, '');
  const prepared = await prepareDocument(workers, {
    key: hash('sha256', source),
    client: 'help',
    source: () => source,
    showsRemoteImages: false,
    origin: null,
  });
  const links = { page: (path: string) => linkOf(embedded.documentNames(), path), image: () => null };
  return page('help/document', {
    title: document.title,
    document: fillDocument(prepared, { links, references: noReferences, origin: null, taskForm: null }),
  });
};

/** `pull-requests.md#rounds` links to the page here; project files outside of the help have no link. */
function linkOf(names: readonly string[], path: string): string | null {
  const [, name = '', anchor = ''] = /^(?:\.\/)?([a-z0-9-]+)\.md(#[\w-]*)?$/.exec(path) ?? [];
  return names.includes(name) ? `/help/${name}${anchor}` : null;
}
