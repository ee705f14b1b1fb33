import type { Route } from '../app/route.ts';
import { addDeployKey, removeDeployKey, showDeployKeys } from './deploy-keys.page.ts';
import { showActivity, restoreTip } from './activity.page.ts';
import {
  addRule,
  moveRule,
  removeRule,
  saveRule,
  showBranchRules,
  showNewRule,
  showRule,
} from './branch-rules.page.ts';
import {
  showCollaborators,
  addCollaborator,
  changeCollaborator,
  removeCollaborator,
  leaveRepository,
} from './collaborators.page.ts';
import {
  showDangerZone,
  renameRepository,
  transferRepository,
  withdrawTransfer,
  archiveRepository,
  unarchiveRepository,
  deleteRepository,
} from './danger-zone.page.ts';
import { forkRepository, showFork, showForks } from './forks.page.ts';
import { showRepositorySettings, saveRepositorySettings, changeVisibility } from './general-settings.page.ts';
import { showRepositoryImage, uploadRepositoryImage, deleteRepositoryImage } from './image.page.ts';
import {
  showMirror,
  saveMirror,
  syncMirror,
  acceptMirrorHostKey,
  pauseMirror,
  resumeMirror,
  endMirror,
} from './mirror.page.ts';
import { showNewRepository, createRepository } from './new-repository.page.ts';
import { importRepository, showImportRepository } from './import-repository.page.ts';
import { tellImport } from './import-changes.page.ts';
import { runImportGroup, showImportGroup, switchImportGroupOver } from './import-group.page.ts';
import { runImport, showImport, switchImportOver } from './import.page.ts';
import { pinRepository, unpinRepository, movePin } from './pins.page.ts';
import { showRepository } from './repository-home.page.ts';
import { showStargazers, starRepository, unstarRepository } from './stars.page.ts';
import { showSync, syncRepository } from './sync.page.ts';
import { foreignWords, redirectForeignUrl } from './foreign-urls.page.ts';
import {
  redirectCloneUrl,
  redirectGit,
  redirectReceive,
  redirectUpload,
  showOwner,
  showRepositoryByShortUrl,
} from './short-urls.page.ts';

const at = '/repos/:owner/:name';

