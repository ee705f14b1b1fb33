import { In } from 'typeorm';
import type { Database, KeysetPage, KeysetPaging } from '../../db/index.ts';
import { readKeysetPage } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { issueLabelSchema, labelSchema } from '../schema/classification-schema.ts';
import type { LabelRow } from '../schema/classification-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { assigneeSchema } from '../schema/participation-schema.ts';
import { queryWithNamedParameters } from './query-with-named-parameters.ts';
import type { IssueCondition } from './issue-condition.ts';
import { orderOf, pageSql, partsOf } from './page-sql.ts';
import type { IssueFilter } from './parse-issue-query.ts';
import type { PageSource, TextHit } from '../text-index.ts';

/** An issue in a list. */
export interface ListedIssue extends Issue {
  labels: LabelRow[];
  /** UUIDs. */
  assignees: string[];
}

export interface FoundIssue extends ListedIssue {
  /** The entry with the first word of the filter; null for a list without words. */
  position: number | null;
}

const properties = {
  number: 'number',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  comment_count: 'commentCount',
} as const;

/**
 * A page of issues. A list with words is read from the text index, outside the main thread. Otherwise the rarest
 * indexed condition decides: few issues are looked up and sorted, else the list is read in order and the conditions are
 * evaluated row by row.
 * @param repositoryId null for a list over repositories
 */
export async function readIssues(
  deps: IssueDeps,
  {
    repositoryId,
    filter,
    conditions,
  }: { repositoryId: string | null; filter: IssueFilter; conditions: IssueCondition[] },
  paging: KeysetPaging,
): Promise<KeysetPage<FoundIssue>> {
  const isInRepository = repositoryId !== null;
  const order = orderOf(filter.sort, isInRepository);
  const keyOf = (issue: Issue): string =>
    `${issue[properties[order.column]]}.${isInRepository ? issue.number : issue.id}`;
  const page = await readKeysetPage(paging, keyOf, async ({ key, isBackwards, limit, skip }): Promise<FoundIssue[]> => {
    const from = key === null ? null : readKey(key, isInRepository);
    const question = {
      conditions: conditions.map(({ sql }) => sql),
      parts: partsOf(filter),
      isInRepository,
      order: { ...order, isDown: order.isDown !== isBackwards },
      isContinued: from !== null,
    };
    const parameters: Record<string, unknown> = {
      ...Object.assign({}, ...conditions.map((condition) => condition.parameters)),
      ...(isInRepository && { repositoryId }),
      ...(from !== null && { fromValue: from.value, fromTie: from.tieBreaker }),
      limit,
      skip,
      upTo: limit + skip,
    };
    const few = await fewIssues(deps.db, conditions, repositoryId, filter.words.length > 0 ? mostCompared : mostSorted);
    const statement = (source: PageSource): string => pageSql(question, { ...few, ...source });
    const hits = await (filter.words.length > 0 || !isInRepository
      ? deps.texts.find({
          words: filter.words,
          repositoryId,
          isNarrow: few !== null,
          page: statement,
          parameters,
        })
      : queryWithNamedParameters<TextHit>(deps.db, statement({}), parameters));
    return inOrder(deps.db, hits);
  });
  const rows = await withDetails(deps, page.rows);
  return { ...page, rows: rows.map((row, at) => ({ ...row, position: page.rows[at]!.position })) };
}

/** Above this limit, looking up and sorting takes longer than reading the list in order. */
const mostSorted = 2_000;
/** Limit with words, when texts are compared one by one. */
const mostCompared = 500;
/**
 * Limit without words, but with a second condition, for which reading in order may find a page only after many rows.
 */
const mostSortedOfTwo = 40_000;

/** The issues of the rarest indexed condition, if few; null otherwise. */
async function fewIssues(
  db: Database,
  conditions: readonly IssueCondition[],
  repositoryId: string | null,
  most: number,
): Promise<Pick<PageSource, 'ids'> | null> {
  const indexed = conditions.filter(({ ids }) => ids !== undefined);
  let [rarest, fewest]: [IssueCondition | null, number] = [
    null,
    indexed.length > 1 && most === mostSorted ? mostSortedOfTwo : most,
  ];
  for (const condition of indexed) {
    const counted = `SELECT count(*) AS n FROM (SELECT m.id FROM (${condition.ids!}) m LIMIT ${fewest + 1}) c`;
    const [row] = await queryWithNamedParameters<{ n: number }>(db, counted, { ...condition.parameters, repositoryId });
    if (Number(row!.n) <= fewest) [rarest, fewest] = [condition, Number(row!.n)];
  }
  if (rarest === null) return null;
  const others = conditions.flatMap(({ onId }, at) =>
    onId === undefined || conditions[at] === rarest ? [] : onId('m.id'),
  );
  // Conditions that need no issue row are evaluated before it is looked up.
  return {
    ids: others.length === 0 ? rarest.ids! : `SELECT m.id AS id FROM (${rarest.ids!}) m WHERE ${others.join(' AND ')}`,
  };
}

function readKey(key: string, isInRepository: boolean): { value: number; tieBreaker: number | string } {
  const form = isInRepository ? /^(\d{1,15})\.(\d{1,15})$/ : /^(\d{1,15})\.([0-9a-f-]{36})$/;
  const [, value, tieBreaker] = form.exec(key) ?? [];
  if (value === undefined || tieBreaker === undefined) throw invalid('invalid_page', 'This page address is not valid.');
  return { value: Number(value), tieBreaker: isInRepository ? Number(tieBreaker) : tieBreaker };
}

/** The rows of ids; omits issues removed since the ids were read. */
async function inOrder({ read }: Database, hits: readonly TextHit[]): Promise<FoundIssue[]> {
  if (hits.length === 0) return [];
  const rows = await read.findBy(issueSchema, { id: In(hits.map(({ id }) => id)) });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return hits.flatMap(({ id, position }) => {
    const row = byId.get(id);
    return row === undefined ? [] : [{ ...row, labels: [], assignees: [], position: position ?? null }];
  });
}

/** Adds the labels and assignees of a page of issues. */
export async function withDetails({ db }: Pick<IssueDeps, 'db'>, issues: readonly Issue[]): Promise<ListedIssue[]> {
  if (issues.length === 0) return [];
  const ids = issues.map(({ id }) => id);
  const [labels, assignees] = await Promise.all([
    db.read.findBy(issueLabelSchema, { issueId: In(ids) }),
    db.read.findBy(assigneeSchema, { issueId: In(ids) }),
  ]);
  const labelIds = [...new Set(labels.map(({ labelId }) => labelId))];
  const rows = labelIds.length === 0 ? [] : await db.read.findBy(labelSchema, { id: In(labelIds) });
  const labelById = new Map(rows.map((row) => [row.id, row]));
  return issues.map((issue) => ({
    ...issue,
    labels: labels
      .filter(({ issueId }) => issueId === issue.id)
      .flatMap(({ labelId }) => labelById.get(labelId) ?? [])
      .sort((a, b) => (a.nameFolded < b.nameFolded ? -1 : 1)),
    assignees: assignees.filter(({ issueId }) => issueId === issue.id).map(({ userId }) => userId),
  }));
}
