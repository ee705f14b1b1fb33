import type { Route } from '../app/route.ts';
import { exploreRepositories, explorePeople, exploreOrganisations } from './explore.page.ts';
import { showCodeSearch } from './search-code.page.ts';
import { showSearch } from './search.page.ts';

/** Lists and search over all objects that the viewer can see. */
export const exploreRoutes: readonly Route[] = [
  { method: 'GET', path: '/explore', access: 'public', cost: 'rows', page: exploreRepositories },
  { method: 'GET', path: '/explore/users', access: 'public', cost: 'rows', page: explorePeople },
  { method: 'GET', path: '/explore/orgs', access: 'public', cost: 'rows', page: exploreOrganisations },
  { method: 'GET', path: '/search', access: 'public', cost: 'search', page: showSearch },
  { method: 'GET', path: '/search/code', access: 'public', cost: 'objects', page: showCodeSearch },
];
