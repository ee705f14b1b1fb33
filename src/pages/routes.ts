import type { AccessDeclaration } from './app/access-declarations.ts';
import type { FederationHandlers } from '../http-activitypub/index.ts';
import type { ArtifactHandlers } from '../http-artifacts/index.ts';
import type { Middleware, CostClass } from '../http/index.ts';
import { showApi, showOpenApi } from './site/api.page.ts';
import { showAvatar } from './account/avatars.page.ts';
import { exploreOrganisations, explorePeople, exploreRepositories } from './explore/explore.page.ts';
import { restoreTip, showActivity } from './repository/activity.page.ts';
import { downloadArtifact, removeArtifact } from './runs/artifacts.page.ts';
import { showBadge } from './runs/badge.page.ts';
import { dispatchWorkflow, showDispatch } from './runs/dispatch.page.ts';
import { downloadLog, followJob, followRun } from './runs/job-log.page.ts';
import { showJob } from './runs/job.page.ts';
import { ofInstance, ofOrganisation, ofPerson, ofRepository } from './runs/scopes.ts';
import { showAdminQueue, showQueue } from './runs/queue.page.ts';
import { cancelRun, removeRun, rerunJobs, showRun } from './runs/run.page.ts';
import { runnerPages } from './runs/runners.page.ts';
import { showRuns } from './runs/runs.page.ts';
import { secretPages } from './runs/secrets.page.ts';
import { showWorkflows } from './runs/workflows.page.ts';
import { showArchive } from './code/archive.page.ts';
import { showBlame } from './code/blame.page.ts';
import { showBlob } from './code/blob.page.ts';
import { showBranches } from './code/branches.page.ts';
import { addBranch, confirmDeletion, removeBranch } from './code/change-branches.page.ts';
import { showCommit } from './code/commit.page.ts';
import { showComparison } from './code/compare.page.ts';
import { showFind } from './code/file-finder.page.ts';
import { goToRef } from './code/go-to-ref.page.ts';
import { showHistory } from './code/history.page.ts';
import { showRaw } from './code/raw.page.ts';
import { showTagFeed, showTags } from './code/tags.page.ts';
import { showTree } from './code/tree.page.ts';
import {
  acceptPeer,
  confirmPeer,
  invitePeer,
  removePeer,
  showFederation,
  showPairingCode,
  testPeer,
} from './admin/federation.page.ts';
import { showActors, showFollowers } from './admin/federation-actors.page.ts';
import { addFollowFor, endFollowFor, resyncFollows, retryFollowFor, showFollows } from './admin/follows.page.ts';
import {
  purgeDeliveries,
  retryDelivery,
  retryFailedDeliveries,
  showDeliveries,
  showDelivery,
} from './admin/deliveries.page.ts';
import { showAdminAudit } from './admin/audit.page.ts';
import { retryParkedPush, showAdminHealth, syncFailingMirror } from './admin/health.page.ts';
import { showAdminJobs } from './admin/scheduled-tasks.page.ts';
import { setAdministrator, setDisabled, showAdminPeople } from './admin/people.page.ts';
import { showAdminRepositories } from './admin/repositories.page.ts';
import { showAdminSettings } from './admin/settings.page.ts';
import { createRepository, showNewRepository } from './repository/new-repository.page.ts';
import { showHome } from './account/home.page.ts';
import { addInvite, removeInvite, showInvites, showNewInvite } from './sign-in/invites.page.ts';
import { showLogin, signIn, signOut } from './sign-in/login.page.ts';
import { showAsset, showFavicon, showHealth, showReadiness, showRobots } from './site/well-known-files.page.ts';
import { addFollow, endFollow, retryFollow, showFollowing } from './follows/following.page.ts';
import { showNotFound } from './site/not-found.page.ts';
import { createOrganisation, showNewOrganisation } from './organisation/new-organisation.page.ts';
import { leaveOrganisation, showOrganisation } from './organisation/organisation.page.ts';
import { addMember, changeMemberRole, removeMember, showMembers } from './organisation/members.page.ts';
import {
  deleteOrganisation,
  deleteOrganisationAvatar,
  renameOrganisation,
  saveOrganisation,
  showOrganisationSettings,
  uploadOrganisationAvatar,
} from './organisation/organisation-settings.page.ts';
import { chooseHandle, showOnboarding } from './account/onboarding.page.ts';
import { showPerson } from './account/profile.page.ts';
import { showRepository } from './repository/repository-home.page.ts';
import { movePin, pinRepository, unpinRepository } from './repository/pins.page.ts';
import {
  addCollaborator,
  changeCollaborator,
  leaveRepository,
  removeCollaborator,
  showCollaborators,
} from './repository/collaborators.page.ts';
import {
  archiveRepository,
  deleteRepository,
  renameRepository,
  showDangerZone,
  transferRepository,
  unarchiveRepository,
  withdrawTransfer,
} from './repository/danger-zone.page.ts';
import { deleteRepositoryImage, showRepositoryImage, uploadRepositoryImage } from './repository/image.page.ts';
import {
  changeVisibility,
  saveRepositorySettings,
  showRepositorySettings,
} from './repository/general-settings.page.ts';
import { showCodeSearch } from './explore/search-code.page.ts';
import { showSearch } from './explore/search.page.ts';
import { searchRepository } from './code/search.page.ts';
import { changeHandle, changePassword, deleteAccount, showAccountSettings } from './account/account.page.ts';
import { saveAppearance, showAppearance } from './account/appearance.page.ts';
import { addKey, removeKey, showKeys } from './account/ssh-keys.page.ts';
import { deleteAvatar, saveProfile, showProfileSettings, uploadAvatar } from './account/profile-settings.page.ts';
import {
  acceptTransfer,
  declineTransfer,
  restoreRepository,
  showOwnRepositories,
} from './account/shared-repositories.page.ts';
import { revokeOtherSessions, revokeSession, showSessions } from './account/sessions.page.ts';
import { addToken, removeToken, showNewToken, showTokens } from './account/access-tokens.page.ts';
import { setUp, showSetup } from './sign-in/setup.page.ts';
import {
  redirectCloneAddress,
  redirectGit,
  showOwner,
  showRepositoryByShortAddress,
} from './repository/short-urls.page.ts';
import { showSignup, signUp } from './sign-in/signup.page.ts';
import { webhookPages } from './webhooks/webhooks.page.ts';
import {
  acceptMirrorHostKey,
  endMirror,
  pauseMirror,
  resumeMirror,
  saveMirror,
  showMirror,
  syncMirror,
} from './repository/mirror.page.ts';
import { seeOther } from './app/reply.ts';
import type {
  OrganisationOwnerContext,
  Page,
  PersonContext,
  RepositoryPersonContext,
  RepositoryContext,
  RequestContext,
} from './app/request-context.ts';

