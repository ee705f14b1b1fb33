import { contentPages, isPageFile, pageCalled, pageNotFound, titleOfFile } from '../../repositories/index.ts';
import { readSearchQuery } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { viewName } from '../app/printable-names.ts';
import { page } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { viewZonedTime } from '../app/times.view.ts';
import { wikiPageUrl, wikiUrl } from '../app/wiki-urls.ts';
import { authorsOfCommits } from '../code/commit-authors.ts';
import { viewGrep } from '../code/search-code.view.ts';
import { defaultTabs } from '../code/read-editor-configs.ts';
import type { WikiDeps } from './deps.ts';
import { findWikiOf } from './read-wiki.ts';
import { titleIn, viewWikiFrame } from './wiki-page.page.ts';

/** `B/wiki/_pages`: all pages by title. */
export const showWikiPages: Page<RepositoryContext, WikiDeps> = async (context, deps) => {
  const wiki = await findWikiOf(context, deps);
  const pages = await deps.repositories.wikis.pages(wiki);
  return page('wiki/wiki-pages', {
    ...viewWikiFrame(context, deps, pages),
    list: contentPages(pages).map(({ title }) => ({
      title: viewName(title),
      url: wikiPageUrl(context.found.canonical, title),
    })),
  });
};

const perPage = 50;
const objectId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** `B/wiki/_history/{title}`: the commits that changed a page, with links to its versions. */
export const showWikiHistory: Page<RepositoryContext, WikiDeps> = async (context, deps) => {
  const wiki = await findWikiOf(context, deps);
  const pages = await deps.repositories.wikis.pages(wiki);
  const shown = pageCalled(pages, titleIn(context));
  if (wiki.tip === null || shown === null) throw pageNotFound();
  const asked = context.query.get('after') ?? '';
  const { entries, hasMore } = await deps.git.queries.history(wiki.path, {
    oid: wiki.tip,
    file: Buffer.from(shown.path),
    after: objectId.test(asked) ? asked : null,
    limit: perPage,
  });
  const commits = entries.map(({ commit }) => commit);
  const authors = await authorsOfCommits(deps, commits);
  const at = context.found.canonical;
  const now = deps.clock.now();
  const last = commits.at(-1)?.oid;
  const url = wikiPageUrl(at, shown.title);
  return page('wiki/wiki-history', {
    ...viewWikiFrame(context, deps, pages),
    title: viewName(shown.title),
    url,
    versions: entries.map(({ commit, file, isThere }) => ({
      subject: viewName(commit.subject) || t('wiki.wiki_pages.no_message'),
      shortId: commit.oid.slice(0, 10),
      by: authors.of(commit.author),
      at: viewZonedTime(commit.committer, now),
      url: isThere ? `${wikiPageUrl(at, titleOfFile(file.toString()))}?version=${commit.oid}` : null,
    })),
    more:
      hasMore && last !== undefined ? `${wikiUrl(at)}/_history${url.slice(wikiUrl(at).length)}?after=${last}` : null,
  });
};

const maxLines = 300;
const linesPerPage = 10;

/** `B/wiki/_search?q=`: lines of pages, ignoring case, and titles. */
export const searchWiki: Page<RepositoryContext, WikiDeps> = async (context, deps) => {
  const text = readSearchQuery(context.query);
  const at = context.found.canonical;
  const wiki = await findWikiOf(context, deps);
  const pages = await deps.repositories.wikis.pages(wiki);
  const isBlank = wiki.tip === null || text.trim() === '';
  const grep = isBlank
    ? { lines: [], isWhole: true }
    : await deps.git.queries.grep(wiki.path, {
        oid: wiki.tip!,
        text,
        isPattern: false,
        ignoresCase: true,
        limit: maxLines,
        perFile: linesPerPage,
      });
  const lines = grep.lines.filter(({ file }) => isPageFile(file.toString()));
  return page('wiki/wiki-search', {
    ...viewWikiFrame(context, deps, pages),
    query: text,
    titles: isBlank
      ? []
      : contentPages(pages)
          .filter(({ title }) => title.toLowerCase().includes(text.trim().toLowerCase()))
          .slice(0, maxLines)
          .map(({ title }) => ({ title: viewName(title), url: wikiPageUrl(at, title) })),
    found: viewGrep(lines, '', '', text, defaultTabs).map((file, index) => ({
      title: viewName(titleOfFile([...new Set(lines.map(({ file }) => file.toString()))][index] ?? '')),
      url: wikiPageUrl(at, titleOfFile([...new Set(lines.map(({ file }) => file.toString()))][index] ?? '')),
      lines: file.lines.map(({ segments }) => segments),
    })),
    isWhole: grep.isWhole,
  });
};
