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
  summary: 'Search repositories and people',
  description:
    'Finds the query, whatever its case, in owner handle, name and description of repositories and in username and display ' +
    'name of people. Nothing in it is special. Case is folded for all of Unicode: `ÉCOLE` finds `école`, a Greek sigma finds ' +
    'one at the end of a word, `ß` is not `ss`, and `İ` is an i with a dot above it. Repositories are in the order of owner and name, people in that of their ' +
    `usernames, complete up to ${mostHits.toLocaleString('en')} of each. A blank query finds nothing. With a token, private repositories ` +
    'that its owner may see are searched, too.',
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
