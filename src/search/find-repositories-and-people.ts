import { isLocalAdministrator, visibleRepositories } from '../access/index.ts';
import type { Viewer, Visibility } from '../access/index.ts';
import { containsIndexed } from '../db/index.ts';
import type { DatabaseThread, Dialect } from '../db/index.ts';
import { trigramQuery } from './fold-text.ts';

/**
 * The trigram index proposes public rows in result order, `instr` on the folded text decides, and the access policy is
 * part of the query: hidden rows are neither found nor counted (SPEC §4.2). A row of the list has the columns that the
 * policy needs, written together with the repository.
 *
 * Private rows are not indexed. The few visible to a user are reached through the user and scanned; for the local
 * administrator, who sees all, all are scanned.
 *
 * A query of one or two characters has no trigram. It scans the list until enough is found; most short queries match
 * soon.
 */
const proposed = (columns: string, visible: string): string => `
  SELECT ${columns}
  FROM search_repository_trigrams g CROSS JOIN search_repositories t ON t.place = g.rowid
  WHERE g.search_repository_trigrams MATCH :trigrams AND ${containsIndexed('t.folded', ':query')} AND ${visible}
  ORDER BY g.rowid LIMIT :limit`;

const scanned = (columns: string, visible: string): string => `
  SELECT ${columns} FROM search_repositories t
  WHERE ${containsIndexed('t.folded', ':query')} AND ${visible} ORDER BY t.place LIMIT :limit`;

const reached = (columns: string, places: string, visible: string): string => `
  SELECT ${columns}
  FROM (${places}) p CROSS JOIN search_repositories t ON t.place = p.place
  WHERE ${containsIndexed('t.folded', ':query')} AND ${visible}`;

/** The union of both halves in one order. */
const together = (first: string, second: string): string => `
  SELECT * FROM (SELECT * FROM (${first}) UNION ALL SELECT * FROM (${second})) b ORDER BY place LIMIT :limit`;

/** Rows in result order: each with its `place`, and with its `hit` if requested. */
interface Question {
  repositories: string;
  people: string;
  parameters: Record<string, unknown>;
}

/**
 * The query over owner name, name and description of repositories, and username and display name of users; both sorted
 * by name.
 * @param query folded, not empty
 * @param withHits whether to include the JSON of SPEC §2.4 for each row
 * @param limit limit for repositories, and for users
 */
function buildQuery(dialect: Dialect, viewer: Viewer, query: string, withHits: boolean, limit: number): Question {
  const place = 't.place AS place';
  const columns = withHits ? `${place}, t.hit AS hit` : place;
  const { sql: visible, parameters } = visibleRepositories(viewer, 't');
  const trigrams = trigramQuery(query);
  // PostgreSQL's planner chooses between its trigram index, which also contains the private rows, and the order.
  if (trigrams === null || dialect === 'postgres') {
    return {
      repositories: scanned(columns, visible),
      people: `SELECT ${columns} FROM search_people t WHERE ${containsIndexed('t.folded', ':query')} ORDER BY t.place LIMIT :limit`,
      parameters: { ...parameters, limit, query },
    };
  }
  let repositories = proposed(columns, visible);
  if (viewer.kind !== 'anonymous') {
    const own = isLocalAdministrator(viewer)
      ? scanned(place, `t.visibility <> 'PUBLIC' AND ${visible}`)
      : reached(place, placesOfPrivate(viewer), visible);
    // Sorts only the places; sorting the texts of a thousand hits would take as long as finding them.
    repositories = `
      SELECT ${columns} FROM (${together(proposed(place, visible), own)}) p
      CROSS JOIN search_repositories t ON t.place = p.place`;
  }
  return {
    repositories,
    people: `
      SELECT ${columns} FROM search_person_trigrams g CROSS JOIN search_people t ON t.place = g.rowid
      WHERE g.search_person_trigrams MATCH :trigrams AND ${containsIndexed('t.folded', ':query')}
      ORDER BY g.rowid LIMIT :limit`,
    parameters: { ...parameters, limit, query, trigrams },
  };
}

/** Private rows visible to the viewer, reached through the user; the policy decides on each. */
function placesOfPrivate(viewer: Viewer): string {
  if (viewer.kind === 'deployKey')
    return "SELECT place FROM search_repositories WHERE id = :deployKeyRepositoryId AND visibility <> 'PUBLIC'";
  if (viewer.kind === 'task')
    return "SELECT place FROM search_repositories WHERE id = :taskRepositoryId AND visibility <> 'PUBLIC'";
  return `
    SELECT place FROM search_repositories WHERE visibility <> 'PUBLIC' AND owner_user_id = :viewerId
    UNION SELECT s.place FROM organisation_members o
      CROSS JOIN search_repositories s ON s.owner_org_id = o.organisation_id AND s.visibility <> 'PUBLIC' WHERE o.user_id = :viewerId
    UNION SELECT s.place FROM collaborators c
      CROSS JOIN search_repositories s ON s.id = c.repository_id AND s.visibility <> 'PUBLIC' WHERE c.user_id = :viewerId
    UNION SELECT s.place FROM team_members tm CROSS JOIN team_repositories tr ON tr.team_id = tm.team_id
      CROSS JOIN search_repositories s ON s.id = tr.repository_id AND s.visibility <> 'PUBLIC' WHERE tm.user_id = :viewerId`;
}

