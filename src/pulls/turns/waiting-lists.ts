import { personIdOf, visibleIssues } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { ageKey, readAgeKey, readKeysetPage } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import { issueSchema } from '../../issues/index.ts';
import type { Issue } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { attentionSchema } from '../schema/turn-schema.ts';

/** A pull request that waits for a person. */
export interface WaitingPull {
  issue: Issue;
  /** `asked`, `owner`, `round`, `review`, `reply`; null in a list of what waits for others. */
  reason: string | null;
  /** Epoch milliseconds: since when it waits for the viewer, or when it changed last. */
  since: number;
}

const keyOf = ({ since, issue }: WaitingPull): string => ageKey({ createdAt: since, id: issue.id });

/**
 * Open pull requests that wait for the viewer, what waits longest first; drafts wait for none. Anonymous clients have
 * none. Refuses `invalid_page`.
 */
export function waitingFor(
  { db, issues }: PullDeps,
  viewer: Viewer,
  paging: KeysetPaging,
): Promise<KeysetPage<WaitingPull>> {
  const personId = personIdOf(viewer);
  const visible = visibleIssues(viewer, 'r', 'i');
  return readKeysetPage(paging, keyOf, async ({ key, isBackwards, limit }) => {
    if (personId === null) return [];
    const query = db.read
      .createQueryBuilder(attentionSchema, 'a')
      .innerJoin('pulls', 'p', 'p.issue_id = a.issue_id')
      .innerJoin('issues', 'i', 'i.id = a.issue_id')
      .innerJoin('repositories', 'r', 'r.id = i.repository_id')
      .where('a.user_id = :personId', { personId })
      .andWhere('p.is_open = :open AND p.is_draft = :draft', { open: true, draft: false })
      .andWhere(visible.sql, visible.parameters);
    if (key !== null) {
      const { at, id } = readAgeKey(key);
      query.andWhere(`(a.since, a.issue_id) ${isBackwards ? '<' : '>'} (:at, :id)`, { at, id });
    }
    const order = isBackwards ? 'DESC' : 'ASC';
    const rows = await query.orderBy('a.since', order).addOrderBy('a.issue_id', order).limit(limit).getMany();
    const found = new Map(
      (await issues.findByIds(rows.map(({ issueId }) => issueId))).map((issue) => [issue.id, issue]),
    );
    return rows.flatMap(({ issueId, reason, since }) => {
      const issue = found.get(issueId);
      return issue === undefined ? [] : [{ issue, reason, since }];
    });
  });
}

/**
 * The viewer's own open pull requests that do not wait for them, the last changed first. Anonymous clients have none.
 * Refuses `invalid_page`.
 */
export function waitingForOthers(
  { db }: PullDeps,
  viewer: Viewer,
  paging: KeysetPaging,
): Promise<KeysetPage<WaitingPull>> {
  const personId = personIdOf(viewer);
  const visible = visibleIssues(viewer, 'r', 'i');
  return readKeysetPage(paging, keyOf, async ({ key, isBackwards, limit }) => {
    if (personId === null) return [];
    const query = db.read
      .createQueryBuilder(issueSchema, 'i')
      .innerJoin('pulls', 'p', 'p.issue_id = i.id')
      .innerJoin('repositories', 'r', 'r.id = i.repository_id')
      .where("i.author_id = :personId AND i.state = 'OPEN' AND i.kind = 'PULL'", { personId })
      .andWhere('p.is_draft = :draft', { draft: false })
      .andWhere('NOT EXISTS (SELECT 1 FROM attention a WHERE a.user_id = :personId AND a.issue_id = i.id)')
      .andWhere(visible.sql, visible.parameters);
    if (key !== null) {
      const { at, id } = readAgeKey(key);
      query.andWhere(`(i.updated_at, i.id) ${isBackwards ? '>' : '<'} (:at, :id)`, { at, id });
    }
    const order = isBackwards ? 'ASC' : 'DESC';
    const rows = await query.orderBy('i.updated_at', order).addOrderBy('i.id', order).limit(limit).getMany();
    return rows.map((issue) => ({ issue, reason: null, since: issue.updatedAt }));
  });
}
