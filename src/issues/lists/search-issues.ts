import { In } from 'typeorm';
import { visibleIssues } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { IssueDeps } from '../deps.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { buildConditions, scopeConditions } from './build-conditions.ts';
import { parseIssueQuery } from './parse-issue-query.ts';
import type { IssueFilter } from './parse-issue-query.ts';
import { readIssues } from './read-issues.ts';
import type { FoundIssue } from './read-issues.ts';

/** An issue found in any repository. */
export interface IssueHit extends FoundIssue {
  located: Located;
  /** The text of the entry with the first word; empty without words. */
  text: string;
}

/**
 * Issues of all repositories that the viewer can see, by words of titles, texts and comments, and by a filter. Omits
 * trashed and held content. Throws `invalid_page`, `took_too_long`, `too_many_waiting`.
 * @param text as typed into the search box (`is:open label:bug roof`); its words narrow `filter` further
 * @param filter replaces the terms of `text` except for its words
 */
export async function searchIssues(
  deps: IssueDeps,
  viewer: Viewer,
  { text = '', filter }: { text?: string; filter?: IssueFilter },
  paging: KeysetPaging,
): Promise<KeysetPage<IssueHit>> {
  const parsed = parseIssueQuery(text).filter;
  const wanted = filter === undefined ? parsed : { ...filter, words: [...filter.words, ...parsed.words] };
  const [conditions, places] = [await buildConditions(deps, viewer, null, wanted), await scopeConditions(deps, wanted)];
  if (conditions === null || places === null) return { rows: [], next: null, previous: null };
  const { sql, parameters } = visibleIssues(viewer, 'r', 'i');
  const page = await readIssues(
    deps,
    { repositoryId: null, filter: wanted, conditions: [...places, ...conditions, { sql, parameters }] },
    paging,
  );
  const located = await deps.repositories.locate(page.rows.map(({ repositoryId }) => repositoryId));
  const texts = await textsOf(deps, page.rows);
  const rows = page.rows.flatMap((row): IssueHit[] => {
    const place = located.get(row.repositoryId);
    return place === undefined ? [] : [{ ...row, located: place, text: texts.get(row.id) ?? '' }];
  });
  return { ...page, rows };
}

async function textsOf({ db }: IssueDeps, rows: readonly FoundIssue[]): Promise<Map<string, string>> {
  const found = rows.filter(({ position }) => position !== null);
  if (found.length === 0) return new Map();
  const positionOf = new Map(found.map(({ id, position }) => [id, position]));
  const entries = await db.read.find(entrySchema, {
    select: { issueId: true, position: true, body: true },
    where: { issueId: In(found.map(({ id }) => id)), position: In([...new Set(positionOf.values())] as number[]) },
  });
  return new Map(
    entries
      .filter(({ issueId, position }) => positionOf.get(issueId) === position)
      .map(({ issueId, body }) => [issueId, body ?? '']),
  );
}
