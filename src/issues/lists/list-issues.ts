import { In } from 'typeorm';
import type { SelectQueryBuilder } from 'typeorm';
import type { Viewer } from '../../access/index.ts';
import { readKeysetPage } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findRepositoryContext, personIdOf } from '../find-issue.ts';
import type { RepositoryAt } from '../find-issue.ts';
import { foldName } from '../limits.ts';
import { issueLabelSchema, labelSchema, milestoneSchema } from '../schema/classification-schema.ts';
import type { LabelRow } from '../schema/classification-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue, IssueState } from '../schema/issue-schema.ts';
import { assigneeSchema } from '../schema/participation-schema.ts';
import type { IssueFilter, IssueSort } from './parse-issue-query.ts';

/** An issue in a list. */
export interface ListedIssue extends Issue {
  labels: LabelRow[];
  /** UUIDs. */
  assignees: string[];
}

/** What a sort goes by; the number follows where several issues have the same. */
const columns: Record<IssueSort, { column: 'number' | 'updated_at' | 'comment_count'; isDown: boolean }> = {
  newest: { column: 'number', isDown: true },
  oldest: { column: 'number', isDown: false },
  updated: { column: 'updated_at', isDown: true },
  'least-updated': { column: 'updated_at', isDown: false },
  comments: { column: 'comment_count', isDown: true },
  'least-comments': { column: 'comment_count', isDown: false },
};
const properties = { number: 'number', updated_at: 'updatedAt', comment_count: 'commentCount' } as const;

/**
 * A page of the issues of a repository. Each state is read from its own index in the order of the list, and the states
 * are merged; other filters are asked row by row on the way.
 * Refuses `repository_not_found`, `invalid_page`. A filter by what there is not finds nothing.
 */
export async function listIssues(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  filter: IssueFilter,
  paging: KeysetPaging,
): Promise<KeysetPage<ListedIssue>> {
  const { repository } = await findRepositoryContext(deps, viewer, at);
  const conditions = await conditionsOf(deps, viewer, repository.id, filter);
  const { column, isDown } = columns[filter.sort];
  const valueOf = (issue: Issue): number => issue[properties[column]];
  const page = await readKeysetPage(
    paging,
    (issue: Issue) => `${valueOf(issue)}.${issue.number}`,
    async ({ key, isBackwards, limit }) => {
      if (conditions === null) return [];
      const goesDown = isDown !== isBackwards;
      const from = key === null ? null : readKey(key);
      const found = await Promise.all(
        statesOf(filter).map((state) => {
          const query = deps.db.read
            .createQueryBuilder(issueSchema, 'i')
            .where('i.repository_id = :repositoryId AND i.kind = :kind AND i.state = :state')
            .andWhere('i.deleted_at IS NULL AND i.held_at IS NULL')
            .setParameters({ repositoryId: repository.id, kind: filter.kind === 'pull' ? 'PULL' : 'ISSUE', state });
          for (const { sql, parameters } of conditions) query.andWhere(sql, parameters);
          if (from !== null) beyond(query, column, goesDown, from);
          if (column !== 'number') query.orderBy(`i.${column}`, goesDown ? 'DESC' : 'ASC');
          return query
            .addOrderBy('i.number', goesDown ? 'DESC' : 'ASC')
            .limit(limit)
            .getMany();
        }),
      );
      const order = (a: Issue, b: Issue): number => valueOf(a) - valueOf(b) || a.number - b.number;
      return found
        .flat()
        .sort((a, b) => (goesDown ? order(b, a) : order(a, b)))
        .slice(0, limit);
    },
  );
  return { ...page, rows: await withDetails(deps, page.rows) };
}

function beyond(
  query: SelectQueryBuilder<Issue>,
  column: string,
  goesDown: boolean,
  { value, number }: { value: number; number: number },
): void {
  const than = goesDown ? '<' : '>';
  if (column === 'number') query.andWhere(`i.number ${than} :number`, { number });
  else query.andWhere(`(i.${column}, i.number) ${than} (:value, :number)`, { value, number });
}

