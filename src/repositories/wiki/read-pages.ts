import { notFound } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { footerTitle, isPageFile, sidebarTitle, titleOfFile } from './page-names.ts';
import type { Wiki } from './wiki-repository.ts';

/** A page as a file of a commit. */
export interface WikiPage {
  title: string;
  path: string;
  /** Id of its blob. */
  oid: string;
  /** Of its text, in bytes. */
  size: number;
}

/** Files of a wiki that are looked through. */
const maxFiles = 10_000;

export const pageNotFound = () => notFound('page_not_found', 'There is no such page in this wiki.');

/**
 * The pages of a commit by title. A page is a file: symbolic links and submodules are none, so that no page leads out
 * of the wiki.
 * @param oid the newest commit when left out
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

/** The page of a title among some: written so, else in another case or with hyphens. */
export const pageCalled = (pages: readonly WikiPage[], title: string): WikiPage | null =>
  pages.find((page) => page.title === title) ?? pages.find((page) => fold(page.title) === fold(title)) ?? null;

export const pageAt = async (
  deps: Pick<RepositoryDeps, 'git'>,
  wiki: Pick<Wiki, 'path' | 'tip'>,
  title: string,
): Promise<WikiPage | null> => pageCalled(await listPages(deps, wiki), title);

/** The pages that a list shows: without those beside the others. */
export const contentPages = (pages: readonly WikiPage[]): WikiPage[] =>
  pages.filter(({ title }) => title !== sidebarTitle && title !== footerTitle);
