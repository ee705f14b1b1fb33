import type { AccessDeclaration } from './access-declarations.ts';
import type { FederationHandlers } from './activitypub/index.ts';
import type { ArtifactHandlers } from './artifacts/index.ts';
import type { Middleware } from './context.ts';
import { throughPages } from './git/index.ts';
import type { GitHandlers } from './git/index.ts';
import type { CostClass } from './middleware/budget.ts';
import { showApi, showOpenApi } from './pages/api.ts';
import { showAvatar } from './pages/avatars.ts';
import { exploreOrganisations, explorePeople, exploreRepositories } from './pages/explore.ts';
import { restoreTip, showActivity } from './pages/activity.ts';
import { downloadArtifact, removeArtifact } from './pages/ci/artifacts.ts';
import { showBadge } from './pages/ci/badge.ts';
import { dispatchWorkflow, showDispatch } from './pages/ci/dispatch.ts';
import { downloadLog, followJob, followRun } from './pages/ci/job-log.ts';
import { showJob } from './pages/ci/job.ts';
import { ofInstance, ofOrganisation, ofPerson, ofRepository } from './pages/ci/scopes.ts';
import { showAdminQueue, showQueue } from './pages/ci/queue.ts';
import { cancelRun, removeRun, rerunJobs, showRun } from './pages/ci/run.ts';
import { runnerPages } from './pages/ci/runners.ts';
import { showRuns } from './pages/ci/runs.ts';
import { secretPages } from './pages/ci/secrets.ts';
import { showWorkflows } from './pages/ci/workflows.ts';
import { showArchive } from './pages/code/archive.ts';
import { showBlame } from './pages/code/blame.ts';
import { showBlob } from './pages/code/blob.ts';
import { showBranches } from './pages/code/branches.ts';
import { addBranch, confirmDeletion, removeBranch } from './pages/code/change-branches.ts';
import { showCommit } from './pages/code/commit.ts';
import { showComparison } from './pages/code/compare.ts';
import { showFind } from './pages/code/file-finder.ts';
import { goToRef } from './pages/code/go-to-ref.ts';
import { showHistory } from './pages/code/history.ts';
import { showRaw } from './pages/code/raw.ts';
import { showTagFeed, showTags } from './pages/code/tags.ts';
import { showTree } from './pages/code/tree.ts';
import {
  acceptPeer,
  confirmPeer,
  invitePeer,
  removePeer,
  showFederation,
  showPairingCode,
  testPeer,
} from './pages/admin-federation.ts';
import { showActors, showFollowers } from './pages/admin-federation-actors.ts';
import { addFollowFor, endFollowFor, resyncFollows, retryFollowFor, showFollows } from './pages/admin-follows.ts';
import {
  purgeDeliveries,
  retryDelivery,
  retryFailedDeliveries,
  showDeliveries,
  showDelivery,
} from './pages/admin-deliveries.ts';
import { showAdminAudit } from './pages/admin-audit.ts';
import { retryParkedPush, showAdminHealth, syncFailingMirror } from './pages/admin-health.ts';
import { showAdminJobs } from './pages/admin-jobs.ts';
import { setAdministrator, setDisabled, showAdminPeople } from './pages/admin-people.ts';
import { showAdminRepositories } from './pages/admin-repositories.ts';
import { showAdminSettings } from './pages/admin-settings.ts';
import { createRepository, showNewRepository } from './pages/new-repository.ts';
import { showHome } from './pages/home.ts';
import { addInvite, removeInvite, showInvites, showNewInvite } from './pages/invites.ts';
import { showLogin, signIn, signOut } from './pages/login.ts';
import { showAsset, showFavicon, showHealth, showReadiness, showRobots } from './pages/well-known-files.ts';
import { addFollow, endFollow, retryFollow, showFollowing } from './pages/following.ts';
import { showNotFound } from './pages/not-found.ts';
import { createOrganisation, showNewOrganisation } from './pages/new-organisation.ts';
import { leaveOrganisation, showOrganisation } from './pages/organisation.ts';
import { addMember, changeMemberRole, removeMember, showMembers } from './pages/organisation-members.ts';
import {
  deleteOrganisation,
  deleteOrganisationAvatar,
  renameOrganisation,
  saveOrganisation,
  showOrganisationSettings,
  uploadOrganisationAvatar,
} from './pages/organisation-settings.ts';
import { chooseHandle, showOnboarding } from './pages/onboarding.ts';
import { showPerson } from './pages/person.ts';
import { showRepository } from './pages/repository-home.ts';
import { movePin, pinRepository, unpinRepository } from './pages/pins.ts';
import {
  addCollaborator,
  changeCollaborator,
  leaveRepository,
  removeCollaborator,
  showCollaborators,
} from './pages/repository-collaborators.ts';
import {
  archiveRepository,
  deleteRepository,
  renameRepository,
  showDangerZone,
  transferRepository,
  unarchiveRepository,
  withdrawTransfer,
} from './pages/repository-danger.ts';
import { deleteRepositoryImage, showRepositoryImage, uploadRepositoryImage } from './pages/repository-image.ts';
import { changeVisibility, saveRepositorySettings, showRepositorySettings } from './pages/repository-settings.ts';
import { showCodeSearch } from './pages/search-code.ts';
import { showSearch } from './pages/search.ts';
import { searchRepository } from './pages/code/search.ts';
import { changeHandle, changePassword, deleteAccount, showAccountSettings } from './pages/settings-account.ts';
import { saveAppearance, showAppearance } from './pages/settings-appearance.ts';
import { addKey, removeKey, showKeys } from './pages/settings-keys.ts';
import { deleteAvatar, saveProfile, showProfileSettings, uploadAvatar } from './pages/settings-profile.ts';
import {
  acceptTransfer,
  declineTransfer,
  restoreRepository,
  showOwnRepositories,
} from './pages/settings-repositories.ts';
import { revokeOtherSessions, revokeSession, showSessions } from './pages/settings-sessions.ts';
import { addToken, removeToken, showNewToken, showTokens } from './pages/settings-tokens.ts';
import { setUp, showSetup } from './pages/setup.ts';
import { redirectCloneAddress, redirectGit, showOwner, showRepositoryByShortAddress } from './pages/short-urls.ts';
import { showSignup, signUp } from './pages/signup.ts';
import { webhookPages } from './pages/webhooks.ts';
import {
  acceptMirrorHostKey,
  endMirror,
  pauseMirror,
  resumeMirror,
  saveMirror,
  showMirror,
  syncMirror,
} from './pages/repository-mirror.ts';
import { seeOther } from './responses/reply.ts';
import type {
  OrganisationOwnerContext,
  Page,
  PersonContext,
  RepositoryPersonContext,
  RepositoryContext,
  RequestContext,
} from './request-context.ts';

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
  | (Omit<Declaration<'git'>, 'method'> & { method: 'GET' | 'POST' | 'ANY'; handle: Middleware })
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
  git: GitHandlers,
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
  // Its own table is src/web/api/v1/operations.ts.
  { method: 'ANY', path: '/api/v1/{*operation}', access: 'api', cost: 'free', handle: api },

  // The addresses that stock runners give their jobs; src/web/artifacts reads the rest of the path.
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

  { method: 'GET', path: `${G}/info/refs`, access: 'git', cost: 'transfer', handle: throughPages(git.infoRefs) },
  {
    method: 'POST',
    path: `${G}/git-upload-pack`,
    access: 'git',
    cost: 'transfer',
    handle: throughPages(git.uploadPack),
  },
  {
    method: 'POST',
    path: `${G}/git-receive-pack`,
    access: 'git',
    cost: 'transfer',
    handle: throughPages(git.receivePack),
  },
  ...['upload', 'receive'].map(
    (service): Route => ({
      method: 'GET',
      path: `${G}/git-${service}-pack`,
      access: 'git',
      cost: 'free',
      handle: throughPages(git.refuseMethod),
    }),
  ),
  // Below all addresses that git finds a repository at: git-lfs follows no redirect of git's.
  ...[G, B, '/:owner/:name'].map(
    (repository): Route => ({
      method: 'ANY',
      path: `${repository}/info/lfs/{*operation}`,
      access: 'git',
      cost: 'rows',
      handle: throughPages(git.lfs),
    }),
  ),
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