interface Declaration<Access extends AccessDeclaration> {
  method: 'GET' | 'POST';
  path: string;
  access: Access;
  cost: CostClass;
  /** The form brings a file in this field; other forms are read without files. */
  upload?: string;
}

/** The access declaration decides what a page's visit surely has; the compiler holds the two together. */
export type Route =
  | (Declaration<'open' | 'public'> & { page: Page<RequestContext> })
  | (Declaration<'newcomer' | 'signed-in' | 'administrator'> & { page: Page<PersonContext> })
  | (Declaration<'organisation:owner'> & { page: Page<OrganisationOwnerContext> })
  | (Declaration<'repository:read'> & { page: Page<RepositoryContext> })
  | (Declaration<'repository:write' | 'repository:admin' | 'repository:owner'> & {
      page: Page<RepositoryPersonContext>;
    })
  | (Omit<Declaration<'api'>, 'method'> & { method: 'ANY'; handle: Middleware })
  | (Omit<Declaration<'task'>, 'method'> & { method: 'ANY'; handle: Middleware })
  | (Declaration<'federation'> & { handle: Middleware })
  | (Declaration<'operator'> & { handle: Middleware });

const B = '/repos/:owner/:name';
const G = '/git/:owner/:name';
const O = '/orgs/:name';
/** Actors: of repositories and of people. */
const R = '/ap/repos/:owner/:name';
const U = '/ap/users/:username';

/** Runners and secrets belong to the instance, a person, an organisation or a repository. */
const runners = {
  ofAll: runnerPages(ofInstance),
  ofPerson: runnerPages(ofPerson),
  ofOrganisation: runnerPages(ofOrganisation),
  ofRepository: runnerPages(ofRepository),
};
const secrets = {
  ofAll: secretPages(ofInstance),
  ofPerson: secretPages(ofPerson),
  ofOrganisation: secretPages(ofOrganisation),
  ofRepository: secretPages(ofRepository),
};

const webhooks = { ofOrganisation: webhookPages(ofOrganisation), ofRepository: webhookPages(ofRepository) };

