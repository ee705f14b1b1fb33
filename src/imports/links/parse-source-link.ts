import type { SourceKind } from '../schema/source-kind.ts';
import { decodeSegments } from './decode-segments.ts';

/** Location of a repository at the source; texts reference it by URL. */
export interface LinkSource {
  kind: SourceKind;
  /** Page URL, without a trailing slash. */
  url: string;
  /** `owner/name`; for GitLab including all groups. */
  project: string;
}

/** The item of a repository that a URL of another forge refers to. */
export type SourceLink =
  | {
      kind: 'issue';
      /** GitLab numbers them separately; other forges use either word for both. */
      numbered: 'issue' | 'pull';
      number: number;
      /** Origin of the log entry in the anchor: `comment:7`. */
      entry: string | null;
      /** Subpage of the issue or pull request. */
      part: 'changes' | 'commits' | null;
    }
  | { kind: 'commit'; oid: string }
  /** Escaped segments after the repository, in GitHub's and Gitea's terms; `end` is a query and an anchor. */
  | { kind: 'page'; segments: string[]; end: string };

export interface ParsedLink {
  /** The repository, as its forge spells it. */
  project: string;
  link: SourceLink;
}

/** Pages that have an equivalent here, by their first segment. */
const pageWords: ReadonlySet<string> = new Set([
  ...['blob', 'raw', 'blame', 'tree', 'src', 'commits', 'releases', 'tags', 'branches', 'compare', 'wiki', 'labels'],
  ...['milestones', 'activity', 'archive'],
]);
/** GitLab's segments for the same. */
const gitlabWords: Readonly<Record<string, string>> = { wikis: 'wiki', work_items: 'issues' };

/**
 * Parses a URL on the server of a repository; null for any other URL. Does not check that the item exists here. Linear
 * in the URL, whose length the caller limits.
 */
export function parseSourceLink({ kind, url: home, project }: LinkSource, address: string): ParsedLink | null {
  const url = URL.parse(address);
  const own = URL.parse(home);
  if (url === null || own === null || !/^https?:$/.test(url.protocol)) return null;
  // The scheme may have changed since; `www.` is an alias of GitHub.
  if (url.host.replace(/^www\./, '') !== own.host.replace(/^www\./, '')) return null;
  const segments = url.pathname.split('/').filter(Boolean);
  const above = own.pathname.split('/').filter(Boolean).slice(0, -project.split('/').length);
  if (above.some((part, at) => segments[at] !== part)) return null;
  const below = segments.slice(above.length);
  const split = kind === 'gitlab' ? splitGitlab(below, project) : splitPlain(below);
  if (split === null) return null;
  const named = decodeSegments(split.project);
  if (named === null) return null;
  const link = readPage(kind, split.rest, url);
  return link === null ? null : { project: named.join('/').replace(/\.git$/i, ''), link };
}

interface Split {
  project: string[];
  rest: string[];
}

const splitPlain = (segments: readonly string[]): Split | null =>
  segments.length < 3 ? null : { project: segments.slice(0, 2), rest: segments.slice(2) };

/** Old URLs of GitLab have no `-` between the project and the page. */
function splitGitlab(segments: readonly string[], home: string): Split | null {
  const dash = segments.indexOf('-');
  if (dash >= 2) return { project: segments.slice(0, dash), rest: segments.slice(dash + 1) };
  const own = home.split('/').length;
  const isHome = segments.slice(0, own).join('/').toLowerCase() === home.toLowerCase();
  return isHome && segments.length > own ? { project: segments.slice(0, own), rest: segments.slice(own) } : null;
}

function readPage(kind: SourceKind, [first = '', ...rest]: readonly string[], url: URL): SourceLink | null {
  const word = (kind === 'gitlab' && gitlabWords[first]) || first;
  const end = endOf(kind, url);
  switch (word) {
    case 'issues':
    case 'pull':
    case 'pulls':
    case 'merge_requests': {
      const number = /^[1-9]\d{0,8}$/.test(rest[0] ?? '') ? Number(rest[0]) : null;
      if (number === null) return rest.length > 0 ? null : { kind: 'page', segments: [listOf(word)], end: '' };
      const part = partOf(rest[1]);
      if (rest.length > 1 && part === undefined) return null;
      const numbered = word === 'issues' ? 'issue' : 'pull';
      return { kind: 'issue', numbered, number, entry: entryOf(url.hash), part: part ?? null };
    }
    case 'commit':
      return rest.length === 1 && /^[0-9a-f]{7,64}$/.test(rest[0]!) ? { kind: 'commit', oid: rest[0]! } : null;
    case 'releases': {
      const tag = kind === 'gitlab' && rest.length > 0 && rest[0] !== 'permalink' ? ['tag', ...rest] : rest;
      return { kind: 'page', segments: ['releases', ...tag], end };
    }
    default:
      return pageWords.has(word) ? { kind: 'page', segments: [word, ...rest], end } : null;
  }
}

const listOf = (word: string): string => (word === 'issues' ? 'issues' : 'pulls');

/** Undefined for a page without an equivalent here. */
function partOf(word: string | undefined): 'changes' | 'commits' | undefined {
  if (word === 'files' || word === 'diffs' || word === 'changes') return 'changes';
  return word === 'commits' ? 'commits' : undefined;
}

/** `#issuecomment-7`, GitLab's `#note_7`, `#pullrequestreview-7`. */
function entryOf(hash: string): string | null {
  const [, comment] = /^#(?:issuecomment-|note_)(\d{1,19})$/.exec(hash) ?? [];
  if (comment !== undefined) return `comment:${comment}`;
  const [, review] = /^#pullrequestreview-(\d{1,19})$/.exec(hash) ?? [];
  return review === undefined ? null : `review:${review}`;
}

/** Lines: `#L3-L9`, GitLab's `#L3-9`. Queries are specific to the source's pages. */
function endOf(kind: SourceKind, { hash }: URL): string {
  const [, from, to] = /^#L(\d{1,7})(?:C\d+)?(?:-L?(\d{1,7})(?:C\d+)?)?$/.exec(hash) ?? [];
  if (from === undefined) return kind === 'gitlab' ? '' : hash.replace(/[^\w#.~%-]/g, '');
  return to === undefined ? `#L${from}` : `#L${from}-L${to}`;
}
