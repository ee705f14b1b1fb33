import { notFound } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { footerTitle, isPageFile, sidebarTitle, titleOfFile } from './page-names.ts';
import type { Wiki } from './wiki-repository.ts';

/** A page as a file in a commit. */
export interface WikiPage {
  title: string;
  path: string;
  /** Id of its blob. */
  oid: string;
  /** Size of its text, in bytes. */
  size: number;
}

/** Limit of wiki files to scan. */
const maxFiles = 10_000;

export const pageNotFound = () => notFound('page_not_found', 'There is no such page in this wiki.');

/**
 * The pages of a commit by title. Only regular files are pages: symbolic links and submodules are skipped, so that no
 * page leads out of the wiki.
 * @param oid defaults to the newest commit
 */
export async function listPages(
  { git }: Pick<RepositoryDeps, 'git'>,
  { path, tip }: Pick<Wiki, 'path' | 'tip'>,
  oid: string | null = tip,
): Promise<WikiPage[]> {
  if (oid === null) return [];
  const { files } = await git.queries.listFiles(path, oid, { limit: maxFiles });
  return files
    .map(({ path: file, oid, size }) => ({ title: titleOfFile(file.toString()), path: file.toString(), oid, size }))
    .filter(({ path: file }) => isPageFile(file))
    .sort((one, other) => (one.title < other.title ? -1 : one.title > other.title ? 1 : 0));
}

const fold = (title: string): string =>
  title
    .normalize('NFC')
    .toLowerCase()
    .replace(/[-\s]+/g, ' ');

/** Finds the page with a title: exactly as written, else ignoring case or with hyphens. */
export const pageCalled = (pages: readonly WikiPage[], title: string): WikiPage | null =>
  pages.find((page) => page.title === title) ?? pages.find((page) => fold(page.title) === fold(title)) ?? null;

export const pageAt = async (
  deps: Pick<RepositoryDeps, 'git'>,
  wiki: Pick<Wiki, 'path' | 'tip'>,
  title: string,
): Promise<WikiPage | null> => pageCalled(await listPages(deps, wiki), title);

/** Pages for a list, without the sidebar and footer. */
export const contentPages = (pages: readonly WikiPage[]): WikiPage[] =>
  pages.filter(({ title }) => title !== sidebarTitle && title !== footerTitle);
