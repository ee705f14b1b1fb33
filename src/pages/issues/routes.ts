import type { Route } from '../route.ts';
import { attachmentRoutes } from './attachment-routes.ts';
import { issueListRoutes } from './list-routes.ts';

/** The page of an issue, and of a new one. */
const issueRoutes: readonly Route[] = [];

/** Everything about issues. Fixed segments come first: `:number` would match them, too. */
export const issuesRoutes: readonly Route[] = [...attachmentRoutes, ...issueListRoutes, ...issueRoutes];
