import { personIdOf, visibleIssues } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { ageKey, readAgeKey, readKeysetPage } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import type { IssueDeps } from '../deps.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { withDetails } from './read-issues.ts';
import type { ListedIssue } from './read-issues.ts';

/** Why an issue is in a user's list. */
export type OwnReason = 'assigned' | 'created' | 'mentioned';

const reasons: Record<OwnReason, string> = {
  assigned: 'i.id IN (SELECT x.issue_id FROM issue_assignees x WHERE x.user_id = :personId)',
  created: 'i.author_id = :personId',
  mentioned: 'i.id IN (SELECT x.issue_id FROM issue_mentions x WHERE x.user_id = :personId)',
};

/**
 * Issues and pull requests that concern the viewer, in all visible repositories, last changed first. Empty for
 * anonymous clients. Throws `invalid_page`.
 */
export async function listOwnIssues(
  deps: IssueDeps,
  viewer: Viewer,
  { reason, state }: { reason: OwnReason; state: 'open' | 'closed' },
  paging: KeysetPaging,
): Promise<KeysetPage<ListedIssue>> {
  const personId = personIdOf(viewer);
  const visible = visibleIssues(viewer, 'r', 'i');
  const page = await readKeysetPage(
    paging,
    (issue: Issue) => ageKey({ createdAt: issue.updatedAt, id: issue.id }),
    async ({ key, isBackwards, limit }) => {
      if (personId === null) return [];
      const query = deps.db.read
        .createQueryBuilder(issueSchema, 'i')
        .innerJoin('repositories', 'r', 'r.id = i.repository_id')
        .where(reasons[reason], { personId })
        .andWhere("i.kind = 'ISSUE' AND i.state = :state", { state: state === 'open' ? 'OPEN' : 'CLOSED' })
        .andWhere(visible.sql, visible.parameters);
      if (key !== null) {
        const { at, id } = readAgeKey(key);
        query.andWhere(`(i.updated_at, i.id) ${isBackwards ? '>' : '<'} (:at, :id)`, { at, id });
      }
      const order = isBackwards ? 'ASC' : 'DESC';
      return query.orderBy('i.updated_at', order).addOrderBy('i.id', order).limit(limit).getMany();
    },
  );
  return { ...page, rows: await withDetails(deps, page.rows) };
}
