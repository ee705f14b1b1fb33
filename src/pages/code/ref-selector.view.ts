import { namesOfRefs } from '../../git/index.ts';
import type { RefPath } from '../../git/index.ts';
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
export interface RefSelectorView {
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

const shown = { branches: 12, tags: 8 };

/** Sorting is done once for each listing of refs, not for each page that shows it. */
const sorted = new WeakMap<ReadonlyMap<string, string>, string[]>();

function newestTagsOf(refs: ReadonlyMap<string, string>): string[] {
  const known = sorted.get(refs) ?? newestVersions(namesOfRefs(refs).tags, shown.tags);
  sorted.set(refs, known);
  return known;
}

/** The default branch and the one that is shown, then the others by name; no more are looked at than the menu has. */
function firstBranches(refs: ReadonlyMap<string, string>, wanted: readonly (string | null)[]): string[] {
  const first = new Set(wanted.filter((name) => name !== null && refs.has(`refs/heads/${name}`)) as string[]);
  const branches = [...first].sort();
  for (const name of namesOfRefs(refs).branches) {
    if (branches.length >= shown.branches) break;
    if (!first.has(name)) branches.push(name);
  }
  return branches;
}

interface SelectorInput {
  repositoryUrl: string;
  refs: ReadonlyMap<string, string>;
  at: RefPath;
  page: CodePage;
  defaultBranch: string | null;
}

/** The tag of a branch, or the branch of a tag, that has the same name. */
const twinOf = ({ kind, name }: RefPath): string => `refs/${kind === 'branch' ? 'tags' : 'heads'}/${name}`;

export function viewRefSelector({ repositoryUrl, refs, at, page, defaultBranch }: SelectorInput): RefSelectorView {
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
  const all = namesOfRefs(refs);
  return {
    label: labelOf(at),
    kind: at.kind,
    twin: at.isAmbiguous ? codeUrl(repositoryUrl, page, twinOf(at), at.file) : null,
    branches: firstBranches(refs, [defaultBranch, at.ref]).map(choice('branch')),
    tags: newestTagsOf(refs).map(choice('tag')),
    hasMore: all.branches.length > shown.branches || all.tags.length > shown.tags,
    action: `${repositoryUrl}/go`,
    page,
    path: encodePath(at.file),
  };
}

/** Made when first asked for: it reads all locales that there are. */
let byNumbers: Intl.Collator | undefined;
const unfinished = /^[-._~]?(?:rc|alpha|beta|pre|dev|a\d|b\d)/i;

/** Compares `v1.9` and `v1.10` as people do; `v2.0-rc1` comes before `v2.0`, and that before `v2.0.1`. */
export function compareVersions(a: string, b: string): number {
  if (a.startsWith(b) && unfinished.test(a.slice(b.length))) return -1;
  if (b.startsWith(a) && unfinished.test(b.slice(a.length))) return 1;
  return (byNumbers ??= new Intl.Collator('en', { numeric: true })).compare(a, b);
}

/**
 * Sorting thousands of tags for each page would cost more than the rest of it: names are compared only with the best
 * so far.
 */
function newestVersions(names: readonly string[], count: number): string[] {
  if (names.length <= 200) return names.toSorted((a, b) => compareVersions(b, a)).slice(0, count);
  const best: string[] = [];
  for (const name of names) {
    const last = best[count - 1];
    if (last !== undefined && compareVersions(name, last) <= 0) continue;
    best.push(name);
    best.sort((a, b) => compareVersions(b, a));
    best.length = Math.min(best.length, count);
  }
  return best;
}
