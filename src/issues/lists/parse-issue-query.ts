/** Filter of an issue list. Names are as the viewer wrote them; `@me` is the viewer. */
export interface IssueFilter {
  /** `any` means both, as the API lists them; a query names one. */
  kind: 'issue' | 'pull' | 'any';
  /** `merged` is for pull requests, which also count as `closed`. */
  state: 'open' | 'closed' | 'merged' | 'all';
  /** Issues must have all of them. */
  labels: string[];
  /** Issues must have none of them. */
  notLabels: string[];
  author: string | null;
  /** A username; `none` finds issues without an assignee. */
  assignee: string | null;
  mentions: string | null;
  /** A title; `none` finds issues without a milestone. */
  milestone: string | null;
  /** Whether to find only issues without labels. */
  noLabel: boolean;
  isLocked: boolean | null;
  isPinned: boolean | null;
  /** Pull requests only, like the four below. */
  isDraft: boolean | null;
  /** Combined verdict of the reviewers: the last one of each counts. */
  review: IssueReview | null;
  /** A username: a requested reviewer who has not answered. */
  reviewRequested: string | null;
  /** `organisation/team`. */
  teamReviewRequested: string | null;
  /** Base branch of the pull request. */
  base: string | null;
  /** Head branch: of its repository, or `owner:branch`, `owner/name:branch` of a fork. */
  head: string | null;
  sort: IssueSort;
  /** For lists over repositories: a handle, and `owner/name`; ignored elsewhere. */
  owner: string | null;
  repository: string | null;
  /** Each word occurs in the title or in a text of the issue. */
  words: string[];
}

export type IssueReview = 'none' | 'approved' | 'changes_requested';
export const issueReviews: readonly IssueReview[] = ['none', 'approved', 'changes_requested'];

export type IssueSort = 'newest' | 'oldest' | 'updated' | 'least-updated' | 'comments' | 'least-comments';
export const issueSorts: readonly IssueSort[] = [
  'newest',
  'oldest',
  'updated',
  'least-updated',
  'comments',
  'least-comments',
];

/** Spellings of other forges. */
const sortNames: Readonly<Record<string, IssueSort>> = {
  'created-desc': 'newest',
  'created-asc': 'oldest',
  'updated-desc': 'updated',
  'updated-asc': 'least-updated',
  'comments-desc': 'comments',
  'comments-asc': 'least-comments',
};

interface ParsedIssueQuery {
  filter: IssueFilter;
  /** Unknown terms, verbatim; they do not filter. */
  unknown: string[];
}

export const noFilter: IssueFilter = Object.freeze({
  kind: 'issue',
  state: 'open',
  labels: [],
  notLabels: [],
  author: null,
  assignee: null,
  mentions: null,
  milestone: null,
  noLabel: false,
  isLocked: null,
  isPinned: null,
  isDraft: null,
  review: null,
  reviewRequested: null,
  teamReviewRequested: null,
  base: null,
  head: null,
  sort: 'newest',
  owner: null,
  repository: null,
  words: [],
});

/** Limit of parsed terms; further ones are ignored. Nobody types more than ten words and labels. */
const bounds = { characters: 1_000, values: 10 };

/** A term: `key:value`, `-key:value`, or a word; values and words with spaces are quoted. */
const term = /(-?)(?:([a-z][a-z-]{0,29}):)?(?:"([^"]*)"?|([^\s"]+))/gi;

/**
 * Parses a query from the search box of a list: `is:open label:bug author:alice no:assignee sort:updated roof`. Linear.
 */
export function parseIssueQuery(text: string): ParsedIssueQuery {
  const filter: IssueFilter = { ...noFilter, labels: [], notLabels: [], words: [] };
  const unknown: string[] = [];
  for (const match of text.slice(0, bounds.characters).matchAll(term)) {
    const [whole, minus = '', key, quoted, plain] = match;
    const value = quoted ?? plain ?? '';
    if (value === '') continue;
    if (key === undefined) add(filter.words, minus + value);
    else if (!apply(filter, key.toLowerCase(), value, minus === '-')) unknown.push(whole);
  }
  return { filter, unknown };
}

