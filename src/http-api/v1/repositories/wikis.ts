import { z } from 'zod';
import type { Commit } from '../../../git/index.ts';
import { footerTitle, pageCalled, contentPages, pageNotFound, sidebarTitle } from '../../../repositories/index.ts';
import type { Wiki, WikiPage } from '../../../repositories/index.ts';
import type { Found } from '../../../repositories/index.ts';
import type { Viewer } from '../../../access/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { repositoryUrl } from '../../../http/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { bytesOf } from '../code/file-contents.ts';
import { sliceOf } from '../shapes/issues-parts.ts';
import { numberedPaging } from '../shapes/issues-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';

const at = '/repos/{owner}/{name}/wiki';
const common = { tag: 'Wikis', cost: 'objects' } as const;

const identity = z.strictObject({ name: z.string(), email: z.string(), date: z.string() });
const wikiCommit = z.strictObject({
  sha: z.string(),
  author: identity,
  /** Gitea's spelling. */
  commiter: identity,
  committer: identity,
  message: z.string(),
});
const meta = {
  title: z.string(),
  html_url: z.string(),
  sub_url: z.string().describe('Title as used in URLs'),
  last_commit: wikiCommit.nullable(),
};
const pageMeta = z.strictObject(meta).meta({ id: 'WikiPageMetaData' });
const wikiPage = z
  .strictObject({
    ...meta,
    content_base64: z.string(),
    commit_count: z.int(),
    sidebar: z.string().describe('Sidebar text in base64'),
    footer: z.string().describe('Footer text in base64'),
  })
  .meta({ id: 'WikiPage' });
const revisions = z.strictObject({ commits: z.array(wikiCommit), count: z.int() }).meta({ id: 'WikiCommitList' });

const maxPageBytes = 1024 * 1024;
/** Fits the longest page that is shown, in base64. */
const maxJsonBytes = 2 * maxPageBytes;
/** Limit of counted versions of a page. */
const mostCounted = 1_000;

interface Call {
  viewer: Viewer;
  found: Found;
  deps: WebDeps;
  origin: string;
}

const showIdentity = ({ name, email, at: time }: Commit['author']) => ({ name, email, date: isoTime(time) });

const showCommit = ({ oid, author, committer, message }: Commit): z.output<typeof wikiCommit> => ({
  sha: oid,
  author: showIdentity(author),
  commiter: showIdentity(committer),
  committer: showIdentity(committer),
  message,
});

const subUrl = (title: string): string => encodeURIComponent(title.includes('-') ? title : title.replaceAll(' ', '-'));

async function wikiOf({ viewer, found, deps }: Call): Promise<{ wiki: Wiki; pages: WikiPage[] }> {
  const wiki = await deps.repositories.wikis.find(viewer, found.canonical.owner, found.canonical.name);
  return { wiki, pages: await deps.repositories.wikis.pages(wiki) };
}

const versionsOf = async ({ deps }: Call, wiki: Wiki, page: WikiPage, limit: number) =>
  wiki.tip === null
    ? []
    : (await deps.git.queries.history(wiki.path, { oid: wiki.tip, file: Buffer.from(page.path), limit })).entries.map(
        ({ commit }) => commit,
      );

async function showMeta(call: Call, wiki: Wiki, page: WikiPage): Promise<z.output<typeof pageMeta>> {
  const [last] = await versionsOf(call, wiki, page, 1);
  return {
    title: page.title,
    html_url: `${call.origin}${repositoryUrl(call.found.canonical)}/wiki/${subUrl(page.title)}`,
    sub_url: subUrl(page.title),
    last_commit: last === undefined ? null : showCommit(last),
  };
}

async function contentOf({ deps }: Call, wiki: Wiki, page: WikiPage | undefined): Promise<string> {
  if (page === undefined) return '';
  const { content } = await deps.git.objects.blob(wiki.path, page.oid, { maxBytes: maxPageBytes });
  return content?.toString('base64') ?? '';
}

