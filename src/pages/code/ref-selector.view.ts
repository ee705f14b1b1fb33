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

interface Names {
  branches: string[];
  newestTags: string[];
  tagCount: number;
}

/** Sorting is done once for each listing of refs, not for each page that shows it. */
const sorted = new WeakMap<ReadonlyMap<string, string>, Names>();

function namesOf(refs: ReadonlyMap<string, string>): Names {
  const known = sorted.get(refs);
  if (known) return known;
  const below = (prefix: string) =>
    [...refs.keys()].filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const tags = below('refs/tags/');
  const names = { branches: below('refs/heads/'), newestTags: newestVersions(tags, shown.tags), tagCount: tags.length };
  sorted.set(refs, names);
  return names;
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
  const all = namesOf(refs);
  const first = new Set([defaultBranch, at.ref]);
  const branches = [
    ...all.branches.filter((name) => first.has(name)),
    ...all.branches.filter((name) => !first.has(name)),
  ];
  return {
    label: labelOf(at),
    kind: at.kind,
    twin: at.isAmbiguous ? codeUrl(repositoryUrl, page, twinOf(at), at.file) : null,
    branches: branches.slice(0, shown.branches).map(choice('branch')),
    tags: all.newestTags.map(choice('tag')),
    hasMore: branches.length > shown.branches || all.tagCount > shown.tags,
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
