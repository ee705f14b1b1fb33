import type { EntitySchema } from 'typeorm';
import { personIdOf, visibleIssues } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { ageKey, readAgeKey, readKeysetPage, selectRows } from '../../db/index.ts';
import type { Database, KeysetPage, KeysetPaging } from '../../db/index.ts';
import { issueSchema } from '../../issues/index.ts';
import type { Issue } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { attentionSchema, teamReviewerSchema } from '../schema/attention-schema.ts';
import type { AttentionRow } from '../schema/attention-schema.ts';

/** A pull request that waits for a user. */
interface AttentionListItem {
  issue: Issue;
  /** `asked`, `owner`, `round`, `review`, `reply`; null in a list of pull requests that wait for others. */
  reason: string | null;
  /** Epoch milliseconds: start of the viewer's turn, or time of the last change. */
  since: number;
}

const keyOf = ({ since, issue }: AttentionListItem): string => ageKey({ createdAt: since, id: issue.id });

/** Query of one of the lists. */
interface WaitingList<Row extends object> {
  schema: EntitySchema<Row>;
  /** Selects the rows of `:personId`, with `p`, `i` and `r` for the pull request, its issue and its repository. */
  sql: string;
  /** Order: a time, then an id. */
  time: string;
  id: string;
  isNewestFirst: boolean;
  read(rows: Row[]): AttentionListItem[] | Promise<AttentionListItem[]>;
}

/** Start, direction and size of a page. */
type Place = Parameters<Parameters<typeof readKeysetPage<AttentionListItem>>[2]>[0];

/** Reads the entries of a list that the viewer can read; empty for anonymous clients. */
function waitingReader<Row extends object>(
  db: Database,
  viewer: Viewer,
  { schema, sql, time, id: idOf, isNewestFirst, read }: WaitingList<Row>,
): (place: Place) => Promise<AttentionListItem[]> {
  const personId = personIdOf(viewer);
  const visible = visibleIssues(viewer, 'r', 'i');
  return async ({ key, isBackwards, limit }) => {
    if (personId === null) return [];
    const isDown = isNewestFirst !== isBackwards;
    const order = isDown ? 'DESC' : 'ASC';
    const beyond = key === null ? '' : `AND (${time}, ${idOf}) ${isDown ? '<' : '>'} (:at, :id)`;
    const rows = await selectRows(
      db.read,
      schema,
      `${sql} AND p.is_draft = 0 AND (${visible.sql}) ${beyond}
       ORDER BY ${time} ${order}, ${idOf} ${order} LIMIT :limit`,
      { ...visible.parameters, ...(key !== null && readAgeKey(key)), personId, limit },
    );
    return read(rows);
  };
}

/** A turn of a user, of their own or through one of their teams. */
type TurnRow = Pick<AttentionRow, 'issueId' | 'userId' | 'since'> & { reason?: string };

/** Excludes turns of their own and teams that wait for a shorter time, so that each pull request is listed once. */
const onlyByTeam = `NOT EXISTS (SELECT 1 FROM attention o WHERE o.user_id = a.user_id AND o.issue_id = a.issue_id)
  AND NOT EXISTS (SELECT 1 FROM team_reviewers o WHERE o.user_id = a.user_id AND o.issue_id = a.issue_id
    AND (o.since, o.team_id) < (a.since, a.team_id))`;

/**
 * Open pull requests that wait for the viewer, or for one of their teams until a member answers; longest wait first,
 * without drafts. Throws `invalid_page`.
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
    schema,
    sql: `SELECT a.* FROM ${schema.options.tableName} a JOIN pulls p ON p.issue_id = a.issue_id
      JOIN issues i ON i.id = a.issue_id JOIN repositories r ON r.id = i.repository_id
      WHERE a.user_id = :personId AND p.is_open = 1 AND ${condition}`,
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
  const own = waitingReader(db, viewer, listOf(attentionSchema as EntitySchema<TurnRow>, '1 = 1'));
  const ofTeams = waitingReader(db, viewer, listOf(teamReviewerSchema as EntitySchema<TurnRow>, onlyByTeam));
  return readKeysetPage(paging, keyOf, async (place) => {
    const rows = [...(await own(place)), ...(await ofTeams(place))];
    const sign = place.isBackwards ? -1 : 1;
    return rows
      .sort((one, other) => sign * (one.since - other.since || (one.issue.id < other.issue.id ? -1 : 1)))
      .slice(0, place.limit);
  });
}

/** The viewer's own open pull requests that do not wait for them, last changed first. Throws `invalid_page`. */
export const listAwaitingOthers = (
  { db }: PullDeps,
  viewer: Viewer,
  paging: KeysetPaging,
): Promise<KeysetPage<AttentionListItem>> =>
  readKeysetPage(
    paging,
    keyOf,
    waitingReader<Issue>(db, viewer, {
      time: 'i.updated_at',
      id: 'i.id',
      isNewestFirst: true,
      schema: issueSchema,
      sql: `SELECT i.* FROM issues i JOIN pulls p ON p.issue_id = i.id JOIN repositories r ON r.id = i.repository_id
        WHERE i.author_id = :personId AND i.state = 'OPEN' AND i.kind = 'PULL'
        AND NOT EXISTS (SELECT 1 FROM attention a WHERE a.user_id = :personId AND a.issue_id = i.id)`,
      read: (rows) => rows.map((issue) => ({ issue, reason: null, since: issue.updatedAt })),
    }),
  );
