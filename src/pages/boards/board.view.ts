import { repositoryUrl } from '../../http/index.ts';
import type { BoardFilter, BoardOfCards, ColumnOfCards, ListedIssue } from '../../issues/index.ts';
import { parseIssueQuery } from '../../issues/index.ts';
import type { IssuesDeps } from '../issues/deps.ts';
import { readPeople, viewIssueRow } from '../issues/issue-row.view.ts';
import type { IssueRowView } from '../issues/issue-row.view.ts';

interface CardView extends IssueRowView {
  /** Id of the issue. */
  id: string;
}

interface ColumnView {
  id: string;
  name: string;
  count: number;
  limit: number | null;
  isOver: boolean;
  rule: ColumnOfCards['rule'];
  label: string;
  cards: CardView[];
  /** Link to further cards; null where all are shown. */
  moreUrl: string | null;
}

const maxQuery = 1_000;

/** The filter of a board's search box: as in issue lists, but by default it includes all states. */
export function readBoardFilter(query: URLSearchParams): {
  text: string;
  filter: BoardFilter | null;
  unknown: string[];
} {
  const text = (query.get('q') ?? '').slice(0, maxQuery).trim();
  if (text === '') return { text, filter: null, unknown: [] };
  const { filter, unknown } = parseIssueQuery(text);
  const has = (words: RegExp): boolean => words.test(text);
  const hasState = has(/(?:^|\s)(?:is|state):(?:open|closed|merged)\b/i);
  const hasKind = has(/(?:^|\s)is:(?:issue|pr|pull)\b/i);
  return {
    text,
    filter: {
      filter,
      kind: hasKind ? filter.kind : null,
      state: hasState && filter.state !== 'all' ? filter.state : null,
    },
    unknown,
  };
}

/** The columns of a board with their cards. @param isOfMany whether cards show their repository */
export async function viewColumns(
  deps: IssuesDeps,
  { columns }: BoardOfCards,
  { url, query, isOfMany }: { url: string; query: string; isOfMany: boolean },
): Promise<ColumnView[]> {
  const cards = columns.flatMap((column) => column.cards);
  const [people, located] = await Promise.all([
    readPeople(deps, cards),
    deps.repositories.locate([...new Set(cards.map(({ repositoryId }) => repositoryId))]),
  ]);
  const viewCard = (issue: ListedIssue): CardView[] => {
    const place = located.get(issue.repositoryId);
    if (place === undefined) return [];
    const address = { owner: place.owner.handle, name: place.repository.name };
    const at = repositoryUrl(address);
    const isPrivate = place.repository.visibility === 'PRIVATE';
    const repository = isOfMany ? { name: address.name, url: at, isPrivate } : null;
    const row = viewIssueRow(issue, { repositoryUrl: at, people, repository, now: deps.clock.now() });
    return [{ ...row, id: issue.id }];
  };
  const more = (id: string, after: string): string =>
    `${url}?${new URLSearchParams({ ...(query === '' ? {} : { q: query }), column: id, after })}`;
  return columns.map((column) => ({
    id: column.id,
    name: column.name,
    count: column.count,
    limit: column.cardLimit,
    isOver: column.cardLimit !== null && column.count > column.cardLimit,
    rule: column.rule,
    label: column.label,
    cards: column.cards.flatMap(viewCard),
    moreUrl: column.next === null ? null : more(column.id, column.next),
  }));
}
