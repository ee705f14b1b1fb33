import type { Route } from '../app/route.ts';
import { listSuggestions } from './suggestions.page.ts';

/** Suggestions in the fields of texts, users, labels and milestones. */
export const writingRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/repos/:owner/:name/suggestions',
    access: 'repository:read',
    cost: 'rows',
    page: listSuggestions,
  },
];
