import { mostHits } from '../../search/index.ts';
import type { FirstHits } from '../../search/index.ts';
import { page } from '../reply.ts';
import { readSearchQuery } from '../search-query.ts';
import { viewPersonHit, viewRepositoryHit } from '../views/search-hits.ts';
import type { Page } from '../visit.ts';

/** Rows of each kind on one page. */
const rowsShown = 50;

/** `12`, `first 50 of 312`, `first 50 of more than 1,000`. */
function countInWords({ ids, total }: FirstHits): string {
  if (total === ids.length) return total.toLocaleString('en');
  const known = total > mostHits ? `more than ${mostHits.toLocaleString('en')}` : total.toLocaleString('en');
  return `first ${ids.length} of ${known}`;
}

/** In the order of the ids; what has gone since they were found is left out. */
const inOrder = <Row extends { id: string }>(ids: readonly string[], rows: Iterable<Row>): Row[] => {
  const byId = new Map(Array.from(rows, (row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
};

/** `/search?q=`: repositories that the viewer may see, and people (SPEC §4.2). Spaces around the query are not meant. */
export const showSearch: Page = async ({ query, viewer }, { search, repositories, accounts, owners, clock }) => {
  const text = readSearchQuery(query).trim();
  const found = await search.findFirst(viewer, text, rowsShown);
  const [rows, people, pictures] = await Promise.all([
    repositories.listByIds(viewer, found.repositories.ids),
    accounts.peopleById(found.persons.ids),
    owners.ownersById(found.persons.ids),
  ]);
  return page('pages/search', {
    query: text,
    repositories: {
      count: countInWords(found.repositories),
      rows: inOrder(found.repositories.ids, rows).map((row) => viewRepositoryHit(row, text, clock.now())),
    },
    people: {
      count: countInWords(found.persons),
      rows: inOrder(found.persons.ids, people.values()).map((person) => viewPersonHit(person, pictures.get(person.id)?.avatarAt ?? null, text)),
    },
  });
};