// A subquery with a LIMIT returns its rows in order: sorting a thousand texts again would take as long as finding them.
const listed = (rows: string): string => `coalesce((SELECT group_concat(hit, ',') FROM (${rows}) f), '')`;

/**
 * All hits, as the JSON of SPEC §2.4 in UTF-8. The worker thread builds and transfers it: copying two thousand rows, or
 * even one long text, would block the main thread. Throws the errors of `DatabaseThread.ask`.
 */
export async function findHits(
  thread: Pick<DatabaseThread, 'run'>,
  dialect: Dialect,
  viewer: Viewer,
  query: string,
  limit: number,
): Promise<Buffer> {
  const { repositories, people, parameters } = buildQuery(dialect, viewer, query, true, limit);
  const text = `'{"repositories":[' || ${listed(repositories)} || '],"persons":[' || ${listed(people)} || ']}'`;
  const sql = dialect === 'sqlite' ? `SELECT CAST(${text} AS BLOB) AS json` : `SELECT ${text} AS json`;
  const [[{ json }]] = (await thread.run([{ sql, parameters }])) as [[{ json: Uint8Array | string }]];
  return typeof json === 'string' ? Buffer.from(json) : Buffer.from(json.buffer, json.byteOffset, json.byteLength);
}

/** A found repository, with the fields shown on a page. Times in milliseconds since the epoch. */
export interface FoundRepository {
  hit: { owner: string; name: string; visibility: Visibility; description: string };
  ownerId: string;
  /** When the owner's avatar was stored; null without one. */
  avatarAt: number | null;
  archivedAt: number | null;
  isFork: boolean;
  /** When its own image was stored; null without one. */
  imageAt: number | null;
  /** The last push or other change. */
  changedAt: number;
}

export interface FoundPerson {
  hit: { username: string; displayName: string };
  id: string;
  avatarAt: number | null;
}

/** The first rows in order, and the total count. */
export interface First<Row> {
  rows: Row[];
  total: number;
}

const orNull = (number: string): string => `coalesce(CAST(${number} AS TEXT), 'null')`;

// Fields of a page: those of the JSON result, and these.
const shownRepositories = `
  SELECT coalesce(group_concat('{"hit":' || t.hit || ',"ownerId":' || json_quote(coalesce(t.owner_user_id, t.owner_org_id))
    || ',"avatarAt":' || ${orNull('a.updated_at')} || ',"archivedAt":' || ${orNull('r.archived_at')}
    || ',"isFork":' || CASE WHEN r.forked_from_id IS NULL THEN 'false' ELSE 'true' END
    || ',"imageAt":' || CASE WHEN r.image_content_type IS NULL THEN 'null' ELSE CAST(coalesce(r.image_updated_at, 0) AS TEXT) END
    || ',"changedAt":' || coalesce(r.pushed_at, r.updated_at) || '}', ','), '')
  FROM (SELECT place FROM found_repositories LIMIT :shown) f
  CROSS JOIN search_repositories t ON t.place = f.place
  CROSS JOIN repositories r ON r.id = t.id
  LEFT JOIN avatars a ON a.owner_id = coalesce(t.owner_user_id, t.owner_org_id)`;

const shownPeople = `
  SELECT coalesce(group_concat('{"hit":' || t.hit || ',"id":' || json_quote(t.id) || ',"avatarAt":' || ${orNull('a.updated_at')} || '}', ','), '')
  FROM (SELECT place FROM found_people LIMIT :shown) f
  CROSS JOIN search_people t ON t.place = f.place
  LEFT JOIN avatars a ON a.owner_id = t.id`;

/**
 * The first hits with the fields shown on a page, in one query.
 * @param bounds limits of shown hits per kind, and of counting
 */
export async function findFirstHits(
  thread: Pick<DatabaseThread, 'run'>,
  dialect: Dialect,
  viewer: Viewer,
  query: string,
  { shown, counted }: { shown: number; counted: number },
): Promise<{ repositories: First<FoundRepository>; persons: First<FoundPerson> }> {
  const { repositories, people, parameters } = buildQuery(dialect, viewer, query, false, counted);
  const sql = `WITH found_repositories AS MATERIALIZED (${repositories}), found_people AS MATERIALIZED (${people})
    SELECT (${shownRepositories}) AS repositories, (SELECT count(*) FROM found_repositories) AS "repositoryCount",
      (${shownPeople}) AS persons, (SELECT count(*) FROM found_people) AS "personCount"`;
  const [[row]] = (await thread.run([{ sql, parameters: { ...parameters, shown } }])) as [
    [{ repositories: string; repositoryCount: number; persons: string; personCount: number }],
  ];
  return {
    repositories: { rows: JSON.parse(`[${row.repositories}]`) as FoundRepository[], total: row.repositoryCount },
    persons: { rows: JSON.parse(`[${row.persons}]`) as FoundPerson[], total: row.personCount },
  };
}
