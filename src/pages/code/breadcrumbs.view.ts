import type { RefPath } from '../../git/index.ts';
import { viewName } from '../app/printable-names.ts';
import { codeUrl, splitPath } from '../app/code-urls.ts';
import type { CodePage } from '../app/code-urls.ts';

interface Crumb {
  name: string;
  url: string;
}

/** The location of a page in a repository. */
interface BreadcrumbsView {
  kind: RefPath['kind'];
  /** The short name of the ref, or the short id of a commit. */
  label: string;
  /** The parent folders from the root; empty at the root. */
  crumbs: Crumb[];
  /** The last part of the path; null at the root. */
  name: string | null;
  /** The whole path for display, and exactly as it is for copying. */
  path: string;
  exactPath: string;
  /** Permalink of this page at its commit; null if this is the permalink. */
  permalink: string | null;
  /** The same location on other pages. */
  history: string;
  find: string;
}

const shortId = 10;

export const labelOf = ({ kind, name, oid }: RefPath): string =>
  kind === 'commit' ? oid.slice(0, shortId) : viewName(name);

export function viewBreadcrumbs(
  repositoryUrl: string,
  repositoryName: string,
  at: RefPath,
  page: CodePage,
): BreadcrumbsView {
  const { ref, oid, file, kind } = at;
  const parts = file.length === 0 ? [] : file.toString('latin1').split('/');
  const crumbs = parts.map((_part, depth): Crumb => {
    const folder = Buffer.from(parts.slice(0, depth).join('/'), 'latin1');
    return {
      name: depth === 0 ? repositoryName : viewName(splitPath(folder).name.toString()),
      url: codeUrl(repositoryUrl, 'tree', ref, folder),
    };
  });
  return {
    kind,
    label: labelOf(at),
    crumbs,
    name: file.length === 0 ? null : viewName(splitPath(file).name.toString()),
    path: viewName(file.toString()),
    exactPath: file.toString(),
    permalink: kind === 'commit' && ref === oid ? null : codeUrl(repositoryUrl, page, oid, file),
    history: codeUrl(repositoryUrl, 'commits', ref, file),
    find: codeUrl(repositoryUrl, 'find', ref),
  };
}
