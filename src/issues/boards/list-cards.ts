import { visibleIssues } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { contains, selectRaw } from '../../db/index.ts';
import type { Database } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { buildConditions, scopeConditions } from '../lists/build-conditions.ts';
import type { IssueCondition } from '../lists/issue-condition.ts';
import type { IssueFilter } from '../lists/parse-issue-query.ts';
import { withDetails } from '../lists/read-issues.ts';
import type { ListedIssue } from '../lists/read-issues.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { BoardColumnRow } from '../schema/board-schema.ts';
import { findBoard } from './find-board.ts';
import type { Board, BoardPlace, FoundPlace } from './find-board.ts';
import { columnIn } from './manage-columns.ts';

/** Filter of a board. */
export interface BoardFilter {
  filter: IssueFilter;
  /** Null for issues and pull requests. */
  kind: IssueFilter['kind'] | null;
  /** Null for all. */
  state: Exclude<IssueFilter['state'], 'all'> | null;
}

export interface ColumnOfCards extends BoardColumnRow {
  /** From top to bottom. */
  cards: ListedIssue[];
  /** Number of cards that the viewer can see and that match the filter. */
  count: number;
  /** Key of the last card, if there are more. */
  next: string | null;
}

export interface BoardOfCards extends Board {
  mayEdit: boolean;
  columns: ColumnOfCards[];
}

/**
 * A board with the first cards in each column, or with further cards of one column. Omits cards of issues that the
 * viewer cannot read, also from the counts. Throws `board_not_found`, `board_column_not_found`, `invalid_page`.
 * @param only a column, with the key after which it continues; null for its first cards
 */
export async function readBoard(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
  id: string,
  {
    filter = null,
    only = null,
  }: { filter?: BoardFilter | null; only?: { columnId: string; after: string | null; limit: number } | null } = {},
): Promise<BoardOfCards> {
  const { board, place: found } = await findBoard(deps, viewer, place, id);
  const columns = only === null ? board.columns : [columnIn(board, only.columnId)];
  const conditions = await conditionsOf(deps, viewer, found, filter);
  const shown = { ...board, mayEdit: found.mayEdit };
  if (conditions === null)
    return { ...shown, columns: columns.map((each) => ({ ...each, cards: [], count: 0, next: null })) };
  const { after, limit } = only ?? { after: null, limit: limits.cardsShownPerColumn };
  const pages: CardPage[] = [];
  for (const { id: columnId } of columns) {
    const page = await readCards(deps.db, columnId, conditions, { after, limit });
    // If all cards are shown, their number is known without counting.
    const isAll = after === null && page.next === null;
    pages.push({ ...page, count: isAll ? page.ids.length : await countOf(deps.db, columnId, conditions) });
  }
  const issues = await issuesOf(
    deps,
    pages.flatMap(({ ids }) => ids),
  );
  return {
    ...shown,
    columns: columns.map((column, at) => ({
      ...column,
      cards: pages[at]!.ids.flatMap((issueId) => issues.get(issueId) ?? []),
      count: pages[at]!.count,
      next: pages[at]!.next,
    })),
  };
}

interface CardPage {
  ids: string[];
  count: number;
  next: string | null;
}

/** Conditions on `i` and `r`; null if nothing can match. */
async function conditionsOf(
  deps: IssueDeps,
  viewer: Viewer,
  { repository, repositoryId, organisationId }: FoundPlace,
  given: BoardFilter | null,
): Promise<IssueCondition[] | null> {
  // Excludes cards of other places that a trigger has not removed yet.
  const own = {
    sql: repositoryId === null ? 'r.owner_org_id = :placeId' : 'r.id = :placeId',
    parameters: { placeId: repositoryId ?? organisationId },
  };
  const readable = [own, visibleIssues(viewer, 'r', 'i')];
  if (given === null) return readable;
  const { filter, kind, state } = given;
  const [built, scoped] = await Promise.all([
    buildConditions(deps, viewer, repository, filter),
    repository === null ? scopeConditions(deps, filter) : [],
  ]);
  if (built === null || scoped === null) return null;
  const states = state === null ? null : { open: "'OPEN'", closed: "'CLOSED', 'MERGED'", merged: "'MERGED'" }[state];
  const words = filter.words.map((word, at) => ({
    sql: contains('lower(i.title)', `:word${at}`),
    parameters: { [`word${at}`]: word.toLowerCase() },
  }));
  return [
    ...readable,
    ...built,
    ...scoped,
    ...words,
    ...(kind === null || kind === 'any'
      ? []
      : [{ sql: 'i.kind = :boardKind', parameters: { boardKind: kind === 'pull' ? 'PULL' : 'ISSUE' } }]),
    ...(states === null ? [] : [{ sql: `i.state IN (${states})`, parameters: {} }]),
  ];
}

