import type { EntitySchema, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { personIdOf, visibleIssues } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { ageKey, readAgeKey, readKeysetPage } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import { issueSchema } from '../../issues/index.ts';
import type { Issue } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { attentionSchema, teamReviewerSchema } from '../schema/attention-schema.ts';
import type { AttentionRow } from '../schema/attention-schema.ts';

/** A pull request that waits for a person. */
export interface AttentionListItem {
  issue: Issue;
  /** `asked`, `owner`, `round`, `review`, `reply`; null in a list of what waits for others. */
  reason: string | null;
  /** Epoch milliseconds: since when it waits for the viewer, or when it changed last. */
  since: number;
}

const keyOf = ({ since, issue }: AttentionListItem): string => ageKey({ createdAt: since, id: issue.id });

/** How one of the lists is read. */
interface WaitingList<Row extends ObjectLiteral> {
  /** The rows of a person, with `i` and `r` for the issue and its repository. */
  query(personId: string): SelectQueryBuilder<Row>;
  /** Expressions of the order: a time, then an id. */
  time: string;
  id: string;
  isNewestFirst: boolean;
  read(rows: Row[]): AttentionListItem[] | Promise<AttentionListItem[]>;
}

/** Where a page begins, in which direction it goes, and how many rows it has. */
type Place = Parameters<Parameters<typeof readKeysetPage<AttentionListItem>>[2]>[0];

/** Reads what the viewer may see of a list; anonymous clients have none. */
function waitingReader<Row extends ObjectLiteral>(
  viewer: Viewer,
  { query: rowsOf, time, id: idOf, isNewestFirst, read }: WaitingList<Row>,
): (place: Place) => Promise<AttentionListItem[]> {
  const personId = personIdOf(viewer);
  const visible = visibleIssues(viewer, 'r', 'i');
  return async ({ key, isBackwards, limit }) => {
    if (personId === null) return [];
    const query = rowsOf(personId).andWhere('p.is_draft = 0').andWhere(visible.sql, visible.parameters);
    const isDown = isNewestFirst !== isBackwards;
    if (key !== null) query.andWhere(`(${time}, ${idOf}) ${isDown ? '<' : '>'} (:at, :id)`, readAgeKey(key));
    const order = isDown ? 'DESC' : 'ASC';
    return read(await query.orderBy(time, order).addOrderBy(idOf, order).limit(limit).getMany());
  };
}

/** What waits for a person, by themselves or for a team of theirs. */
type TurnRow = Pick<AttentionRow, 'issueId' | 'userId' | 'since'> & { reason?: string };

/** No attention of their own, and no other team of theirs that waits longer: each pull request is listed once. */
const onlyByTeam = `NOT EXISTS (SELECT 1 FROM attention o WHERE o.user_id = a.user_id AND o.issue_id = a.issue_id)
  AND NOT EXISTS (SELECT 1 FROM team_reviewers o WHERE o.user_id = a.user_id AND o.issue_id = a.issue_id
    AND (o.since, o.team_id) < (a.since, a.team_id))`;

/**
 * Open pull requests that wait for the viewer, or for a team of theirs until one of its people answers; what waits
 * longest first; no drafts. Refuses `invalid_page`.
 */
export async function listAwaitingViewer(
  { db, issues }: PullDeps,
  viewer: Viewer,
  paging: KeysetPaging,
): Promise<KeysetPage<AttentionListItem>> {
  const listOf = (schema: EntitySchema<TurnRow>, condition: string): WaitingList<TurnRow> => ({
    time: 'a.since',
    id: 'a.issue_id',
    isNewestFirst: false,
    query: (personId) =>
      db.read
        .createQueryBuilder(schema, 'a')
        .innerJoin('pulls', 'p', 'p.issue_id = a.issue_id')
        .innerJoin('issues', 'i', 'i.id = a.issue_id')
        .innerJoin('repositories', 'r', 'r.id = i.repository_id')
        // Not as a parameter: a partial index is about this column, and SQLite would plan the query again each time.
        .where('a.user_id = :personId AND p.is_open = 1', { personId })
        .andWhere(condition),
    async read(rows) {
      const found = new Map(
        (await issues.findByIds(rows.map(({ issueId }) => issueId))).map((issue) => [issue.id, issue]),
      );
      return rows.flatMap(({ issueId, reason = 'team', since }) => {
        const issue = found.get(issueId);
        return issue === undefined ? [] : [{ issue, reason, since }];
      });
    },
  });
  const own = waitingReader(viewer, listOf(attentionSchema as EntitySchema<TurnRow>, '1 = 1'));
  const ofTeams = waitingReader(viewer, listOf(teamReviewerSchema as EntitySchema<TurnRow>, onlyByTeam));
  return readKeysetPage(paging, keyOf, async (place) => {
    const rows = [...(await own(place)), ...(await ofTeams(place))];
    const sign = place.isBackwards ? -1 : 1;
    return rows
      .sort((one, other) => sign * (one.since - other.since || (one.issue.id < other.issue.id ? -1 : 1)))
      .slice(0, place.limit);
  });
}

/** The viewer's own open pull requests that do not wait for them, the last changed first. Refuses `invalid_page`. */
export const listAwaitingOthers = (
  { db }: PullDeps,
  viewer: Viewer,
  paging: KeysetPaging,
): Promise<KeysetPage<AttentionListItem>> =>
  readKeysetPage(
    paging,
    keyOf,
    waitingReader<Issue>(viewer, {
      time: 'i.updated_at',
      id: 'i.id',
      isNewestFirst: true,
      query: (personId) =>
        db.read
          .createQueryBuilder(issueSchema, 'i')
          .innerJoin('pulls', 'p', 'p.issue_id = i.id')
          .innerJoin('repositories', 'r', 'r.id = i.repository_id')
          .where("i.author_id = :personId AND i.state = 'OPEN' AND i.kind = 'PULL'", { personId })
          .andWhere('NOT EXISTS (SELECT 1 FROM attention a WHERE a.user_id = :personId AND a.issue_id = i.id)'),
      read: (rows) => rows.map((issue) => ({ issue, reason: null, since: issue.updatedAt })),
    }),
  );