function readKey(key: string): { value: number; number: number } {
  const [, value, number] = /^(\d{1,15})\.(\d{1,15})$/.exec(key) ?? [];
  if (value === undefined || number === undefined)
    throw invalid('invalid_page', 'This page address is not one that was given out.');
  return { value: Number(value), number: Number(number) };
}

function statesOf({ state, kind }: IssueFilter): IssueState[] {
  const closed: IssueState[] = kind === 'pull' ? ['CLOSED', 'MERGED'] : ['CLOSED'];
  return state === 'open' ? ['OPEN'] : state === 'closed' ? closed : ['OPEN', ...closed];
}

interface Condition {
  sql: string;
  parameters: Record<string, unknown>;
}

/** Null when nothing can match: a name is nobody's. */
async function conditionsOf(
  deps: IssueDeps,
  viewer: Viewer,
  repositoryId: string,
  filter: IssueFilter,
): Promise<Condition[] | null> {
  const found: Condition[] = [];
  const add = (sql: string, parameters: Record<string, unknown> = {}): void => void found.push({ sql, parameters });
  const labelled = 'EXISTS (SELECT 1 FROM issue_labels x JOIN labels l ON l.id = x.label_id WHERE x.issue_id = i.id';
  for (const [at, name] of filter.labels.entries())
    add(`${labelled} AND l.name_folded = :label${at})`, { [`label${at}`]: foldName(name) });
  for (const [at, name] of filter.notLabels.entries())
    add(`NOT ${labelled} AND l.name_folded = :notLabel${at})`, { [`notLabel${at}`]: foldName(name) });
  if (filter.noLabel) add('NOT EXISTS (SELECT 1 FROM issue_labels x WHERE x.issue_id = i.id)');
  if (filter.assignee === 'none') add('NOT EXISTS (SELECT 1 FROM issue_assignees x WHERE x.issue_id = i.id)');
  const people = [
    ['author', filter.author, 'i.author_id = :author'],
    [
      'assignee',
      filter.assignee === 'none' ? null : filter.assignee,
      'EXISTS (SELECT 1 FROM issue_assignees x WHERE x.issue_id = i.id AND x.user_id = :assignee)',
    ],
    [
      'mentions',
      filter.mentions,
      'EXISTS (SELECT 1 FROM issue_mentions x WHERE x.issue_id = i.id AND x.user_id = :mentions)',
    ],
  ] as const;
  for (const [name, username, sql] of people) {
    if (username === null) continue;
    const id = username === '@me' ? personIdOf(viewer) : ((await deps.owners.resolve(username))?.id ?? null);
    if (id === null) return null;
    add(sql, { [name]: id });
  }
  if (filter.milestone === 'none') add('i.milestone_id IS NULL');
  else if (filter.milestone !== null) {
    const titleFolded = foldName(filter.milestone);
    const milestone = await deps.db.read.findOneBy(milestoneSchema, { repositoryId, titleFolded });
    if (milestone === null) return null;
    // Not by the index of milestones: it has not the order of the list.
    add('(i.milestone_id || :empty) = :milestone', { milestone: milestone.id, empty: '' });
  }
  if (filter.isLocked !== null) add(`i.locked_at IS ${filter.isLocked ? 'NOT ' : ''}NULL`);
  if (filter.isPinned !== null) add(`i.pinned_at IS ${filter.isPinned ? 'NOT ' : ''}NULL`);
  for (const [at, word] of filter.words.entries()) {
    const pattern = `%${word.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
    add(`lower(i.title) LIKE :word${at} ESCAPE '\\'`, { [`word${at}`]: pattern });
  }
  return found;
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

/** The pinned issues of a repository, in the order in which they were pinned. */
export async function listPinnedIssues(deps: IssueDeps, viewer: Viewer, at: RepositoryAt): Promise<ListedIssue[]> {
  const { repository } = await findRepositoryContext(deps, viewer, at);
  const rows = await deps.db.read
    .createQueryBuilder(issueSchema, 'i')
    .where('i.repository_id = :repositoryId AND i.pinned_at IS NOT NULL', { repositoryId: repository.id })
    .andWhere('i.deleted_at IS NULL AND i.held_at IS NULL')
    .orderBy('i.pinned_at')
    .limit(20)
    .getMany();
  return withDetails(deps, rows);
}
