import { allows } from '../../access/index.ts';
import { notFound, nullIfNotFound } from '../../kernel/index.ts';
import {
  contentPages,
  footerTitle,
  homeTitle,
  pageCalled,
  pageNotFound,
  sidebarTitle,
  wikiSuffix,
} from '../../repositories/index.ts';
import type { Wiki, WikiPage } from '../../repositories/index.ts';
import { viewCloneBox } from '../../http/index.ts';
import { formatContentDisposition } from '../app/content-disposition.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import { viewName } from '../app/printable-names.ts';
import { content, movedTo, page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { viewZonedTime } from '../app/times.view.ts';
import { wikiPageUrl, wikiUrl } from '../app/wiki-urls.ts';
import { authorsOfCommits } from '../code/commit-authors.ts';
import { imageType } from '../code/media-types.ts';
import type { WikiDeps } from './deps.ts';
import { findWikiOf, readPageText, renderWikiTexts } from './read-wiki.ts';

/** Maximum number of pages in the list beside each page; a separate page lists all. */
const maxListed = 100;
const objectId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** The title in a URL: hyphens stand for spaces. */
export const titleIn = ({ params }: Pick<RepositoryContext, 'params'>): string => params['path'] ?? '';

const mayWriteWiki = ({ found }: RepositoryContext): boolean =>
  allows(found.level, 'write') && found.repository.archivedAt === null;

/** The common frame of every page of a wiki. */
export function viewWikiFrame(context: RepositoryContext, deps: WikiDeps, pages: readonly WikiPage[]) {
  const { found, origin, preferences } = context;
  const at = found.canonical;
  const shown = contentPages(pages);
  return {
    repository: viewRepositoryHeader(found),
    wiki: { url: wikiUrl(at), mayWrite: mayWriteWiki(context), count: shown.length },
    pages: shown.slice(0, maxListed).map(({ title }) => ({ title: viewName(title), url: wikiPageUrl(at, title) })),
    clone: viewCloneBox({
      origin,
      owner: at.owner,
      name: `${at.name}${wikiSuffix}`,
      ssh: deps.ssh(),
      config: deps.config,
      preferred: preferences.clone,
    }),
  };
}

async function showPage(
  context: RepositoryContext,
  deps: WikiDeps,
  {
    wiki,
    pages,
    shown,
    commit: oid,
    isOld,
  }: { wiki: Wiki; pages: WikiPage[]; shown: WikiPage; commit: string; isOld: boolean },
): Promise<PageReply> {
  const { found } = context;
  const at = found.canonical;
  const beside = [sidebarTitle, footerTitle].map((title) => pages.find((each) => each.title === title) ?? null);
  const wanted = [shown, ...beside];
  const texts = await Promise.all(
    wanted.flatMap((each) =>
      each === null ? [] : [readPageText(deps, wiki, each).then((text) => ({ key: each.oid, file: each.path, text }))],
    ),
  );
  const [rendered, { entries }] = await Promise.all([
    renderWikiTexts(context, deps, wiki, texts),
    deps.git.queries.history(wiki.path, { oid, file: Buffer.from(shown.path), limit: 1 }),
  ]);
  const commit = entries[0]?.commit ?? (await deps.git.objects.commit(wiki.path, oid));
  const authors = await authorsOfCommits(deps, [commit]);
  const [document, ...others] = rendered;
  const [sidebar, footer] = beside.map((each) => (each === null ? null : (others.shift() ?? null)));
  return page('wiki/wiki-page', {
    ...viewWikiFrame(context, deps, pages),
    title: viewName(shown.title),
    document,
    sidebar: shown.title === sidebarTitle ? null : sidebar,
    footer: shown.title === footerTitle ? null : footer,
    isOld,
    changed: { by: authors.of(commit.author), at: viewZonedTime(commit.committer, deps.clock.now()) },
    urls: {
      page: wikiPageUrl(at, shown.title),
      edit: `${wikiUrl(at)}/_edit${wikiPageUrl(at, shown.title).slice(wikiUrl(at).length)}`,
      history: `${wikiUrl(at)}/_history${wikiPageUrl(at, shown.title).slice(wikiUrl(at).length)}`,
    },
    notice: viewFlashMessage(context.query),
  });
}

/**
 * `B/wiki` and `B/wiki/{title}`; `?version=` shows the page at a commit. A missing page redirects users with write
 * access to the form of a new one. Throws `page_not_found`.
 */
export const showWikiPage: Page<RepositoryContext, WikiDeps> = async (context, deps): Promise<Reply> => {
  const { found, query } = context;
  const at = found.canonical;
  const wiki = await findWikiOf(context, deps);
  const asked = titleIn(context);
  const version = query.get('version');
  if (wiki.tip === null) {
    if (asked !== '' && !mayWriteWiki(context)) throw pageNotFound();
    return asked === ''
      ? page('wiki/empty-wiki', { ...viewWikiFrame(context, deps, []), notice: viewFlashMessage(query) })
      : seeOther(newPageUrl(context, asked));
  }
  if (version !== null && !objectId.test(version)) throw pageNotFound();
  const commit = version === null ? wiki.tip : await deps.git.refs.resolve(wiki.path, version).catch(nullIfNotFound);
  if (commit === null) throw pageNotFound();
  const pages = await deps.repositories.wikis.pages(wiki, commit);
  const shown =
    pageCalled(pages, asked === '' ? homeTitle : asked) ?? (asked === '' ? contentPages(pages)[0] : undefined);
  if (shown === undefined || shown === null) {
    if (version !== null || !mayWriteWiki(context)) throw pageNotFound();
    return seeOther(newPageUrl(context, asked === '' ? homeTitle : asked));
  }
  const address = wikiPageUrl(at, shown.title);
  if (asked !== '' && version === null && decodeURI(wikiPageUrl(at, asked)) !== decodeURI(address))
    return movedTo(address);
  return showPage(context, deps, { wiki, pages, shown, commit, isOld: commit !== wiki.tip });
};

const newPageUrl = ({ found }: RepositoryContext, title: string): string =>
  `${wikiUrl(found.canonical)}/_new?${new URLSearchParams({ title: title.replaceAll('-', ' ') })}`;

const maxFileBytes = 10 * 1024 * 1024;

/** `B/wiki/_raw/{path}`: a file of the wiki that is not a page, such as an image. Everything else is plain text. */
export const showWikiFile: Page<RepositoryContext, WikiDeps> = async (context, deps): Promise<Reply> => {
  const wiki = await findWikiOf(context, deps);
  const file = Buffer.from(titleIn(context));
  if (wiki.tip === null || file.length === 0) throw notFound();
  const entry = await deps.git.objects.entryAt(wiki.path, wiki.tip, file);
  if (entry.kind !== 'file' && entry.kind !== 'executable') throw notFound();
  const { content: bytes } = await deps.git.objects.blob(wiki.path, entry.oid, { maxBytes: maxFileBytes });
  const type = imageType(entry.name);
  return content(
    type ?? 'application/octet-stream',
    bytes ?? (await deps.git.queries.streamBlob(wiki.path, entry.oid)),
    {
      headers: {
        ETag: `"${entry.oid}"`,
        'Cache-Control': 'private, no-cache',
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'Content-Disposition': formatContentDisposition(type === null ? 'attachment' : 'inline', entry.rawName),
        Vary: 'Cookie, Authorization',
      },
    },
  );
};
