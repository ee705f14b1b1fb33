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

/** The menu that leads to the same path on another branch or tag. */
interface RefSelectorView {
  label: string;
  kind: RefPath['kind'];
  /** The same place of the tag, or of the branch, that has the same name, where the address names neither in full. */
  twin: string | null;
  branches: Choice[];
  tags: Choice[];
  /** There are more than the menu shows. */
  hasMore: boolean;
  /** Where the form goes that takes any name. */
  action: string;
  page: CodePage;
  path: string;
}

export const shownInMenu = { branches: 12, tags: 8 };

/** The default branch and the one that is shown, then the others by name; no more are looked at than the menu has. */
function firstBranches(refs: RefListing, wanted: readonly (string | null)[]): string[] {
  const first = new Set(wanted.filter((name) => name !== null && refs.has(`refs/heads/${name}`)) as string[]);
  const others = refs.page('refs/heads/', 0, shownInMenu.branches).flatMap(({ name }) => (first.has(name) ? [] : name));
  return [...[...first].sort(), ...others].slice(0, shownInMenu.branches);
}

interface SelectorInput {
  repositoryUrl: string;
  refs: RefListing;
  /** The names of the newest tags, as many as the menu shows or more. */
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
        // Not every branch has every path: the page behind this finds the nearest.
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