/** The pages of a repository besides its code: home page, activity, settings, pins. */
export const repositoryRoutes: readonly Route[] = [
  { method: 'GET', path: '/repos/new', access: 'signed-in', cost: 'rows', page: showNewRepository },
  { method: 'GET', path: '/repos/import', access: 'signed-in', cost: 'rows', page: showImportRepository },
  { method: 'POST', path: '/repos/import', access: 'signed-in', cost: 'objects', page: importRepository },
  { method: 'GET', path: '/repos/import/:import', access: 'signed-in', cost: 'rows', page: showImportGroup },
  {
    method: 'POST',
    path: '/repos/import/:import/changes/:oneTimeToken',
    access: 'open',
    cost: 'rows',
    ignoresBody: true,
    page: tellImport,
  },
  { method: 'POST', path: '/repos/import/:import/run', access: 'signed-in', cost: 'objects', page: runImportGroup },
  {
    method: 'POST',
    path: '/repos/import/:import/switch-over',
    access: 'signed-in',
    cost: 'objects',
    page: switchImportGroupOver,
  },
  { method: 'POST', path: '/repos', access: 'signed-in', cost: 'objects', page: createRepository },
  { method: 'GET', path: at, access: 'repository:read', cost: 'objects', page: showRepository },
  { method: 'GET', path: `${at}/fork`, access: 'repository:read', cost: 'objects', page: showFork },
  { method: 'POST', path: `${at}/fork`, access: 'repository:read', cost: 'objects', page: forkRepository },
  { method: 'GET', path: `${at}/forks`, access: 'repository:read', cost: 'rows', page: showForks },
  { method: 'POST', path: `${at}/star`, access: 'repository:read', cost: 'rows', page: starRepository },
  { method: 'POST', path: `${at}/unstar`, access: 'repository:read', cost: 'rows', page: unstarRepository },
  { method: 'GET', path: `${at}/stargazers`, access: 'repository:read', cost: 'rows', page: showStargazers },
  { method: 'GET', path: `${at}/sync`, access: 'repository:read', cost: 'objects', page: showSync },
  { method: 'POST', path: `${at}/sync`, access: 'repository:write', cost: 'objects', page: syncRepository },
  { method: 'GET', path: `${at}/activity`, access: 'repository:read', cost: 'objects', page: showActivity },
  { method: 'POST', path: `${at}/activity/restore`, access: 'repository:write', cost: 'objects', page: restoreTip },
  { method: 'GET', path: `${at}/settings`, access: 'repository:owner', cost: 'objects', page: showRepositorySettings },
  { method: 'POST', path: `${at}/settings`, access: 'repository:owner', cost: 'objects', page: saveRepositorySettings },
  {
    method: 'POST',
    path: `${at}/settings/visibility`,
    access: 'repository:owner',
    cost: 'rows',
    page: changeVisibility,
  },
  { method: 'GET', path: `${at}/image`, access: 'repository:read', cost: 'rows', page: showRepositoryImage },
  {
    method: 'POST',
    path: `${at}/image`,
    access: 'repository:owner',
    cost: 'upload',
    page: uploadRepositoryImage,
    upload: 'image',
  },
  { method: 'POST', path: `${at}/image/delete`, access: 'repository:owner', cost: 'rows', page: deleteRepositoryImage },
  {
    method: 'GET',
    path: `${at}/settings/collaborators`,
    access: 'repository:admin',
    cost: 'rows',
    page: showCollaborators,
  },
  {
    method: 'POST',
    path: `${at}/settings/collaborators`,
    access: 'repository:admin',
    cost: 'rows',
    page: addCollaborator,
  },
  {
    method: 'POST',
    path: `${at}/settings/collaborators/:username/role`,
    access: 'repository:admin',
    cost: 'rows',
    page: changeCollaborator,
  },
  {
    method: 'POST',
    path: `${at}/settings/collaborators/:username/remove`,
    access: 'repository:admin',
    cost: 'rows',
    page: removeCollaborator,
  },
  { method: 'GET', path: `${at}/settings/keys`, access: 'repository:admin', cost: 'rows', page: showDeployKeys },
  {
    method: 'POST',
    path: `${at}/settings/keys`,
    access: 'repository:admin',
    cost: 'rows',
    page: addDeployKey,
    confirmation: 'required',
  },
  {
    method: 'POST',
    path: `${at}/settings/keys/:id/delete`,
    access: 'repository:admin',
    cost: 'rows',
    page: removeDeployKey,
  },
  {
    method: 'GET',
    path: `${at}/settings/branches`,
    access: 'repository:admin',
    cost: 'objects',
    page: showBranchRules,
  },
  { method: 'POST', path: `${at}/settings/branches`, access: 'repository:admin', cost: 'rows', page: addRule },
  { method: 'GET', path: `${at}/settings/branches/new`, access: 'repository:admin', cost: 'rows', page: showNewRule },
  { method: 'GET', path: `${at}/settings/branches/:rule`, access: 'repository:admin', cost: 'objects', page: showRule },
  {
    method: 'POST',
    path: `${at}/settings/branches/:rule`,
    access: 'repository:admin',
    cost: 'objects',
    page: saveRule,
  },
  {
    method: 'POST',
    path: `${at}/settings/branches/:rule/move`,
    access: 'repository:admin',
    cost: 'rows',
    page: moveRule,
  },
  {
    method: 'POST',
    path: `${at}/settings/branches/:rule/delete`,
    access: 'repository:admin',
    cost: 'rows',
    page: removeRule,
  },
  { method: 'GET', path: `${at}/settings/import`, access: 'repository:owner', cost: 'rows', page: showImport },
  { method: 'POST', path: `${at}/settings/import/run`, access: 'repository:owner', cost: 'objects', page: runImport },
  {
    method: 'POST',
    path: `${at}/settings/import/switch-over`,
    access: 'repository:owner',
    cost: 'objects',
    page: switchImportOver,
  },
  { method: 'GET', path: `${at}/settings/mirror`, access: 'repository:owner', cost: 'rows', page: showMirror },
  { method: 'POST', path: `${at}/settings/mirror`, access: 'repository:owner', cost: 'objects', page: saveMirror },
  { method: 'POST', path: `${at}/settings/mirror/sync`, access: 'repository:owner', cost: 'rows', page: syncMirror },
  {
    method: 'POST',
    path: `${at}/settings/mirror/host-key`,
    access: 'repository:owner',
    cost: 'rows',
    page: acceptMirrorHostKey,
  },
  { method: 'POST', path: `${at}/settings/mirror/pause`, access: 'repository:owner', cost: 'rows', page: pauseMirror },
  {
    method: 'POST',
    path: `${at}/settings/mirror/resume`,
    access: 'repository:owner',
    cost: 'rows',
    page: resumeMirror,
  },
  { method: 'POST', path: `${at}/settings/mirror/end`, access: 'repository:owner', cost: 'objects', page: endMirror },
  { method: 'GET', path: `${at}/settings/danger`, access: 'repository:owner', cost: 'rows', page: showDangerZone },
  { method: 'POST', path: `${at}/settings/rename`, access: 'repository:owner', cost: 'rows', page: renameRepository },
  {
    method: 'POST',
    path: `${at}/settings/transfer`,
    access: 'repository:owner',
    cost: 'objects',
    page: transferRepository,
    confirmation: 'required',
  },
  {
    method: 'POST',
    path: `${at}/settings/transfer/withdraw`,
    access: 'repository:owner',
    cost: 'rows',
    page: withdrawTransfer,
  },
  { method: 'POST', path: `${at}/settings/archive`, access: 'repository:owner', cost: 'rows', page: archiveRepository },
  {
    method: 'POST',
    path: `${at}/settings/unarchive`,
    access: 'repository:owner',
    cost: 'rows',
    page: unarchiveRepository,
  },
  {
    method: 'POST',
    path: `${at}/settings/delete`,
    access: 'repository:owner',
    cost: 'objects',
    page: deleteRepository,
    confirmation: 'required',
  },
  { method: 'POST', path: `${at}/leave`, access: 'repository:read', cost: 'rows', page: leaveRepository },
  { method: 'POST', path: `${at}/pin`, access: 'repository:read', cost: 'rows', page: pinRepository },
  { method: 'POST', path: `${at}/unpin`, access: 'repository:read', cost: 'rows', page: unpinRepository },
  { method: 'POST', path: `${at}/pin/move`, access: 'repository:read', cost: 'rows', page: movePin },
];

