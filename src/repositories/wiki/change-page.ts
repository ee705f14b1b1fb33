import { viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { FileOperation } from '../contents/file-operation.ts';
import { prepareCommit } from '../contents/prepare-commit.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findAgain } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { announceWikiChange } from './announce-wiki-change.ts';
import { parsePageTitle, titleOfFile } from './page-names.ts';
import { pageAt, pageNotFound } from './read-pages.ts';
import { requireWritten } from '../pushes/require-written.ts';
import type { WikiPageChange } from '../ports/wiki-port.ts';
import { ensureWiki, findWiki, requireOpen } from './wiki-repository.ts';
import type { Wiki } from './wiki-repository.ts';

/** Page fields from a form or an API call. */
interface PageChange {
  title: string;
  content: Buffer;
  /** Defaults to a standard subject if omitted or empty. */
  message?: string | undefined;
  /** The blob that the user started from; the change is refused if it is no longer current. */
  expected?: string | undefined;
}

/** How often the commit is recreated when the wiki changes concurrently. */
const maxAttempts = 3;

interface Planned {
  operation: FileOperation;
  pages: WikiPageChange[];
  message: string;
}

/** Creates one commit; plans it again on the newest commit if another one came in between. */
async function commitTo(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  message: string | undefined,
  plan: (wiki: Wiki) => Promise<Planned>,
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const wiki = await findWiki(deps, viewer, at, 'write');
    const { parent, path, tip, branch } = wiki;
    requireOpen(parent);
    const { operation, pages, message: usual } = await plan(wiki);
    await ensureWiki(deps, path);
    const text = message === undefined || message.trim() === '' ? usual : message;
    const { oid } = await prepareCommit(deps, viewer, { path }, tip, { operations: [operation], message: text });
    // Write access may have been revoked while the commit was created.
    await deps.db.write(async (tx) =>
      requireOpen({ repository: await findAgain(deps, tx, viewer, parent.repository.id, 'write') }),
    );
    const oldId = tip ?? '0'.repeat(oid.length);
    const [result] = await deps.git.refs.move(path, [{ ref: `refs/heads/${branch}`, oldId, newId: oid }]);
    if (result?.ok === true) {
      deps.logger.info('wiki.changed', { repositoryId: parent.repository.id, commit: oid, by: viewerForLog(viewer) });
      await announceWikiChange(deps, { found: parent, viewer, pages, commit: oid, message: text });
      return oid;
    }
    requireWritten(result);
    if (attempt === maxAttempts)
      throw conflict('wiki_moves_too_fast', 'The wiki is changing too quickly. Try again in a moment.');
  }
}

const pageExists = (title: string) => conflict('page_exists', `A page “${title}” already exists.`, { field: 'title' });

/**
 * Creates a page. Throws `repository_not_found` without write access, `repository_archived`, `invalid_page_title`,
 * `page_exists`, `wiki_moves_too_fast`, and what `prepareCommit` throws.
 */
export async function createPage(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  { title: given, content, message }: PageChange,
): Promise<{ title: string; commit: string }> {
  const { title, file } = parsePageTitle(given);
  const commit = await commitTo(deps, viewer, at, message, async (wiki) => {
    if ((await pageAt(deps, wiki, title)) !== null) throw pageExists(title);
    return {
      operation: { kind: 'create', path: file, content },
      pages: [{ action: 'created', title }],
      message: `Add ${title}`,
    };
  });
  return { title, commit };
}

/**
 * Changes a page, its title, or both. Throws what `createPage` throws, `page_not_found`, and `page_changed` if the page
 * changed since the user opened it.
 */
export async function editPage(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  name: string,
  { title: given, content, message, expected }: PageChange,
): Promise<{ title: string; commit: string }> {
  const wanted = parsePageTitle(given);
  let { title } = wanted;
  const commit = await commitTo(deps, viewer, at, message, async (wiki) => {
    const page = await pageAt(deps, wiki, name);
    if (page === null) throw pageNotFound();
    requireSame(page.oid, expected);
    const isRenamed = wanted.title !== page.title;
    if (isRenamed) {
      const there = await pageAt(deps, wiki, wanted.title);
      if (there !== null && there.path !== page.path) throw pageExists(wanted.title);
    }
    const path = isRenamed ? wanted.file : page.path;
    title = titleOfFile(path);
    return {
      operation: { kind: 'update', from: page.path, path, content },
      pages: isRenamed
        ? [
            { action: 'deleted', title: page.title },
            { action: 'created', title },
          ]
        : [{ action: 'edited', title }],
      message: isRenamed ? `Rename ${page.title} to ${title}` : `Update ${title}`,
    };
  });
  return { title, commit };
}

/** Deletes a page. Throws what `editPage` throws. */
export async function deletePage(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  name: string,
  { message, expected }: { message?: string | undefined; expected?: string | undefined } = {},
): Promise<void> {
  await commitTo(deps, viewer, at, message, async (wiki) => {
    const page = await pageAt(deps, wiki, name);
    if (page === null) throw pageNotFound();
    requireSame(page.oid, expected);
    return {
      operation: { kind: 'delete', path: page.path },
      pages: [{ action: 'deleted', title: page.title }],
      message: `Delete ${page.title}`,
    };
  });
}

function requireSame(oid: string, expected: string | undefined): void {
  if (expected !== undefined && expected !== oid)
    throw conflict(
      'page_changed',
      'Someone edited this page since you opened it. Review the current version, then save again.',
      {
        field: 'content',
      },
    );
}
