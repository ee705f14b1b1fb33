import type { Viewer } from '../../access/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findRepositoryContext } from '../find-issue.ts';
import type { RepositoryAt } from '../issue-context.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { buildConditions } from './build-conditions.ts';
import type { IssueFilter } from './parse-issue-query.ts';
import { readIssues, withDetails } from './read-issues.ts';
import type { FoundIssue, ListedIssue } from './read-issues.ts';

/**
 * A page of the issues of a repository. Searches words in titles and texts. Throws `repository_not_found`,
 * `invalid_page`, and errors of the text index (`took_too_long`, `too_many_waiting`). A filter by a missing name finds
 * nothing.
 */
export async function listIssues(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  filter: IssueFilter,
  paging: KeysetPaging,
): Promise<KeysetPage<FoundIssue>> {
  const { repository } = await findRepositoryContext(deps, viewer, at);
  const conditions = await buildConditions(deps, viewer, repository, filter);
  if (conditions === null) return { rows: [], next: null, previous: null };
  return readIssues(deps, { repositoryId: repository.id, filter, conditions }, paging);
}

/** The pinned issues or pull requests of a repository, in order. */
export async function listPinnedIssues(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  kind: Issue['kind'] = 'ISSUE',
): Promise<ListedIssue[]> {
  const { repository } = await findRepositoryContext(deps, viewer, at);
  const rows = await deps.db.read
    .createQueryBuilder(issueSchema, 'i')
    .where('i.repository_id = :repositoryId AND i.pinned_at IS NOT NULL AND i.kind = :kind', {
      repositoryId: repository.id,
      kind,
    })
    .andWhere('i.deleted_at IS NULL AND i.held_at IS NULL')
    .orderBy('i.pinned_at')
    .limit(20)
    .getMany();
  return withDetails(deps, rows);
}