/**
 * Short URLs of owners and repositories, and clone URLs without their prefix. Their patterns also match URLs of other
 * tables, so they come last.
 */
export const shortUrlRoutes: readonly Route[] = [
  { method: 'GET', path: `${at}/info/refs`, access: 'open', cost: 'free', page: redirectGit },
  { method: 'GET', path: '/:owner/:name/info/refs', access: 'open', cost: 'free', page: redirectGit },
  ...['upload', 'receive'].flatMap((service): Route[] =>
    [at, '/:owner/:name'].map((base) => ({
      method: 'POST',
      path: `${base}/git-${service}-pack`,
      access: 'open',
      cost: 'free',
      ignoresBody: true,
      page: service === 'upload' ? redirectUpload : redirectReceive,
    })),
  ),
  { method: 'GET', path: '/git/:owner/:name', access: 'open', cost: 'free', page: redirectCloneUrl },
  ...foreignWords.flatMap((word): Route[] =>
    ['', '/{*rest}'].map((rest) => ({
      method: 'GET',
      path: `/:owner/:name/${word}${rest}`,
      access: 'open',
      cost: 'free',
      page: redirectForeignUrl,
    })),
  ),
  { method: 'GET', path: '/:handle', access: 'public', cost: 'rows', page: showOwner },
  { method: 'GET', path: '/:owner/:name', access: 'public', cost: 'rows', page: showRepositoryByShortUrl },
];