/** Every URL of the web. The first row that matches answers. */
export const routes = (
  ap: FederationHandlers,
  artifacts: ArtifactHandlers,
  api: Middleware,
  metrics: Middleware,
): Route[] => [
  { method: 'GET', path: '/healthz', access: 'open', cost: 'free', page: showHealth },
  { method: 'GET', path: '/readyz', access: 'open', cost: 'rows', page: showReadiness },
  { method: 'GET', path: '/metrics', access: 'operator', cost: 'rows', handle: metrics },
  { method: 'GET', path: '/robots.txt', access: 'open', cost: 'free', page: showRobots },
  { method: 'GET', path: '/favicon.ico', access: 'open', cost: 'free', page: showFavicon },
  { method: 'GET', path: '/assets/:file', access: 'open', cost: 'free', page: showAsset },
  { method: 'GET', path: '/avatars/:file', access: 'open', cost: 'free', page: showAvatar },

  { method: 'GET', path: '/', access: 'public', cost: 'rows', page: showHome },
  { method: 'GET', path: '/setup', access: 'public', cost: 'rows', page: showSetup },
  { method: 'POST', path: '/setup', access: 'public', cost: 'password', page: setUp },
  { method: 'GET', path: '/login', access: 'public', cost: 'free', page: showLogin },
  { method: 'POST', path: '/login', access: 'public', cost: 'password', page: signIn },
  { method: 'POST', path: '/logout', access: 'public', cost: 'rows', page: signOut },
  { method: 'GET', path: '/signup', access: 'public', cost: 'rows', page: showSignup },
  { method: 'POST', path: '/signup', access: 'public', cost: 'password', page: signUp },
  { method: 'GET', path: '/onboarding', access: 'newcomer', cost: 'rows', page: showOnboarding },
  { method: 'POST', path: '/onboarding', access: 'newcomer', cost: 'rows', page: chooseHandle },

  { method: 'GET', path: '/settings', access: 'signed-in', cost: 'free', page: () => seeOther('/settings/profile') },
  { method: 'GET', path: '/settings/profile', access: 'signed-in', cost: 'rows', page: showProfileSettings },
  { method: 'POST', path: '/settings/profile', access: 'signed-in', cost: 'rows', page: saveProfile },
  {
    method: 'POST',
    path: '/settings/avatar',
    access: 'signed-in',
    cost: 'upload',
    page: uploadAvatar,
    upload: 'avatar',
  },
  { method: 'POST', path: '/settings/avatar/delete', access: 'signed-in', cost: 'rows', page: deleteAvatar },
  { method: 'GET', path: '/settings/repositories', access: 'signed-in', cost: 'rows', page: showOwnRepositories },
  {
    method: 'POST',
    path: '/settings/repositories/:id/accept',
    access: 'signed-in',
    cost: 'objects',
    page: acceptTransfer,
  },
  {
    method: 'POST',
    path: '/settings/repositories/:id/decline',
    access: 'signed-in',
    cost: 'rows',
    page: declineTransfer,
  },
  {
    method: 'POST',
    path: '/settings/repositories/:id/restore',
    access: 'signed-in',
    cost: 'objects',
    page: restoreRepository,
  },
  { method: 'GET', path: '/settings/account', access: 'signed-in', cost: 'rows', page: showAccountSettings },
  { method: 'POST', path: '/settings/account', access: 'signed-in', cost: 'password', page: changePassword },
  { method: 'POST', path: '/settings/account/handle', access: 'signed-in', cost: 'rows', page: changeHandle },
  { method: 'POST', path: '/settings/account/delete', access: 'signed-in', cost: 'objects', page: deleteAccount },
  { method: 'GET', path: '/settings/keys', access: 'signed-in', cost: 'rows', page: showKeys },
  { method: 'POST', path: '/settings/keys', access: 'signed-in', cost: 'rows', page: addKey },
  { method: 'POST', path: '/settings/keys/:id/delete', access: 'signed-in', cost: 'rows', page: removeKey },
  { method: 'GET', path: '/settings/tokens', access: 'signed-in', cost: 'rows', page: showTokens },
  { method: 'POST', path: '/settings/tokens', access: 'signed-in', cost: 'rows', page: addToken },
  { method: 'GET', path: '/settings/tokens/new/:ticket', access: 'signed-in', cost: 'rows', page: showNewToken },
  { method: 'POST', path: '/settings/tokens/:id/delete', access: 'signed-in', cost: 'rows', page: removeToken },
  { method: 'GET', path: '/settings/sessions', access: 'signed-in', cost: 'rows', page: showSessions },
  {
    method: 'POST',
    path: '/settings/sessions/revoke-others',
    access: 'signed-in',
    cost: 'rows',
    page: revokeOtherSessions,
  },
  { method: 'POST', path: '/settings/sessions/:id/revoke', access: 'signed-in', cost: 'rows', page: revokeSession },
  { method: 'GET', path: '/settings/runners', access: 'signed-in', cost: 'rows', page: runners.ofPerson.show },
  { method: 'POST', path: '/settings/runners', access: 'signed-in', cost: 'rows', page: runners.ofPerson.add },
  {
    method: 'POST',
    path: '/settings/runners/token',
    access: 'signed-in',
    cost: 'rows',
    page: runners.ofPerson.resetToken,
  },
  {
    method: 'GET',
    path: '/settings/runners/token/:ticket',
    access: 'signed-in',
    cost: 'rows',
    page: runners.ofPerson.showToken,
  },
  {
    method: 'GET',
    path: '/settings/runners/new/:ticket',
    access: 'signed-in',
    cost: 'rows',
    page: runners.ofPerson.showNew,
  },
  {
    method: 'POST',
    path: '/settings/runners/:id/pause',
    access: 'signed-in',
    cost: 'rows',
    page: runners.ofPerson.pause,
  },
  {
    method: 'POST',
    path: '/settings/runners/:id/resume',
    access: 'signed-in',
    cost: 'rows',
    page: runners.ofPerson.resume,
  },
  {
    method: 'POST',
    path: '/settings/runners/:id/delete',
    access: 'signed-in',
    cost: 'rows',
    page: runners.ofPerson.remove,
  },
  { method: 'GET', path: '/settings/secrets', access: 'signed-in', cost: 'rows', page: secrets.ofPerson.show },
  { method: 'POST', path: '/settings/secrets', access: 'signed-in', cost: 'rows', page: secrets.ofPerson.setSecret },
  {
    method: 'POST',
    path: '/settings/secrets/:secret/delete',
    access: 'signed-in',
    cost: 'rows',
    page: secrets.ofPerson.removeSecret,
  },
  {
    method: 'POST',
    path: '/settings/variables',
    access: 'signed-in',
    cost: 'rows',
    page: secrets.ofPerson.setVariable,
  },
  {
    method: 'POST',
    path: '/settings/variables/:variable/delete',
    access: 'signed-in',
    cost: 'rows',
    page: secrets.ofPerson.removeVariable,
  },
  { method: 'GET', path: '/settings/appearance', access: 'public', cost: 'free', page: showAppearance },
  { method: 'POST', path: '/settings/appearance', access: 'public', cost: 'free', page: saveAppearance },

  { method: 'GET', path: '/following', access: 'signed-in', cost: 'rows', page: showFollowing },
  { method: 'POST', path: '/following', access: 'signed-in', cost: 'signature', page: addFollow },
  { method: 'POST', path: '/following/:id/unfollow', access: 'signed-in', cost: 'rows', page: endFollow },
  { method: 'POST', path: '/following/:id/retry', access: 'signed-in', cost: 'rows', page: retryFollow },

  { method: 'GET', path: '/admin', access: 'administrator', cost: 'free', page: () => seeOther('/admin/health') },
  { method: 'GET', path: '/admin/health', access: 'administrator', cost: 'rows', page: showAdminHealth },
  { method: 'POST', path: '/admin/pushes/:id/retry', access: 'administrator', cost: 'rows', page: retryParkedPush },
  { method: 'POST', path: '/admin/mirrors/:id/sync', access: 'administrator', cost: 'rows', page: syncFailingMirror },
  { method: 'GET', path: '/admin/people', access: 'administrator', cost: 'rows', page: showAdminPeople },
  {
    method: 'POST',
    path: '/admin/people/:id/administrator',
    access: 'administrator',
    cost: 'rows',
    page: setAdministrator,
  },
  { method: 'POST', path: '/admin/people/:id/disabled', access: 'administrator', cost: 'rows', page: setDisabled },
  { method: 'GET', path: '/admin/repositories', access: 'administrator', cost: 'rows', page: showAdminRepositories },
  { method: 'GET', path: '/admin/jobs', access: 'administrator', cost: 'rows', page: showAdminJobs },
  { method: 'GET', path: '/admin/settings', access: 'administrator', cost: 'rows', page: showAdminSettings },
  { method: 'GET', path: '/admin/audit', access: 'administrator', cost: 'rows', page: showAdminAudit },
  { method: 'GET', path: '/admin/invites', access: 'administrator', cost: 'rows', page: showInvites },
  { method: 'POST', path: '/admin/invites', access: 'administrator', cost: 'rows', page: addInvite },
  { method: 'GET', path: '/admin/invites/new/:ticket', access: 'administrator', cost: 'rows', page: showNewInvite },
  { method: 'GET', path: '/admin/runners', access: 'administrator', cost: 'rows', page: runners.ofAll.show },
  { method: 'POST', path: '/admin/runners', access: 'administrator', cost: 'rows', page: runners.ofAll.add },
  {
    method: 'POST',
    path: '/admin/runners/token',
    access: 'administrator',
    cost: 'rows',
    page: runners.ofAll.resetToken,
  },
  {
    method: 'GET',
    path: '/admin/runners/token/:ticket',
    access: 'administrator',
    cost: 'rows',
    page: runners.ofAll.showToken,
  },
  {
    method: 'GET',
    path: '/admin/runners/new/:ticket',
    access: 'administrator',
    cost: 'rows',
    page: runners.ofAll.showNew,
  },
  {
    method: 'POST',
    path: '/admin/runners/:id/pause',
    access: 'administrator',
    cost: 'rows',
    page: runners.ofAll.pause,
  },
  {
    method: 'POST',
    path: '/admin/runners/:id/resume',
    access: 'administrator',
    cost: 'rows',
    page: runners.ofAll.resume,
  },
  {
    method: 'POST',
    path: '/admin/runners/:id/delete',
    access: 'administrator',
    cost: 'rows',
    page: runners.ofAll.remove,
  },
  { method: 'GET', path: '/admin/secrets', access: 'administrator', cost: 'rows', page: secrets.ofAll.show },
  { method: 'POST', path: '/admin/secrets', access: 'administrator', cost: 'rows', page: secrets.ofAll.setSecret },
  {
    method: 'POST',
    path: '/admin/secrets/:secret/delete',
    access: 'administrator',
    cost: 'rows',
    page: secrets.ofAll.removeSecret,
  },
  { method: 'POST', path: '/admin/variables', access: 'administrator', cost: 'rows', page: secrets.ofAll.setVariable },
  {
    method: 'POST',
    path: '/admin/variables/:variable/delete',
    access: 'administrator',
    cost: 'rows',
    page: secrets.ofAll.removeVariable,
  },
  { method: 'GET', path: '/admin/queue', access: 'administrator', cost: 'rows', page: showAdminQueue },
  { method: 'GET', path: '/admin/federation', access: 'administrator', cost: 'rows', page: showFederation },
  { method: 'POST', path: '/admin/federation/test', access: 'administrator', cost: 'signature', page: testPeer },
  { method: 'POST', path: '/admin/federation/invite', access: 'administrator', cost: 'rows', page: invitePeer },
  {
    method: 'GET',
    path: '/admin/federation/code/:ticket',
    access: 'administrator',
    cost: 'rows',
    page: showPairingCode,
  },
  { method: 'POST', path: '/admin/federation/pair', access: 'administrator', cost: 'signature', page: acceptPeer },
  { method: 'POST', path: '/admin/federation/confirm', access: 'administrator', cost: 'rows', page: confirmPeer },
  { method: 'POST', path: '/admin/federation/remove', access: 'administrator', cost: 'rows', page: removePeer },
  { method: 'GET', path: '/admin/federation/follows', access: 'administrator', cost: 'rows', page: showFollows },
  { method: 'POST', path: '/admin/federation/follows', access: 'administrator', cost: 'signature', page: addFollowFor },
  {
    method: 'POST',
    path: '/admin/federation/follows/resync',
    access: 'administrator',
    cost: 'signature',
    page: resyncFollows,
  },
  {
    method: 'POST',
    path: '/admin/federation/follows/:id/unfollow',
    access: 'administrator',
    cost: 'rows',
    page: endFollowFor,
  },
  {
    method: 'POST',
    path: '/admin/federation/follows/:id/retry',
    access: 'administrator',
    cost: 'rows',
    page: retryFollowFor,
  },
  { method: 'GET', path: '/admin/federation/followers', access: 'administrator', cost: 'rows', page: showFollowers },
  { method: 'GET', path: '/admin/federation/actors', access: 'administrator', cost: 'rows', page: showActors },
  { method: 'GET', path: '/admin/federation/deliveries', access: 'administrator', cost: 'rows', page: showDeliveries },
  {
    method: 'POST',
    path: '/admin/federation/deliveries/retry',
    access: 'administrator',
    cost: 'rows',
    page: retryFailedDeliveries,
  },
  {
    method: 'POST',
    path: '/admin/federation/deliveries/purge',
    access: 'administrator',
    cost: 'rows',
    page: purgeDeliveries,
  },
  {
    method: 'GET',
    path: '/admin/federation/deliveries/:id',
    access: 'administrator',
    cost: 'rows',
    page: showDelivery,
  },
  {
    method: 'POST',
    path: '/admin/federation/deliveries/:id/retry',
    access: 'administrator',
    cost: 'rows',
    page: retryDelivery,
  },
  { method: 'POST', path: '/admin/invites/:id/delete', access: 'administrator', cost: 'rows', page: removeInvite },

  { method: 'GET', path: '/users/:username', access: 'public', cost: 'rows', page: showPerson },

  { method: 'GET', path: '/explore', access: 'public', cost: 'rows', page: exploreRepositories },
  { method: 'GET', path: '/explore/users', access: 'public', cost: 'rows', page: explorePeople },
  { method: 'GET', path: '/explore/orgs', access: 'public', cost: 'rows', page: exploreOrganisations },

  { method: 'GET', path: '/search', access: 'public', cost: 'search', page: showSearch },
  { method: 'GET', path: '/search/code', access: 'public', cost: 'objects', page: showCodeSearch },
  { method: 'GET', path: '/api/v1', access: 'public', cost: 'free', page: showApi },
  { method: 'GET', path: '/api/v1/openapi.json', access: 'open', cost: 'free', page: showOpenApi },
  // Its own table is src/http-api/v1/operations.ts.
  { method: 'ANY', path: '/api/v1/{*operation}', access: 'api', cost: 'free', handle: api },

  // The addresses that stock runners give their jobs; src/http-artifacts reads the rest of the path.
  {
    method: 'ANY',
    path: '/twirp/github.actions.results.api.v1.ArtifactService/{*method}',
    access: 'task',
    cost: 'transfer',
    handle: artifacts.results,
  },
  {
    method: 'ANY',
    path: '/api/actions_pipeline/{*rest}',
    access: 'task',
    cost: 'transfer',
    handle: artifacts.pipelines,
  },

  { method: 'GET', path: '/orgs/new', access: 'signed-in', cost: 'free', page: showNewOrganisation },
  { method: 'POST', path: '/orgs', access: 'signed-in', cost: 'rows', page: createOrganisation },
  { method: 'GET', path: O, access: 'public', cost: 'rows', page: showOrganisation },
  { method: 'POST', path: `${O}/leave`, access: 'signed-in', cost: 'rows', page: leaveOrganisation },
  {
    method: 'GET',
    path: `${O}/settings/runners`,
    access: 'organisation:owner',
    cost: 'rows',
    page: runners.ofOrganisation.show,
  },
  {
    method: 'POST',
    path: `${O}/settings/runners`,
    access: 'organisation:owner',
    cost: 'rows',
    page: runners.ofOrganisation.add,
  },
  {
    method: 'POST',
    path: `${O}/settings/runners/token`,
    access: 'organisation:owner',
    cost: 'rows',
    page: runners.ofOrganisation.resetToken,
  },
  {
    method: 'GET',
    path: `${O}/settings/runners/token/:ticket`,
    access: 'organisation:owner',
    cost: 'rows',
    page: runners.ofOrganisation.showToken,
  },
  {
    method: 'GET',
    path: `${O}/settings/runners/new/:ticket`,
    access: 'organisation:owner',
    cost: 'rows',
    page: runners.ofOrganisation.showNew,
  },
  {
    method: 'POST',
    path: `${O}/settings/runners/:id/pause`,
    access: 'organisation:owner',
    cost: 'rows',
    page: runners.ofOrganisation.pause,
  },
  {
    method: 'POST',
    path: `${O}/settings/runners/:id/resume`,
    access: 'organisation:owner',
    cost: 'rows',
    page: runners.ofOrganisation.resume,
  },
  {
    method: 'POST',
    path: `${O}/settings/runners/:id/delete`,
    access: 'organisation:owner',
    cost: 'rows',
    page: runners.ofOrganisation.remove,
  },
  {
    method: 'GET',
    path: `${O}/settings/secrets`,
    access: 'organisation:owner',
    cost: 'rows',
    page: secrets.ofOrganisation.show,
  },
  {
    method: 'POST',
    path: `${O}/settings/secrets`,
    access: 'organisation:owner',
    cost: 'rows',
    page: secrets.ofOrganisation.setSecret,
  },
  {
    method: 'POST',
    path: `${O}/settings/secrets/:secret/delete`,
    access: 'organisation:owner',
    cost: 'rows',
    page: secrets.ofOrganisation.removeSecret,
  },
  {
    method: 'POST',
    path: `${O}/settings/variables`,
    access: 'organisation:owner',
    cost: 'rows',
    page: secrets.ofOrganisation.setVariable,
  },
  {
    method: 'POST',
    path: `${O}/settings/variables/:variable/delete`,
    access: 'organisation:owner',
    cost: 'rows',
    page: secrets.ofOrganisation.removeVariable,
  },
  {
    method: 'GET',
    path: `${O}/settings/webhooks`,
    access: 'organisation:owner',
    cost: 'rows',
    page: webhooks.ofOrganisation.list,
  },
  {
    method: 'POST',
    path: `${O}/settings/webhooks`,
    access: 'organisation:owner',
    cost: 'rows',
    page: webhooks.ofOrganisation.add,
  },
  {
    method: 'GET',
    path: `${O}/settings/webhooks/:hook`,
    access: 'organisation:owner',
    cost: 'rows',
    page: webhooks.ofOrganisation.show,
  },
  {
    method: 'POST',
    path: `${O}/settings/webhooks/:hook`,
    access: 'organisation:owner',
    cost: 'rows',
    page: webhooks.ofOrganisation.edit,
  },
  {
    method: 'POST',
    path: `${O}/settings/webhooks/:hook/delete`,
    access: 'organisation:owner',
    cost: 'rows',
    page: webhooks.ofOrganisation.remove,
  },
  {
    method: 'POST',
    path: `${O}/settings/webhooks/:hook/test`,
    access: 'organisation:owner',
    cost: 'rows',
    page: webhooks.ofOrganisation.test,
  },
  {
    method: 'POST',
    path: `${O}/settings/webhooks/:hook/deliveries/:delivery/redeliver`,
    access: 'organisation:owner',
    cost: 'rows',
    page: webhooks.ofOrganisation.redeliver,
  },
  { method: 'GET', path: `${O}/members`, access: 'organisation:owner', cost: 'rows', page: showMembers },
  { method: 'POST', path: `${O}/members`, access: 'organisation:owner', cost: 'rows', page: addMember },
  {
    method: 'POST',
    path: `${O}/members/:username/role`,
    access: 'organisation:owner',
    cost: 'rows',
    page: changeMemberRole,
  },
  {
    method: 'POST',
    path: `${O}/members/:username/remove`,
    access: 'organisation:owner',
    cost: 'rows',
    page: removeMember,
  },
  { method: 'GET', path: `${O}/settings`, access: 'organisation:owner', cost: 'rows', page: showOrganisationSettings },
  { method: 'POST', path: `${O}/settings`, access: 'organisation:owner', cost: 'rows', page: saveOrganisation },
  {
    method: 'POST',
    path: `${O}/avatar`,
    access: 'organisation:owner',
    cost: 'upload',
    page: uploadOrganisationAvatar,
    upload: 'avatar',
  },
  {
    method: 'POST',
    path: `${O}/avatar/delete`,
    access: 'organisation:owner',
    cost: 'rows',
    page: deleteOrganisationAvatar,
  },
  { method: 'POST', path: `${O}/rename`, access: 'organisation:owner', cost: 'rows', page: renameOrganisation },
  { method: 'POST', path: `${O}/delete`, access: 'organisation:owner', cost: 'objects', page: deleteOrganisation },

  { method: 'GET', path: '/repos/new', access: 'signed-in', cost: 'rows', page: showNewRepository },
  { method: 'POST', path: '/repos', access: 'signed-in', cost: 'objects', page: createRepository },
  { method: 'GET', path: B, access: 'repository:read', cost: 'objects', page: showRepository },
  { method: 'GET', path: `${B}/tree{/*path}`, access: 'repository:read', cost: 'objects', page: showTree },
  { method: 'GET', path: `${B}/blob/*path`, access: 'repository:read', cost: 'objects', page: showBlob },
  { method: 'GET', path: `${B}/raw/*path`, access: 'repository:read', cost: 'objects', page: showRaw },
  { method: 'GET', path: `${B}/blame/*path`, access: 'repository:read', cost: 'objects', page: showBlame },
  { method: 'GET', path: `${B}/commits{/*path}`, access: 'repository:read', cost: 'objects', page: showHistory },
  { method: 'GET', path: `${B}/commit/:id`, access: 'repository:read', cost: 'objects', page: showCommit },
  { method: 'GET', path: `${B}/compare{/*range}`, access: 'repository:read', cost: 'objects', page: showComparison },
  { method: 'GET', path: `${B}/branches`, access: 'repository:read', cost: 'objects', page: showBranches },
  { method: 'GET', path: `${B}/activity`, access: 'repository:read', cost: 'objects', page: showActivity },
  { method: 'POST', path: `${B}/activity/restore`, access: 'repository:write', cost: 'objects', page: restoreTip },
  { method: 'POST', path: `${B}/branches`, access: 'repository:write', cost: 'objects', page: addBranch },
  { method: 'GET', path: `${B}/branches/delete`, access: 'repository:write', cost: 'objects', page: confirmDeletion },
  { method: 'POST', path: `${B}/branches/delete`, access: 'repository:write', cost: 'objects', page: removeBranch },
  { method: 'GET', path: `${B}/tags`, access: 'repository:read', cost: 'objects', page: showTags },
  { method: 'GET', path: `${B}/tags.atom`, access: 'repository:read', cost: 'objects', page: showTagFeed },
  { method: 'GET', path: `${B}/archive/*file`, access: 'repository:read', cost: 'transfer', page: showArchive },
  { method: 'GET', path: `${B}/search`, access: 'repository:read', cost: 'objects', page: searchRepository },
  { method: 'GET', path: `${B}/find{/*path}`, access: 'repository:read', cost: 'objects', page: showFind },
  { method: 'GET', path: `${B}/go`, access: 'repository:read', cost: 'objects', page: goToRef },
  { method: 'GET', path: `${B}/settings`, access: 'repository:owner', cost: 'objects', page: showRepositorySettings },
  { method: 'POST', path: `${B}/settings`, access: 'repository:owner', cost: 'objects', page: saveRepositorySettings },
  {
    method: 'POST',
    path: `${B}/settings/visibility`,
    access: 'repository:owner',
    cost: 'rows',
    page: changeVisibility,
  },
  { method: 'GET', path: `${B}/image`, access: 'repository:read', cost: 'rows', page: showRepositoryImage },
  {
    method: 'POST',
    path: `${B}/image`,
    access: 'repository:owner',
    cost: 'upload',
    page: uploadRepositoryImage,
    upload: 'image',
  },
  { method: 'POST', path: `${B}/image/delete`, access: 'repository:owner', cost: 'rows', page: deleteRepositoryImage },
  { method: 'GET', path: `${B}/runs`, access: 'repository:read', cost: 'rows', page: showRuns },
  { method: 'POST', path: `${B}/runs`, access: 'repository:write', cost: 'objects', page: dispatchWorkflow },
  { method: 'GET', path: `${B}/runs/new`, access: 'repository:write', cost: 'objects', page: showDispatch },
  { method: 'GET', path: `${B}/runs/queue`, access: 'repository:read', cost: 'rows', page: showQueue },
  { method: 'GET', path: `${B}/runs/workflows`, access: 'repository:read', cost: 'objects', page: showWorkflows },
  { method: 'GET', path: `${B}/runs/badge/*workflow`, access: 'repository:read', cost: 'rows', page: showBadge },
  { method: 'GET', path: `${B}/runs/:number`, access: 'repository:read', cost: 'rows', page: showRun },
  { method: 'GET', path: `${B}/runs/:number/live`, access: 'repository:read', cost: 'rows', page: followRun },
  { method: 'POST', path: `${B}/runs/:number/cancel`, access: 'repository:write', cost: 'rows', page: cancelRun },
  { method: 'POST', path: `${B}/runs/:number/rerun`, access: 'repository:write', cost: 'rows', page: rerunJobs },
  { method: 'POST', path: `${B}/runs/:number/delete`, access: 'repository:admin', cost: 'rows', page: removeRun },
  {
    method: 'GET',
    path: `${B}/runs/:number/artifacts/:id`,
    access: 'repository:read',
    cost: 'transfer',
    page: downloadArtifact,
  },
  {
    method: 'POST',
    path: `${B}/runs/:number/artifacts/:id/delete`,
    access: 'repository:write',
    cost: 'rows',
    page: removeArtifact,
  },
  { method: 'GET', path: `${B}/runs/:number/jobs/:job`, access: 'repository:read', cost: 'rows', page: showJob },
  {
    method: 'GET',
    path: `${B}/runs/:number/jobs/:job/log`,
    access: 'repository:read',
    cost: 'rows',
    page: downloadLog,
  },
  { method: 'GET', path: `${B}/runs/:number/jobs/:job/live`, access: 'repository:read', cost: 'rows', page: followJob },
  {
    method: 'GET',
    path: `${B}/settings/runners`,
    access: 'repository:admin',
    cost: 'rows',
    page: runners.ofRepository.show,
  },
  {
    method: 'POST',
    path: `${B}/settings/runners`,
    access: 'repository:admin',
    cost: 'rows',
    page: runners.ofRepository.add,
  },
  {
    method: 'POST',
    path: `${B}/settings/runners/token`,
    access: 'repository:admin',
    cost: 'rows',
    page: runners.ofRepository.resetToken,
  },
  {
    method: 'GET',
    path: `${B}/settings/runners/token/:ticket`,
    access: 'repository:admin',
    cost: 'rows',
    page: runners.ofRepository.showToken,
  },
  {
    method: 'GET',
    path: `${B}/settings/runners/new/:ticket`,
    access: 'repository:admin',
    cost: 'rows',
    page: runners.ofRepository.showNew,
  },
  {
    method: 'POST',
    path: `${B}/settings/runners/:id/pause`,
    access: 'repository:admin',
    cost: 'rows',
    page: runners.ofRepository.pause,
  },
  {
    method: 'POST',
    path: `${B}/settings/runners/:id/resume`,
    access: 'repository:admin',
    cost: 'rows',
    page: runners.ofRepository.resume,
  },
  {
    method: 'POST',
    path: `${B}/settings/runners/:id/delete`,
    access: 'repository:admin',
    cost: 'rows',
    page: runners.ofRepository.remove,
  },
  {
    method: 'GET',
    path: `${B}/settings/secrets`,
    access: 'repository:admin',
    cost: 'rows',
    page: secrets.ofRepository.show,
  },
  {
    method: 'POST',
    path: `${B}/settings/secrets`,
    access: 'repository:admin',
    cost: 'rows',
    page: secrets.ofRepository.setSecret,
  },
  {
    method: 'POST',
    path: `${B}/settings/secrets/:secret/delete`,
    access: 'repository:admin',
    cost: 'rows',
    page: secrets.ofRepository.removeSecret,
  },
  {
    method: 'POST',
    path: `${B}/settings/variables`,
    access: 'repository:admin',
    cost: 'rows',
    page: secrets.ofRepository.setVariable,
  },
  {
    method: 'POST',
    path: `${B}/settings/variables/:variable/delete`,
    access: 'repository:admin',
    cost: 'rows',
    page: secrets.ofRepository.removeVariable,
  },
  {
    method: 'GET',
    path: `${B}/settings/webhooks`,
    access: 'repository:admin',
    cost: 'rows',
    page: webhooks.ofRepository.list,
  },
  {
    method: 'POST',
    path: `${B}/settings/webhooks`,
    access: 'repository:admin',
    cost: 'rows',
    page: webhooks.ofRepository.add,
  },
  {
    method: 'GET',
    path: `${B}/settings/webhooks/:hook`,
    access: 'repository:admin',
    cost: 'rows',
    page: webhooks.ofRepository.show,
  },
  {
    method: 'POST',
    path: `${B}/settings/webhooks/:hook`,
    access: 'repository:admin',
    cost: 'rows',
    page: webhooks.ofRepository.edit,
  },
  {
    method: 'POST',
    path: `${B}/settings/webhooks/:hook/delete`,
    access: 'repository:admin',
    cost: 'rows',
    page: webhooks.ofRepository.remove,
  },
  {
    method: 'POST',
    path: `${B}/settings/webhooks/:hook/test`,
    access: 'repository:admin',
    cost: 'rows',
    page: webhooks.ofRepository.test,
  },
  {
    method: 'POST',
    path: `${B}/settings/webhooks/:hook/deliveries/:delivery/redeliver`,
    access: 'repository:admin',
    cost: 'rows',
    page: webhooks.ofRepository.redeliver,
  },
  {
    method: 'GET',
    path: `${B}/settings/collaborators`,
    access: 'repository:admin',
    cost: 'rows',
    page: showCollaborators,
  },
  {
    method: 'POST',
    path: `${B}/settings/collaborators`,
    access: 'repository:admin',
    cost: 'rows',
    page: addCollaborator,
  },
  {
    method: 'POST',
    path: `${B}/settings/collaborators/:username/role`,
    access: 'repository:admin',
    cost: 'rows',
    page: changeCollaborator,
  },
  {
    method: 'POST',
    path: `${B}/settings/collaborators/:username/remove`,
    access: 'repository:admin',
    cost: 'rows',
    page: removeCollaborator,
  },
  { method: 'GET', path: `${B}/settings/mirror`, access: 'repository:owner', cost: 'rows', page: showMirror },
  { method: 'POST', path: `${B}/settings/mirror`, access: 'repository:owner', cost: 'objects', page: saveMirror },
  { method: 'POST', path: `${B}/settings/mirror/sync`, access: 'repository:owner', cost: 'rows', page: syncMirror },
  {
    method: 'POST',
    path: `${B}/settings/mirror/host-key`,
    access: 'repository:owner',
    cost: 'rows',
    page: acceptMirrorHostKey,
  },
  { method: 'POST', path: `${B}/settings/mirror/pause`, access: 'repository:owner', cost: 'rows', page: pauseMirror },
  { method: 'POST', path: `${B}/settings/mirror/resume`, access: 'repository:owner', cost: 'rows', page: resumeMirror },
  { method: 'POST', path: `${B}/settings/mirror/end`, access: 'repository:owner', cost: 'objects', page: endMirror },
  { method: 'GET', path: `${B}/settings/danger`, access: 'repository:owner', cost: 'rows', page: showDangerZone },
  { method: 'POST', path: `${B}/settings/rename`, access: 'repository:owner', cost: 'rows', page: renameRepository },
  {
    method: 'POST',
    path: `${B}/settings/transfer`,
    access: 'repository:owner',
    cost: 'objects',
    page: transferRepository,
  },
  {
    method: 'POST',
    path: `${B}/settings/transfer/withdraw`,
    access: 'repository:owner',
    cost: 'rows',
    page: withdrawTransfer,
  },
  { method: 'POST', path: `${B}/settings/archive`, access: 'repository:owner', cost: 'rows', page: archiveRepository },
  {
    method: 'POST',
    path: `${B}/settings/unarchive`,
    access: 'repository:owner',
    cost: 'rows',
    page: unarchiveRepository,
  },
  { method: 'POST', path: `${B}/settings/delete`, access: 'repository:owner', cost: 'objects', page: deleteRepository },
  { method: 'POST', path: `${B}/leave`, access: 'repository:read', cost: 'rows', page: leaveRepository },
  { method: 'POST', path: `${B}/pin`, access: 'repository:read', cost: 'rows', page: pinRepository },
  { method: 'POST', path: `${B}/unpin`, access: 'repository:read', cost: 'rows', page: unpinRepository },
  { method: 'POST', path: `${B}/pin/move`, access: 'repository:read', cost: 'rows', page: movePin },

  // git itself is served before these routes (http-git/listener.ts).
  { method: 'GET', path: `${B}/info/refs`, access: 'open', cost: 'free', page: redirectGit },
  { method: 'GET', path: '/:owner/:name/info/refs', access: 'open', cost: 'free', page: redirectGit },
  { method: 'GET', path: G, access: 'open', cost: 'free', page: redirectCloneAddress },

  { method: 'GET', path: '/.well-known/webfinger', access: 'federation', cost: 'rows', handle: ap.webFinger },
  { method: 'GET', path: '/.well-known/nodeinfo', access: 'federation', cost: 'free', handle: ap.nodeInfoLinks },
  { method: 'GET', path: '/nodeinfo/2.1', access: 'federation', cost: 'rows', handle: ap.nodeInfo },
  { method: 'GET', path: '/ap/instance', access: 'federation', cost: 'rows', handle: ap.actor },
  { method: 'GET', path: '/ap/instance/outbox', access: 'federation', cost: 'rows', handle: ap.outbox },
  { method: 'POST', path: '/ap/instance/inbox', access: 'federation', cost: 'signature', handle: ap.inbox },
  { method: 'POST', path: '/ap/pairing', access: 'federation', cost: 'rows', handle: ap.pairing },
  { method: 'GET', path: U, access: 'federation', cost: 'rows', handle: ap.actor },
  { method: 'GET', path: `${U}/outbox`, access: 'federation', cost: 'rows', handle: ap.outbox },
  { method: 'GET', path: `${U}/repositories`, access: 'federation', cost: 'rows', handle: ap.repositories },
  { method: 'GET', path: `${U}/activities/:id`, access: 'federation', cost: 'rows', handle: ap.activity },
  { method: 'POST', path: `${U}/inbox`, access: 'federation', cost: 'signature', handle: ap.inbox },
  { method: 'GET', path: R, access: 'federation', cost: 'rows', handle: ap.actor },
  { method: 'GET', path: `${R}/outbox`, access: 'federation', cost: 'rows', handle: ap.outbox },
  { method: 'GET', path: `${R}/followers`, access: 'federation', cost: 'rows', handle: ap.followers },
  { method: 'GET', path: `${R}/activities/:id`, access: 'federation', cost: 'rows', handle: ap.activity },
  { method: 'POST', path: `${R}/inbox`, access: 'federation', cost: 'signature', handle: ap.inbox },
  { method: 'GET', path: '/ap', access: 'federation', cost: 'free', handle: ap.nothing },
  { method: 'GET', path: '/ap/{*rest}', access: 'federation', cost: 'free', handle: ap.nothing },
  { method: 'POST', path: '/ap/{*rest}', access: 'federation', cost: 'free', handle: ap.nothing },

  { method: 'GET', path: '/:handle', access: 'public', cost: 'rows', page: showOwner },
  { method: 'GET', path: '/:owner/:name', access: 'public', cost: 'rows', page: showRepositoryByShortAddress },
  { method: 'GET', path: '/{*rest}', access: 'public', cost: 'free', page: showNotFound },
];
