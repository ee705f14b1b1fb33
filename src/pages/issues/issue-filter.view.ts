import { formatNumber, t, translated } from '../../translation/index.ts';
import type { IssueFilter, IssueReview, IssueSort, Label, Milestone } from '../../issues/index.ts';
import { formatIssueQuery, issueReviews, issueSorts, noFilter, parseIssueQuery } from '../../issues/index.ts';
import { viewLabel } from './label.view.ts';
import type { LabelView } from './label.view.ts';

/** One menu item: links to the list with this filter, or without it where it is active. */
interface ChoiceView {
  text: string;
  url: string;
  isChosen: boolean;
}

interface IssueFilterView {
  /** The text of the search box. */
  text: string;
  states: ChoiceView[];
  labels: (ChoiceView & { label: LabelView })[];
  noLabel: ChoiceView;
  milestones: ChoiceView[];
  noMilestone: ChoiceView;
  assignees: ChoiceView[];
  /** For pull requests only. */
  reviews: ChoiceView[];
  author: string;
  assignee: string;
  sorts: ChoiceView[];
  /** Whether any filter besides the state and the sort is active. */
  isNarrowed: boolean;
  /** The list without any filter. */
  clear: string;
  /** Terms that were not understood, or have no meaning here. */
  unknown: string[];
}

/** Maximum number of menu items; other names can be typed into the box. */
const mostChoices = 100;
const maxQuery = 1_000;

const sortWords: Record<IssueSort, string> = translated({
  newest: 'issues.issue_filter.newest',
  oldest: 'issues.issue_filter.oldest',
  updated: 'issues.issue_filter.recently_updated',
  'least-updated': 'issues.issue_filter.least_recently_updated',
  comments: 'issues.issue_filter.most_commented',
  'least-comments': 'issues.issue_filter.least_commented',
});

const reviewWords: Record<IssueReview, string> = translated({
  none: 'issues.issue_filter.not_reviewed',
  approved: 'issues.issue_filter.approved',
  changes_requested: 'issues.issue_filter.changes_requested',
});

/**
 * The filter of a URL: `q` is the text of the search box; `state`, `label` (several), `author`, `assignee`, `milestone`
 * and `sort` override its terms. Forms and links of other forges use these parameters.
 */
export function readIssueFilter(query: URLSearchParams): { filter: IssueFilter; unknown: string[] } {
  const words = (query.get('q') ?? '').slice(0, maxQuery);
  const quoted = (value: string): string => value.replaceAll('"', '').trim();
  const given = (['state', 'author', 'assignee', 'milestone', 'sort'] as const).flatMap((name) => {
    const value = quoted(query.get(name) ?? '');
    if (value === '') return [];
    return [value === 'none' && (name === 'assignee' || name === 'milestone') ? `no:${name}` : `${name}:"${value}"`];
  });
  const labels = query
    .getAll('label')
    .map(quoted)
    .filter((label) => label !== '')
    .map((label) => `label:"${label}"`);
  return parseIssueQuery([words, ...given, ...labels].join(' '));
}

/** The URL of a list with a filter; default values are omitted. */
export function issueListUrl(base: string, filter: IssueFilter): string {
  const text = formatIssueQuery(filter);
  return text === formatIssueQuery(noFilter) ? base : `${base}?${new URLSearchParams({ q: text })}`;
}

/**
 * @param isSignedIn whether "assigned to you" has a meaning
 */
export function viewIssueFilter(
  base: string,
  { filter, unknown }: { filter: IssueFilter; unknown: readonly string[] },
  {
    labels,
    milestones,
    counts,
    isSignedIn,
    isOfPulls = false,
  }: {
    labels: readonly Label[];
    milestones: readonly Milestone[];
    counts: { open: number; closed: number } | null;
    isSignedIn: boolean;
    /** The list contains pull requests, which can be merged, drafts and reviewed. */
    isOfPulls?: boolean;
  },
): IssueFilterView {
  const url = (change: Partial<IssueFilter>): string => issueListUrl(base, { ...filter, ...change });
  const choose = (
    text: string,
    isChosen: boolean,
    on: Partial<IssueFilter>,
    off: Partial<IssueFilter>,
  ): ChoiceView => ({
    text,
    isChosen,
    url: url(isChosen ? off : on),
  });
  const isNarrowed = formatIssueQuery({ ...filter, state: 'open', sort: noFilter.sort }) !== formatIssueQuery(noFilter);
  const counted = (word: string, count: number | undefined): string =>
    isNarrowed || count === undefined ? word : `${formatNumber(count)} ${word.toLowerCase()}`;
  const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
  return {
    text: formatIssueQuery(filter),
    states: [
      {
        text: counted(t('issues.issue_filter.open'), counts?.open),
        url: url({ state: 'open' }),
        isChosen: filter.state === 'open',
      },
      ...(isOfPulls
        ? [
            {
              text: t('issues.issue_filter.merged'),
              url: url({ state: 'merged' }),
              isChosen: filter.state === 'merged',
            },
          ]
        : []),
      {
        text: counted(t('issues.issue_filter.closed'), counts?.closed),
        url: url({ state: 'closed' }),
        isChosen: filter.state === 'closed',
      },
      { text: t('issues.issue_filter.all'), url: url({ state: 'all' }), isChosen: filter.state === 'all' },
    ],
    labels: labels.slice(0, mostChoices).map((label) => {
      const isChosen = filter.labels.some((name) => same(name, label.name));
      const others = filter.labels.filter((name) => !same(name, label.name));
      const on = { labels: [...others, label.name], noLabel: false };
      return { ...choose(label.name, isChosen, on, { labels: others }), label: viewLabel(label) };
    }),
    noLabel: choose(
      t('issues.issue_filter.no_label'),
      filter.noLabel,
      { noLabel: true, labels: [] },
      { noLabel: false },
    ),
    milestones: milestones.slice(0, mostChoices).map(({ title }) => {
      const isChosen = filter.milestone !== null && same(filter.milestone, title);
      return choose(title, isChosen, { milestone: title }, { milestone: null });
    }),
    noMilestone: choose(
      t('issues.issue_filter.no_milestone'),
      filter.milestone === 'none',
      { milestone: 'none' },
      { milestone: null },
    ),
    assignees: [
      choose(t('issues.issue_filter.nobody'), filter.assignee === 'none', { assignee: 'none' }, { assignee: null }),
      ...(isSignedIn
        ? [
            choose(
              t('issues.issue_filter.assigned_to_you'),
              filter.assignee === '@me',
              { assignee: '@me' },
              { assignee: null },
            ),
          ]
        : []),
    ],
    reviews: isOfPulls
      ? [
          ...issueReviews.map((review) =>
            choose(reviewWords[review], filter.review === review, { review }, { review: null }),
          ),
          choose(t('issues.issue_filter.drafts'), filter.isDraft === true, { isDraft: true }, { isDraft: null }),
          ...(isSignedIn
            ? [
                choose(
                  t('issues.issue_filter.your_review_is_requested'),
                  filter.reviewRequested === '@me',
                  { reviewRequested: '@me' },
                  { reviewRequested: null },
                ),
              ]
            : []),
        ]
      : [],
    author: filter.author ?? '',
    assignee: filter.assignee === 'none' ? '' : (filter.assignee ?? ''),
    sorts: issueSorts.map((sort) => ({ text: sortWords[sort], url: url({ sort }), isChosen: filter.sort === sort })),
    isNarrowed,
    clear: base,
    unknown: [...unknown],
  };
}
