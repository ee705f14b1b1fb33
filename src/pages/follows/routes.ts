import type { Route } from '../route.ts';
import { showFollowing, addFollow, endFollow, retryFollow } from './following.page.ts';

/** Repositories and people of other instances that a person follows. */
export const followsRoutes: readonly Route[] = [
  { method: 'GET', path: '/following', access: 'signed-in', cost: 'rows', page: showFollowing },
  { method: 'POST', path: '/following', access: 'signed-in', cost: 'signature', page: addFollow },
  { method: 'POST', path: '/following/:id/unfollow', access: 'signed-in', cost: 'rows', page: endFollow },
  { method: 'POST', path: '/following/:id/retry', access: 'signed-in', cost: 'rows', page: retryFollow },
];
