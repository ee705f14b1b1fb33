import type { KeysetPage } from '../../db/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { IssueFilter, IssueHit, ListedIssue } from '../../issues/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { Located } from '../../repositories/index.ts';
import { listPage } from '../app/list-page.view.ts';
import type { RequestContext } from '../app/request-context.ts';
import type { IssuesDeps } from './deps.ts';
import { viewIssueFilter } from './issue-filter.view.ts';
import { readPeople, viewIssueRow } from './issue-row.view.ts';
import type { IssueRowView } from './issue-row.view.ts';

const addressOf = ({ owner, repository }: Located) => ({ owner: owner.handle, name: repository.name });

/** Rows over several repositories, each with its repository. Issues deleted since the search are omitted. */
export async function viewRows(
  deps: IssuesDeps,
  rows: readonly ListedIssue[],
  located: ReadonlyMap<string, Located>,
): Promise<IssueRowView[]> {
  const people = await readPeople(deps, rows);
  return rows.flatMap((row) => {
    const place = located.get(row.repositoryId);
    if (place === undefined) return [];
    const { owner, name } = addressOf(place);
    const url = repositoryUrl({ owner, name });
    const repository = { name: `${owner}/${name}`, url, isPrivate: place.repository.visibility === 'PRIVATE' };
    return [viewIssueRow(row, { repositoryUrl: url, people, repository, now: deps.clock.now() })];
  });
}

/** A list over several repositories, from the issue search, with its filter as links. */
export async function readIssueResults(
  { viewer, query, person }: RequestContext,
  deps: IssuesDeps,
  base: string,
  filter: IssueFilter,
  unknown: readonly string[] = [],
) {
  const view = viewIssueFilter(
    base,
    { filter, unknown },
    { labels: [], milestones: [], counts: null, isSignedIn: person !== null },
  );
  const none: KeysetPage<IssueHit> = { rows: [], next: null, previous: null };
  try {
    const list = await listPage((paging) => deps.issues.search(viewer, { filter }, paging), query);
    return { view, list, isSlow: false };
  } catch (error) {
    if (!isDomainError(error) || (error.reason !== 'took_too_long' && error.reason !== 'too_many_waiting')) throw error;
    return { view, list: none, isSlow: true };
  }
}

export const locatedOf = (rows: readonly IssueHit[]): Map<string, Located> =>
  new Map(rows.map(({ repositoryId, located }) => [repositoryId, located]));
