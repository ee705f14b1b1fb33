import type { SourceKind } from '../schema/source-kind.ts';
import { decodeSegments } from './decode-segments.ts';

/** Where a repository is there; texts name it by its address. */
export interface LinkSource {
  kind: SourceKind;
  /** Of its page, without a slash at the end. */
  url: string;
  /** `owner/name`; at GitLab with all groups in between. */
  project: string;
}

/** What an address of another forge names in a repository. */
export type SourceLink =
  | {
      kind: 'issue';
      /** What GitLab numbers apart; the others say either word for both. */
      numbered: 'issue' | 'pull';
      number: number;
      /** Origin of the entry in its log that the anchor names: `comment:7`. */
      entry: string | null;
      /** The page beside the talk. */
      part: 'changes' | 'commits' | null;
    }
  | { kind: 'commit'; oid: string }
  /** Segments behind the repository, escaped, by the words of GitHub and Gitea; `end` is a query and an anchor. */
  | { kind: 'page'; segments: string[]; end: string };

export interface ParsedLink {
  /** The repository, as its forge writes it. */
  project: string;
  link: SourceLink;
}

/** Pages that lead to the same page here, by their first word. */
const pageWords: ReadonlySet<string> = new Set([
  ...['blob', 'raw', 'blame', 'tree', 'src', 'commits', 'releases', 'tags', 'branches', 'compare', 'wiki', 'labels'],
  ...['milestones', 'activity', 'archive'],
]);
/** GitLab's words for the same. */
const gitlabWords: Readonly<Record<string, string>> = { wikis: 'wiki', work_items: 'issues' };

/**
 * What an address names at the server of a repository; null for anything that is not there. Whether it is here is not
 * asked. Linear in the address, which is bounded by the caller.
 */
export function parseSourceLink({ kind, url: home, project }: LinkSource, address: string): ParsedLink | null {
  const url = URL.parse(address);
  const own = URL.parse(home);
  if (url === null || own === null || !/^https?:$/.test(url.protocol)) return null;
  // The scheme may have changed since; `www.` is GitHub's other name.
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

/** Old addresses of GitLab have no `-` between the project and the page. */
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

/** Undefined for a page that has no like here. */
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

/** Lines: `#L3-L9`, GitLab's `#L3-9`. Queries are of the pages there. */
function endOf(kind: SourceKind, { hash }: URL): string {
  const [, from, to] = /^#L(\d{1,7})(?:C\d+)?(?:-L?(\d{1,7})(?:C\d+)?)?$/.exec(hash) ?? [];
  if (from === undefined) return kind === 'gitlab' ? '' : hash.replace(/[^\w#.~%-]/g, '');
  return to === undefined ? `#L${from}` : `#L${from}-L${to}`;
}
