import { isLocalAdministrator, visibleRepositories } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { SideThread } from '../db/index.ts';
import { foldQuery } from './fold.ts';
import { gramsOfQuery, hiddenMark, isGram, proposing } from './grams.ts';
import type { PickRareGrams } from './rare-grams.ts';

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
 * viewer's to see is neither found nor counted (SPEC §4.2). A row of the list has the
 * facts that the policy asks of a repository, written together with the repository.
 *
 * Of a million repositories, somebody may see only a few that are private: these are
 * reached from the person, and for the others the index leaves out what is marked. So the work is
 * bounded by what is found, not by what is hidden.
 */
const proposed = (visible: string, decides: string): string => `
  SELECT g.rowid AS place
  FROM search_repository_grams g
  CROSS JOIN search_repositories t ON t.place = g.rowid
  WHERE g.search_repository_grams MATCH :proposing AND ${decides} AND ${visible}
  ORDER BY g.rowid LIMIT :counted`;

const tied = (places: string, visible: string): string => `
  SELECT t.place
  FROM (${places}) p CROSS JOIN search_repositories t ON t.place = p.place
  WHERE instr(t.folded, :query) > 0 AND ${visible}`;

/** Both halves in one order. */
const together = (first: string, second: string): string => `
  SELECT place FROM (SELECT * FROM (${first}) UNION ALL SELECT * FROM (${second})) ORDER BY place LIMIT :counted`;

const people = (isDecided: boolean): string => `
  SELECT g.rowid AS place
  FROM search_person_grams g ${isDecided ? '' : 'CROSS JOIN search_people t ON t.place = g.rowid'}
  WHERE g.search_person_grams MATCH :proposingPeople ${isDecided ? '' : 'AND instr(t.folded, :query) > 0'}
  ORDER BY g.rowid LIMIT :counted`;

/**
 * What the arrays hold. `hits`: the rows as SPEC §2.4 wants them; `ids`: for a page,
 * which shows more of what it lists than a search knows.
 */
const arrays = {
  hits: (found: string, texts: string) => `
    SELECT '[' || coalesce(group_concat(t.hit, ',' ORDER BY f.place), '') || ']'
    FROM (SELECT place FROM ${found} ORDER BY place LIMIT :limit) f CROSS JOIN ${texts} t ON t.place = f.place`,
  ids: (found: string, texts: string) => `
    SELECT json_group_array(t.id ORDER BY f.place)
    FROM (SELECT place FROM ${found} ORDER BY place LIMIT :limit) f CROSS JOIN ${texts} t ON t.place = f.place`,
};

const statement = (repositories: string, people: string, as: keyof typeof arrays): string => `
  WITH found_repositories AS MATERIALIZED (${repositories}), found_people AS MATERIALIZED (${people})
  SELECT (${arrays[as]('found_repositories', 'search_repositories')}) AS repositories,
    (${arrays[as]('found_people', 'search_people')}) AS persons,
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
  { thread, pickRare }: { thread: SideThread; pickRare: PickRareGrams },
  viewer: Viewer,
  text: string,
  as: keyof typeof arrays,
  bounds: { limit: number; counted: number },
): Promise<Findings> {
  const query = foldQuery(text);
  if (query === '') return { repositories: '[]', persons: '[]', repositoryCount: 0, personCount: 0 };
  const visible = visibleRepositories(viewer, 't');
  const places = placesOfPrivate(viewer);
  const isDecided = isGram(query);
  const first = proposed(visible.sql, isDecided ? '1' : 'instr(t.folded, :query) > 0');
  const picked = await pickRare(['search_repository_grams', 'search_person_grams'], gramsOfQuery(query));
  const grams = proposing(picked.search_repository_grams);
  const parameters = {
    ...visible.parameters, ...bounds, query,
    proposing: places === 'all' ? grams : `(${grams}) NOT ${hiddenMark}`,
    proposingPeople: proposing(picked.search_person_grams),
  };
  const repositories = places === null || places === 'all' ? first : together(first, tied(places, visible.sql));
  const [rows] = await thread.ask([{ sql: statement(repositories, people(isDecided), as), parameters }]);
  return rows![0] as unknown as Findings;
}

/**
 * Where what is not public could be found that a viewer may see; the policy decides on
 * each. `null` when there is nothing, `all` when everything may be seen.
 */
function placesOfPrivate(viewer: Viewer): string | 'all' | null {
  if (isLocalAdministrator(viewer)) return 'all';
  if (viewer.kind === 'anonymous') return null;
  if (viewer.kind === 'task') return 'SELECT place FROM search_repositories WHERE id = :taskRepositoryId AND visibility <> \'PUBLIC\'';
  return `
    SELECT place FROM search_repositories WHERE visibility <> 'PUBLIC' AND owner_user_id = :viewerId
    UNION SELECT s.place FROM organisation_members o
      CROSS JOIN search_repositories s ON s.owner_org_id = o.organisation_id AND s.visibility <> 'PUBLIC' WHERE o.user_id = :viewerId
    UNION SELECT s.place FROM collaborators c
      CROSS JOIN search_repositories s ON s.id = c.repository_id AND s.visibility <> 'PUBLIC' WHERE c.user_id = :viewerId`;
}