function apply(filter: IssueFilter, key: string, value: string, isNot: boolean): boolean {
  if (key === 'label') {
    add(isNot ? filter.notLabels : filter.labels, value);
    return true;
  }
  if (isNot) return key === 'is' && applyNot(filter, value.toLowerCase());
  switch (key) {
    case 'is':
      return applyIs(filter, value.toLowerCase());
    case 'state':
      return ['open', 'closed', 'merged', 'all'].includes(value) && applyIs(filter, value);
    case 'author':
      filter.author = value;
      return true;
    case 'assignee':
      filter.assignee = value;
      return true;
    case 'mentions':
      filter.mentions = value;
      return true;
    case 'milestone':
      filter.milestone = value;
      return true;
    case 'review':
      return applyReview(filter, value.toLowerCase());
    case 'review-requested':
      filter.reviewRequested = value;
      return true;
    case 'team-review-requested':
      filter.teamReviewRequested = value;
      return true;
    case 'base':
      filter.base = value;
      return true;
    case 'head':
      filter.head = value;
      return true;
    case 'owner':
    case 'org':
    case 'user':
      filter.owner = value;
      return true;
    case 'repo':
      filter.repository = value;
      return true;
    case 'no':
      return applyNo(filter, value.toLowerCase());
    case 'sort':
      return applySort(filter, value.toLowerCase());
    default:
      return false;
  }
}

function applyIs(filter: IssueFilter, value: string): boolean {
  if (value === 'open' || value === 'closed' || value === 'merged' || value === 'all') filter.state = value;
  else if (value === 'issue') filter.kind = 'issue';
  else if (value === 'pull' || value === 'pr') filter.kind = 'pull';
  else if (value === 'draft') filter.isDraft = true;
  else if (value === 'locked') filter.isLocked = true;
  else if (value === 'pinned') filter.isPinned = true;
  else return false;
  return true;
}

function applyNot(filter: IssueFilter, value: string): boolean {
  if (value === 'draft') filter.isDraft = false;
  else if (value === 'locked') filter.isLocked = false;
  else if (value === 'pinned') filter.isPinned = false;
  else return false;
  return true;
}

function applyNo(filter: IssueFilter, value: string): boolean {
  if (value === 'assignee') filter.assignee = 'none';
  else if (value === 'milestone') filter.milestone = 'none';
  else if (value === 'label') filter.noLabel = true;
  else return false;
  return true;
}

function applyReview(filter: IssueFilter, value: string): boolean {
  const found = issueReviews.find((review) => review === value);
  if (found === undefined) return false;
  filter.review = found;
  return true;
}

function applySort(filter: IssueFilter, value: string): boolean {
  const found = issueSorts.find((sort) => sort === (sortNames[value] ?? value));
  if (found === undefined) return false;
  filter.sort = found;
  return true;
}

function add(values: string[], value: string): void {
  if (values.length < bounds.values && !values.includes(value)) values.push(value);
}

/** Formats a filter as a query that `parseIssueQuery` parses back; for links that change one field. */
export function formatIssueQuery(filter: IssueFilter): string {
  const quote = (value: string): string => (/[\s"]/.test(value) ? `"${value.replaceAll('"', '')}"` : value);
  const one = (key: string, value: string | null): string[] =>
    value === null ? [] : [value === 'none' ? `no:${key}` : `${key}:${quote(value)}`];
  /** Fields where `none` is an ordinary value. */
  const named = (key: string, value: string | null): string[] => (value === null ? [] : [`${key}:${quote(value)}`]);
  const flag = (name: string, value: boolean | null): string[] =>
    value === null ? [] : [`${value ? '' : '-'}is:${name}`];
  return [
    ...(filter.kind === 'pull' ? ['is:pull'] : []),
    `is:${filter.state}`,
    ...filter.labels.map((label) => `label:${quote(label)}`),
    ...filter.notLabels.map((label) => `-label:${quote(label)}`),
    ...(filter.noLabel ? ['no:label'] : []),
    ...one('author', filter.author),
    ...one('assignee', filter.assignee),
    ...one('mentions', filter.mentions),
    ...one('milestone', filter.milestone),
    ...flag('locked', filter.isLocked),
    ...flag('pinned', filter.isPinned),
    ...flag('draft', filter.isDraft),
    ...named('review', filter.review),
    ...one('review-requested', filter.reviewRequested),
    ...one('team-review-requested', filter.teamReviewRequested),
    ...named('base', filter.base),
    ...named('head', filter.head),
    ...one('owner', filter.owner),
    ...one('repo', filter.repository),
    ...(filter.sort === noFilter.sort ? [] : [`sort:${filter.sort}`]),
    ...filter.words.map(quote),
  ].join(' ');
}
