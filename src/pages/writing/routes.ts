import type { Route } from '../route.ts';
import { listSuggestions } from './suggestions.page.ts';

/** What the fields of texts, people, labels and milestones offer while one types. */
export const writingRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/repos/:owner/:name/suggestions',
    access: 'repository:read',
    cost: 'rows',
    page: listSuggestions,
  },
];
