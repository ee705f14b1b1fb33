import { visibleRepositories } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { SideThread } from '../db/index.ts';
import { foldQuery } from './fold.ts';
import { proposing } from './grams.ts';

/** What a search finds, as the thread that reads has made it. */
export interface Findings {
  /** JSON arrays. */
  repositories: string;
  persons: string;
  /** How many there are, counted up to the bound that was asked for. */
  repositoryCount: number;
  personCount: number;
}

/**
 * The index proposes rows in the order of the answer, `instr` on the folded text
 * decides, and the access policy is a condition like any other: what is not the
 * viewer's to see is neither found nor counted (SPEC §4.2).
 *
 * Many rows are only counted, so nothing is looked up here that an answer shows; that
 * every row has an owner or person with a handle is what the index is made of.
 */
const repositories = (visible: string): string => `
  SELECT g.rowid AS place, r.rowid AS source
  FROM search_repository_grams g
  CROSS JOIN search_repositories t ON t.place = g.rowid
  CROSS JOIN repositories r ON r.id = t.id
  WHERE g.search_repository_grams MATCH :proposing AND instr(t.folded, :query) > 0 AND ${visible}
  ORDER BY g.rowid LIMIT :counted`;

const people = `
  SELECT g.rowid AS place, t.id
  FROM search_person_grams g
  CROSS JOIN search_people t ON t.place = g.rowid
  WHERE g.search_person_grams MATCH :proposing AND instr(t.folded, :query) > 0
  ORDER BY g.rowid LIMIT :counted`;

const first = (found: string): string => `(SELECT * FROM ${found} ORDER BY place LIMIT :limit) f`;

/**
 * What the arrays hold. `hits`: SPEC §2.4, exactly these fields, in this order; `ids`: for
 * a page, which shows more of what it lists than a search knows.
 */
const arrays = {
  hits: {
    repositories: `
      SELECT json_group_array(json_object('owner', h.display, 'name', r.name, 'visibility', r.visibility, 'description', r.description,
        'createdAt', strftime('%Y-%m-%dT%H:%M:%fZ', r.created_at / 1000.0, 'unixepoch')) ORDER BY f.place)
      FROM ${first('found_repositories')}
      CROSS JOIN repositories r ON r.rowid = f.source
      CROSS JOIN handles h ON h.owner_id = coalesce(r.owner_user_id, r.owner_org_id) AND h.released_at IS NULL`,
    persons: `
      SELECT json_group_array(json_object('username', u.username, 'displayName', u.display_name) ORDER BY f.place)
      FROM ${first('found_people')} CROSS JOIN users u ON u.id = f.id`,
  },
  ids: {
    repositories: `SELECT json_group_array(r.id ORDER BY f.place) FROM ${first('found_repositories')} CROSS JOIN repositories r ON r.rowid = f.source`,
    persons: `SELECT json_group_array(f.id ORDER BY f.place) FROM ${first('found_people')}`,
  },
};

const statement = (visible: string, as: keyof typeof arrays): string => `
  WITH found_repositories AS MATERIALIZED (${repositories(visible)}), found_people AS MATERIALIZED (${people})
  SELECT (${arrays[as].repositories}) AS repositories, (${arrays[as].persons}) AS persons,
    (SELECT count(*) FROM found_repositories) AS repositoryCount,
    (SELECT count(*) FROM found_people) AS personCount`;

/**
 * Looks for a query in owner handle, name and description of repositories, and in
 * username and display name of people; both in the order of their handles and names.
 * The answer is put together in the thread that reads: thousands of rows copied from
 * there would hold everybody else up here.
 *
 * @param as what the arrays hold of each hit
 * @param bounds how many hits of each kind the answer has at most, and up to how many are counted
 * Refuses as `SideThread.ask` does.
 */
export async function find(
  thread: SideThread,
  viewer: Viewer,
  text: string,
  as: keyof typeof arrays,
  bounds: { limit: number; counted: number },
): Promise<Findings> {
  const query = foldQuery(text);
  if (query === '') return { repositories: '[]', persons: '[]', repositoryCount: 0, personCount: 0 };
  const visible = visibleRepositories(viewer, 'r');
  const parameters = { ...visible.parameters, ...bounds, proposing: proposing(query), query };
  const [rows] = await thread.ask([{ sql: statement(visible.sql, as), parameters }]);
  return rows![0] as unknown as Findings;
}
