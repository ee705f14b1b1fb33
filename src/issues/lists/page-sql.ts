import type { Issue, IssueState } from '../schema/issue-schema.ts';
import type { IssueFilter, IssueSort } from './parse-issue-query.ts';
import type { PageSource } from '../text-index.ts';

/** Sort column; ties are sorted by number, or by id over repositories. */
interface IssueOrder {
  column: 'number' | 'created_at' | 'updated_at' | 'comment_count';
  isDown: boolean;
}

const orders: Record<IssueSort, IssueOrder> = {
  newest: { column: 'number', isDown: true },
  oldest: { column: 'number', isDown: false },
  updated: { column: 'updated_at', isDown: true },
  'least-updated': { column: 'updated_at', isDown: false },
  comments: { column: 'comment_count', isDown: true },
  'least-comments': { column: 'comment_count', isDown: false },
};

/** Over repositories, numbers are not unique. */
export function orderOf(sort: IssueSort, isInRepository: boolean): IssueOrder {
  const { column, isDown } = orders[sort];
  return { column: column === 'number' && !isInRepository ? 'created_at' : column, isDown };
}

/** Part of a list that one index has in order. */
interface ListPart {
  kind: Issue['kind'];
  state: IssueState;
}

export function partsOf({ state, kind }: Pick<IssueFilter, 'state' | 'kind'>): ListPart[] {
  if (kind === 'any') return [...partsOf({ state, kind: 'issue' }), ...partsOf({ state, kind: 'pull' })];
  const isPull = kind === 'pull';
  const states: Record<IssueFilter['state'], IssueState[]> = {
    open: ['OPEN'],
    closed: isPull ? ['CLOSED', 'MERGED'] : ['CLOSED'],
    // Issues are never merged: lists of issues read an index without rows.
    merged: ['MERGED'],
    all: isPull ? ['OPEN', 'CLOSED', 'MERGED'] : ['OPEN', 'CLOSED'],
  };
  return states[state].map((each) => ({ kind: isPull ? 'PULL' : 'ISSUE', state: each }));
}

interface PageQuery {
  /** Conditions on `i`, and on `r` (repositories) in a list over repositories. */
  conditions: readonly string[];
  parts: readonly ListPart[];
  isInRepository: boolean;
  order: IssueOrder;
  /** Whether it continues after `:fromValue` and `:fromTie`. */
  isContinued: boolean;
}

/**
 * The statement of a page: ids in the order of the list, `:limit` of them after skipping `:skip` (`:upTo` together).
 * Reads each part from its own index in the order of the list, and merges the parts. Given a statement of few ids,
 * looks these up and sorts them instead.
 */
export function pageSql(question: PageQuery, { ids, and }: PageSource): string {
  const { conditions, parts, isInRepository, order, isContinued } = question;
  const tieBreaker = isInRepository ? 'number' : 'id';
  const isByTie = order.column === tieBreaker;
  const [than, direction] = order.isDown ? ['<', 'DESC'] : ['>', 'ASC'];
  const behind = isByTie
    ? `i.${tieBreaker} ${than} :fromTie`
    : `(i.${order.column}, i.${tieBreaker}) ${than} (:fromValue, :fromTie)`;
  const joined = isInRepository ? '' : ' CROSS JOIN repositories r';
  const where = (among: readonly ListPart[], ...first: string[]): string =>
    [
      ...first,
      isInRepository ? 'i.repository_id = :repositoryId' : 'r.id = i.repository_id',
      `${oneOf('kind', among)} AND i.deleted_at IS NULL AND i.held_at IS NULL`,
      ...(isContinued ? [behind] : []),
      ...conditions,
      ...(and === undefined ? [] : [and]),
    ].join(' AND ');
  const ordered = `ORDER BY ${isByTie ? '' : `i.${order.column} ${direction}, `}i.${tieBreaker} ${direction}`;
  const limited = 'LIMIT :limit OFFSET :skip';
  if (ids !== undefined) {
    return `SELECT i.id AS id FROM (SELECT DISTINCT id FROM (${ids}) m) d CROSS JOIN issues i${joined}
      WHERE ${where(parts, 'i.id = d.id', oneOf('state', parts))} ${ordered} ${limited}`;
  }
  const [first, ...others] = parts.map(
    (part) =>
      `SELECT i.id AS id, i.${order.column} AS value, i.${tieBreaker} AS tie FROM issues i${joined}
        WHERE ${where([part], oneOf('state', [part]))} ${ordered}`,
  );
  if (others.length === 0) return `${first!} ${limited}`;
  const all = [first, ...others].map((statement) => `SELECT * FROM (${statement} LIMIT :upTo) s`).join(' UNION ALL ');
  return `SELECT u.id AS id FROM (${all}) u ORDER BY u.value ${direction}, u.tie ${direction} ${limited}`;
}

function oneOf(column: keyof ListPart, parts: readonly ListPart[]): string {
  const values = [...new Set(parts.map((part) => `'${part[column]}'`))];
  return values.length === 1 ? `i.${column} = ${values[0]}` : `i.${column} IN (${values.join(', ')})`;
}