/** A page with its text. Throws `page_not_found`. */
async function showPage(call: Call, title: string): Promise<z.output<typeof wikiPage>> {
  const { wiki, pages } = await wikiOf(call);
  const page = pageCalled(pages, title);
  if (page === null) throw pageNotFound();
  const beside = (name: string) =>
    contentOf(
      call,
      wiki,
      pages.find((each) => each.title === name),
    );
  return {
    ...(await showMeta(call, wiki, page)),
    content_base64: await contentOf(call, wiki, page),
    commit_count: (await versionsOf(call, wiki, page, mostCounted)).length,
    sidebar: await beside(sidebarTitle),
    footer: await beside(footerTitle),
  };
}

const newPage = z.object({
  title: z.string().max(1000).optional(),
  content_base64: z.string().describe('Content in base64'),
  message: z.string().max(10_000).optional(),
});

export const wikiOperations = [
  operation({
    ...common,
    id: 'listWikiPages',
    method: 'GET',
    path: `${at}/pages`,
    summary: 'List a wiki’s pages',
    access: 'repository:read',
    status: 200,
    isPaged: true,
    query: z.object(numberedPaging),
    response: z.array(pageMeta),
    async run(call) {
      const { wiki, pages } = await wikiOf(call);
      const shown = contentPages(pages);
      // Each requires a history lookup: never all of them at once.
      const { rows, next } = sliceOf(shown, { ...call.query, page: call.query.page || 1 });
      return listed(await Promise.all(rows.map((page) => showMeta(call, wiki, page))), next, shown.length);
    },
  }),
  operation({
    ...common,
    id: 'getWikiPage',
    method: 'GET',
    path: `${at}/page/{page}`,
    summary: 'Get a wiki page',
    access: 'repository:read',
    status: 200,
    refuses: [404],
    response: wikiPage,
    run: async (call) => json(await showPage(call, call.params.page)),
  }),
  operation({
    ...common,
    id: 'listWikiRevisions',
    method: 'GET',
    path: `${at}/revisions/{page}`,
    summary: 'List the commits that changed a wiki page, newest first',
    access: 'repository:read',
    status: 200,
    refuses: [404],
    query: z.object(numberedPaging),
    response: revisions,
    async run(call) {
      const { wiki, pages } = await wikiOf(call);
      const page = pageCalled(pages, call.params.page);
      if (page === null) throw pageNotFound();
      const commits = await versionsOf(call, wiki, page, mostCounted);
      const { rows } = sliceOf(commits, { ...call.query, page: call.query.page || 1 });
      return json({ commits: rows.map(showCommit), count: commits.length });
    },
  }),
  operation({
    ...common,
    id: 'createWikiPage',
    method: 'POST',
    maxJsonBytes,
    path: `${at}/new`,
    summary: 'Create a wiki page',
    access: 'repository:write',
    status: 201,
    refuses: [409, 422],
    body: newPage,
    response: wikiPage,
    async run(call) {
      const { viewer, found, deps, body } = call;
      const { title } = await deps.repositories.wikis.create(viewer, found.canonical.owner, found.canonical.name, {
        title: body.title ?? '',
        content: bytesOf(body.content_base64),
        message: body.message,
      });
      return created(await showPage(call, title));
    },
  }),
  operation({
    ...common,
    id: 'editWikiPage',
    method: 'PATCH',
    maxJsonBytes,
    path: `${at}/page/{page}`,
    summary: 'Edit a wiki page’s content or title',
    access: 'repository:write',
    status: 200,
    refuses: [404, 409, 422],
    body: newPage,
    response: wikiPage,
    async run(call) {
      const { viewer, found, deps, body, params } = call;
      const { pages } = await wikiOf(call);
      const page = pageCalled(pages, params.page);
      if (page === null) throw pageNotFound();
      const { owner, name } = found.canonical;
      const { title } = await deps.repositories.wikis.edit(viewer, owner, name, page.title, {
        title: body.title || page.title,
        content: bytesOf(body.content_base64),
        message: body.message,
      });
      return json(await showPage(call, title));
    },
  }),
  operation({
    ...common,
    id: 'deleteWikiPage',
    method: 'DELETE',
    path: `${at}/page/{page}`,
    summary: 'Delete a wiki page',
    access: 'repository:write',
    status: 204,
    refuses: [404],
    async run({ viewer, found, deps, params }) {
      await deps.repositories.wikis.remove(viewer, found.canonical.owner, found.canonical.name, params.page);
      return noContent();
    },
  }),
];