const joined = 'board_cards k CROSS JOIN issues i CROSS JOIN repositories r';
const where = (conditions: readonly IssueCondition[]): string =>
  ['i.id = k.issue_id', 'r.id = i.repository_id', ...conditions.map(({ sql }) => `(${sql})`)].join(' AND ');
const parametersOf = (conditions: readonly IssueCondition[]): Record<string, unknown> =>
  Object.assign({}, ...conditions.map(({ parameters }) => parameters));

async function countOf(db: Database, columnId: string, conditions: readonly IssueCondition[]): Promise<number> {
  const [row] = await selectRaw<{ n: number }>(
    db.read,
    `SELECT count(*) AS n FROM ${joined} WHERE k.column_id = :columnId AND ${where(conditions)}`,
    { ...parametersOf(conditions), columnId },
  );
  return Number(row!.n);
}

async function readCards(
  db: Database,
  columnId: string,
  conditions: readonly IssueCondition[],
  { after, limit }: { after: string | null; limit: number },
): Promise<Omit<CardPage, 'count'>> {
  const from = after === null ? null : readKey(after);
  const rows = await selectRaw<{ id: string; key: number }>(
    db.read,
    `SELECT k.issue_id AS id, k.order_key AS key FROM ${joined} WHERE k.column_id = :columnId
       ${from === null ? '' : 'AND (k.order_key, k.issue_id) > (:fromKey, :fromId)'} AND ${where(conditions)}
     ORDER BY k.order_key, k.issue_id LIMIT ${limit + 1}`,
    { ...parametersOf(conditions), columnId, ...(from !== null && { fromKey: from.key, fromId: from.id }) },
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    ids: page.map(({ id }) => id),
    next: rows.length > limit && last !== undefined ? `${last.key}.${last.id}` : null,
  };
}

function readKey(text: string): { key: number; id: string } {
  const [, key, id] = /^(-?\d{1,15})\.([0-9a-f-]{36})$/.exec(text) ?? [];
  if (key === undefined || id === undefined) throw invalid('invalid_page', 'This page address is not valid.');
  return { key: Number(key), id };
}

async function issuesOf(deps: IssueDeps, ids: readonly string[]): Promise<Map<string, ListedIssue>> {
  const found: ListedIssue[] = [];
  for (let at = 0; at < ids.length; at += 500) {
    const some = ids.slice(at, at + 500);
    const rows = await deps.db.read.find(issueSchema, { where: some.map((id) => ({ id })) });
    found.push(...(await withDetails(deps, rows)));
  }
  return new Map(found.map((issue) => [issue.id, issue]));
}

/**
 * The card that a viewer sees above or below another one in its column; null at the end. For a move by one place, which
 * skips cards hidden from the viewer.
 */
export async function neighbourOf(
  deps: IssueDeps,
  viewer: Viewer,
  found: FoundPlace,
  { columnId, issueId, orderKey }: { columnId: string; issueId: string; orderKey: number },
  direction: 'up' | 'down',
): Promise<string | null> {
  const conditions = await conditionsOf(deps, viewer, found, null);
  const [than, order] = direction === 'up' ? ['<', 'DESC'] : ['>', 'ASC'];
  const [row] = await selectRaw<{ id: string }>(
    deps.db.read,
    `SELECT k.issue_id AS id FROM ${joined} WHERE k.column_id = :columnId
       AND (k.order_key, k.issue_id) ${than} (:fromKey, :fromId) AND ${where(conditions!)}
     ORDER BY k.order_key ${order}, k.issue_id ${order} LIMIT 1`,
    { ...parametersOf(conditions!), columnId, fromKey: orderKey, fromId: issueId },
  );
  return row?.id ?? null;
}
