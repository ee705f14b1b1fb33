import { hitMarker, mostCounted } from '../../search/index.ts';
import type { First } from '../../search/index.ts';
import { page } from '../app/reply.ts';
import { readSearchQuery } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { viewPersonHit, viewRepositoryHit } from './search-hits.view.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { ExploreDeps } from './deps.ts';

/** Number of rows of each kind on one page. */
const rowsShown = 50;

/** `12`, `first 50 of 212`, `first 50 of more than 250`. */
function countInWords({ rows, total }: First<unknown>): string {
  if (total === rows.length) return String(total);
  const known =
    total > mostCounted ? t('explore.search.more_than_most_counted', { most_counted: mostCounted }) : String(total);
  return t('explore.search.first_of', { count: rows.length, known });
}

/** `/search?q=`: repositories that the viewer can read, and users (SPEC §4.2). Spaces around the query are ignored. */
export const showSearch: Page<RequestContext, ExploreDeps> = async (
  { query, viewer },
  { search, backgroundPriority, clock },
) => {
  const text = readSearchQuery(query).trim();
  const { repositories, persons } = await search.findFirst(
    viewer,
    text,
    rowsShown,
    backgroundPriority.hasRecentRequests(),
  );
  await backgroundPriority.turn();
  const now = clock.now();
  const mark = hitMarker(text);
  const locals = {
    query: text,
    repositories: {
      count: countInWords(repositories),
      rows: repositories.rows.map((row) => viewRepositoryHit(row, mark, now)),
    },
    people: { count: countInWords(persons), rows: persons.rows.map((person) => viewPersonHit(person, mark)) },
  };
  // Finding matches for a hundred rows and rendering them are separate steps.
  await backgroundPriority.turn();
  return page('explore/search', locals);
};
