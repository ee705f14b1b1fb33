import { z } from 'zod';
import { mostHits } from '../../../search/index.ts';
import { longestQuery, readSearchQuery } from '../../../http/index.ts';
import { operation } from '../../operation.ts';
import { searchResult } from '../shapes/schemas.ts';

/** SPEC §2.4, §4.2. */
export const search = operation({
  id: 'search',
  method: 'GET',
  path: '/search',
  tag: 'Search',
  summary: 'Search repositories and users',
  description:
    'Searches repositories by owner, name and description and users by username and display name, ignoring case. ' +
    'The query has no special characters. Case folding covers all of Unicode: `ÉCOLE` finds `école`, a Greek sigma finds ' +
    'a final sigma, `ß` does not match `ss`, and `İ` is an i with a dot above it. Repositories are sorted by owner and name, users by ' +
    `username, with at most ${mostHits.toLocaleString('en')} results of each. A blank query finds nothing. With a token, the search includes ` +
    'private repositories visible to the token’s owner.',
  access: 'anyone',
  cost: 'search',
  status: 200,
  query: z.object({ q: z.string().optional().describe(`At most ${longestQuery} characters`) }),
  response: searchResult,
  async run({ viewer, query: { q = '' }, deps }) {
    const bytes = await deps.search.findAll(
      viewer,
      readSearchQuery(new URLSearchParams({ q })),
      deps.backgroundPriority.hasRecentRequests(),
    );
    await deps.backgroundPriority.turn();
    return { kind: 'live-json', bytes };
  },
});
