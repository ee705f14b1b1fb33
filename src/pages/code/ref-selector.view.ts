import type { RefListing, RefPath } from '../../git/index.ts';
import { viewName } from '../app/printable-names.ts';
import { codeUrl, encodePath } from '../app/code-urls.ts';
import type { CodePage } from '../app/code-urls.ts';
import { labelOf } from './breadcrumbs.view.ts';

interface Choice {
  name: string;
  url: string;
  isCurrent: boolean;
}

/** The menu that links to the same path on another branch or tag. */
interface RefSelectorView {
  label: string;
  kind: RefPath['kind'];
  /** The same path at the tag, or at the branch, that has the same name, where the URL does not tell them apart. */
  twin: string | null;
  branches: Choice[];
  tags: Choice[];
  /** There are more refs than the menu shows. */
  hasMore: boolean;
  /** Target of the form that accepts any name. */
  action: string;
  page: CodePage;
  path: string;
}

export const shownInMenu = { branches: 12, tags: 8 };

/** The default branch and the current one, then the others by name; reads only as many as the menu shows. */
function firstBranches(refs: RefListing, wanted: readonly (string | null)[]): string[] {
  const first = new Set(wanted.filter((name) => name !== null && refs.has(`refs/heads/${name}`)) as string[]);
  const others = refs.page('refs/heads/', 0, shownInMenu.branches).flatMap(({ name }) => (first.has(name) ? [] : name));
  return [...[...first].sort(), ...others].slice(0, shownInMenu.branches);
}

interface SelectorInput {
  repositoryUrl: string;
  refs: RefListing;
  /** The names of the newest tags, at least as many as the menu shows. */
  newestTags: readonly string[];
  at: RefPath;
  page: CodePage;
  defaultBranch: string | null;
}

/** The tag of a branch, or the branch of a tag, that has the same name. */
const twinOf = ({ kind, name }: RefPath): string => `refs/${kind === 'branch' ? 'tags' : 'heads'}/${name}`;

export function viewRefSelector({
  repositoryUrl,
  refs,
  newestTags,
  at,
  page,
  defaultBranch,
}: SelectorInput): RefSelectorView {
  const choice =
    (kind: RefPath['kind']) =>
    (name: string): Choice => {
      const ref = kind === 'tag' && refs.has(`refs/heads/${name}`) ? `refs/tags/${name}` : name;
      return {
        name: viewName(name),
        // The path may be missing on that branch: the target page finds the nearest.
        url:
          at.file.length === 0
            ? codeUrl(repositoryUrl, page, ref)
            : `${repositoryUrl}/go?${new URLSearchParams({ ref, page, path: encodePath(at.file) })}`,
        isCurrent: at.kind === kind && at.name === name,
      };
    };
  return {
    label: labelOf(at),
    kind: at.kind,
    twin: at.isAmbiguous ? codeUrl(repositoryUrl, page, twinOf(at), at.file) : null,
    branches: firstBranches(refs, [defaultBranch, at.ref]).map(choice('branch')),
    tags: newestTags.slice(0, shownInMenu.tags).map(choice('tag')),
    hasMore: refs.count('refs/heads/') > shownInMenu.branches || refs.count('refs/tags/') > shownInMenu.tags,
    action: `${repositoryUrl}/go`,
    page,
    path: encodePath(at.file),
  };
}
