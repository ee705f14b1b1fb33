import type { PersonContext } from '../app/request-context.ts';
import { inOrganisationSettings, inPersonSettings, inRepositorySettings } from '../app/route.ts';
import type { Route, SettingsRow } from '../app/route.ts';
import { ofOrganisation, ofPerson, ofRepository } from '../runs/scopes.ts';
import { showActivityFeed } from './activity.page.ts';
import { followElsewhere, showFollowElsewhere } from './follow-elsewhere.page.ts';
import { followerPages } from './followers.page.ts';
import type { FollowerPages } from './followers.page.ts';
import { showFollowing, addFollow, endFollow, keepCopy, retryFollow } from './following.page.ts';

const followerRoutes = <V extends PersonContext>(row: SettingsRow<V>, pages: FollowerPages<V>): Route[] => [
  row('GET', '/followers', pages.show),
  row('POST', '/followers', pages.setApproval),
  row('POST', '/followers/accept', pages.accept),
  row('POST', '/followers/remove', pages.remove),
];

const repositoryFollowers = followerPages(ofRepository);

/** A user's follows of repositories and people of other instances, and the followers from there. */
export const followsRoutes: readonly Route[] = [
  { method: 'GET', path: '/following', access: 'signed-in', cost: 'rows', page: showFollowing },
  { method: 'GET', path: '/following/activity', access: 'signed-in', cost: 'rows', page: showActivityFeed },
  { method: 'POST', path: '/following', access: 'signed-in', cost: 'signature', page: addFollow },
  { method: 'POST', path: '/following/:id/unfollow', access: 'signed-in', cost: 'rows', page: endFollow },
  { method: 'POST', path: '/following/:id/retry', access: 'signed-in', cost: 'rows', page: retryFollow },
  { method: 'POST', path: '/following/:id/keep', access: 'signed-in', cost: 'signature', page: keepCopy },
  { method: 'GET', path: '/following/elsewhere', access: 'public', cost: 'rows', page: showFollowElsewhere },
  { method: 'POST', path: '/following/elsewhere', access: 'public', cost: 'signature', page: followElsewhere },
  ...followerRoutes(inPersonSettings, followerPages(ofPerson)),
  ...followerRoutes(inOrganisationSettings, followerPages(ofOrganisation)),
  ...followerRoutes(inRepositorySettings, repositoryFollowers),
  inRepositorySettings('POST', '/followers/notes', repositoryFollowers.chooseNotes),
  inRepositorySettings('POST', '/followers/notes/delete', repositoryFollowers.deleteNote),
];
