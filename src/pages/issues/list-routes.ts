import type { Route } from '../route.ts';

/** Lists of issues, labels, milestones, moderation and feeds. */
export const issueListRoutes: readonly Route[] = [];
