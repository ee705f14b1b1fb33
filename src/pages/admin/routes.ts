import type { Route } from '../app/route.ts';
import { seeOther } from '../app/reply.ts';
import { exportAudit, showAdminAudit } from './audit.page.ts';
import {
  showDeliveries,
  retryFailedDeliveries,
  purgeDeliveries,
  showDelivery,
  retryDelivery,
  sendDeliveryNow,
} from './federation-deliveries.page.ts';
import { addBlock, exportBlocks, importBlocks, removeBlock, showBlocks } from './federation-blocks.page.ts';
import { showFollowers, showActors } from './federation-actors.page.ts';
import {
  showFederation,
  testPeer,
  invitePeer,
  showPairingCode,
  acceptPeer,
  confirmPeer,
  removePeer,
} from './federation.page.ts';
import { showFollows, addFollowFor, resyncFollows, endFollowFor, retryFollowFor } from './follows.page.ts';
import { showAdminHealth, retryParkedPush, syncFailingMirror } from './health.page.ts';
import {
  showPersonAddresses,
  addPersonAddress,
  verifyPersonAddress,
  removePersonAddress,
} from './person-addresses.page.ts';
import { retryFailedMails, retryMail, sendTestMail, showMail } from './mail.page.ts';
import { resetSecondFactor, showAdminPeople, setAdministrator, setDisabled } from './people.page.ts';
import { showNodes } from './nodes.page.ts';
import { addPerson, showNewPerson } from './new-person.page.ts';
import { showPersonSecret } from './person-secret.page.ts';
import { deletePerson, makeResetLink, renamePerson, showPerson } from './person.page.ts';
import { showAdminRepositories } from './repositories.page.ts';
import {
  deleteAnyRepository,
  setRepositoryState,
  showAdminRepository,
  transferAnyRepository,
} from './repository.page.ts';
import { showScheduledTasks } from './scheduled-tasks.page.ts';
import { showAdminSettings } from './settings.page.ts';
import { showSingleSignOn } from './single-sign-on.page.ts';
import { showUsage } from './usage.page.ts';

/** Administration pages, except those of runners and secrets (`runs`) and invitations (`sign-in`). */
export const adminRoutes: readonly Route[] = [
  { method: 'GET', path: '/admin', access: 'administrator', cost: 'free', page: () => seeOther('/admin/health') },
  { method: 'GET', path: '/admin/health', access: 'administrator', cost: 'rows', page: showAdminHealth },
  { method: 'POST', path: '/admin/pushes/:id/retry', access: 'administrator', cost: 'rows', page: retryParkedPush },
  { method: 'POST', path: '/admin/mirrors/:id/sync', access: 'administrator', cost: 'rows', page: syncFailingMirror },
  { method: 'GET', path: '/admin/people', access: 'administrator', cost: 'rows', page: showAdminPeople },
  { method: 'GET', path: '/admin/people/new', access: 'administrator', cost: 'rows', page: showNewPerson },
  {
    method: 'POST',
    path: '/admin/people/new',
    access: 'administrator',
    cost: 'password',
    page: addPerson,
    confirmation: 'required',
  },
  { method: 'GET', path: '/admin/people/:id', access: 'administrator', cost: 'rows', page: showPerson },
  {
    method: 'GET',
    path: '/admin/people/:id/secret/:oneTimeToken',
    access: 'administrator',
    cost: 'rows',
    page: showPersonSecret,
  },
  {
    method: 'POST',
    path: '/admin/people/:id/reset-link',
    access: 'administrator',
    cost: 'rows',
    page: makeResetLink,
    confirmation: 'required',
  },
  { method: 'POST', path: '/admin/people/:id/rename', access: 'administrator', cost: 'rows', page: renamePerson },
  {
    method: 'POST',
    path: '/admin/people/:id/delete',
    access: 'administrator',
    cost: 'rows',
    page: deletePerson,
    confirmation: 'required',
  },
  {
    method: 'POST',
    path: '/admin/people/:id/administrator',
    access: 'administrator',
    cost: 'rows',
    page: setAdministrator,
    confirmation: 'required',
  },
  { method: 'GET', path: '/admin/people/:id/emails', access: 'administrator', cost: 'rows', page: showPersonAddresses },
  {
    method: 'POST',
    path: '/admin/people/:id/emails',
    access: 'administrator',
    cost: 'rows',
    page: addPersonAddress,
    confirmation: 'required',
  },
  {
    method: 'POST',
    path: '/admin/people/:id/emails/:address/verify',
    access: 'administrator',
    cost: 'rows',
    page: verifyPersonAddress,
    confirmation: 'required',
  },
  {
    method: 'POST',
    path: '/admin/people/:id/emails/:address/delete',
    access: 'administrator',
    cost: 'rows',
    page: removePersonAddress,
  },
  {
    method: 'POST',
    path: '/admin/people/:id/second-factor/reset',
    access: 'administrator',
    cost: 'rows',
    page: resetSecondFactor,
    confirmation: 'required',
  },
  { method: 'POST', path: '/admin/people/:id/disabled', access: 'administrator', cost: 'rows', page: setDisabled },
  { method: 'GET', path: '/admin/repositories', access: 'administrator', cost: 'rows', page: showAdminRepositories },
  {
    method: 'GET',
    path: '/admin/repositories/:owner/:name',
    access: 'administrator',
    cost: 'rows',
    page: showAdminRepository,
  },
  {
    method: 'POST',
    path: '/admin/repositories/:owner/:name/state',
    access: 'administrator',
    cost: 'rows',
    page: setRepositoryState,
  },
  {
    method: 'POST',
    path: '/admin/repositories/:owner/:name/transfer',
    access: 'administrator',
    cost: 'rows',
    page: transferAnyRepository,
    confirmation: 'required',
  },
  {
    method: 'POST',
    path: '/admin/repositories/:owner/:name/delete',
    access: 'administrator',
    cost: 'rows',
    page: deleteAnyRepository,
    confirmation: 'required',
  },
  { method: 'GET', path: '/admin/usage', access: 'administrator', cost: 'rows', page: showUsage },
  { method: 'GET', path: '/admin/jobs', access: 'administrator', cost: 'rows', page: showScheduledTasks },
  { method: 'GET', path: '/admin/nodes', access: 'administrator', cost: 'rows', page: showNodes },
  { method: 'GET', path: '/admin/mail', access: 'administrator', cost: 'rows', page: showMail },
  { method: 'POST', path: '/admin/mail/test', access: 'administrator', cost: 'signature', page: sendTestMail },
  { method: 'POST', path: '/admin/mail/retry', access: 'administrator', cost: 'rows', page: retryFailedMails },
  { method: 'POST', path: '/admin/mail/:id/retry', access: 'administrator', cost: 'rows', page: retryMail },
  { method: 'GET', path: '/admin/single-sign-on', access: 'administrator', cost: 'signature', page: showSingleSignOn },
  { method: 'GET', path: '/admin/settings', access: 'administrator', cost: 'rows', page: showAdminSettings },
  { method: 'GET', path: '/admin/audit', access: 'administrator', cost: 'rows', page: showAdminAudit },
  { method: 'GET', path: '/admin/audit/export', access: 'administrator', cost: 'rows', page: exportAudit },
  { method: 'GET', path: '/admin/federation', access: 'administrator', cost: 'rows', page: showFederation },
  { method: 'POST', path: '/admin/federation/test', access: 'administrator', cost: 'signature', page: testPeer },
  { method: 'POST', path: '/admin/federation/invite', access: 'administrator', cost: 'rows', page: invitePeer },
  {
    method: 'GET',
    path: '/admin/federation/code/:oneTimeToken',
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
  { method: 'GET', path: '/admin/federation/blocks', access: 'administrator', cost: 'rows', page: showBlocks },
  { method: 'POST', path: '/admin/federation/blocks', access: 'administrator', cost: 'rows', page: addBlock },
  { method: 'POST', path: '/admin/federation/blocks/remove', access: 'administrator', cost: 'rows', page: removeBlock },
  {
    method: 'POST',
    path: '/admin/federation/blocks/import',
    access: 'administrator',
    cost: 'rows',
    page: importBlocks,
    maxFormBytes: 4 * 1024 * 1024,
  },
  { method: 'GET', path: '/admin/federation/blocks/export', access: 'administrator', cost: 'rows', page: exportBlocks },
  { method: 'GET', path: '/admin/federation/actors', access: 'administrator', cost: 'rows', page: showActors },
  { method: 'GET', path: '/admin/federation/deliveries', access: 'administrator', cost: 'rows', page: showDeliveries },
  {
    method: 'POST',
    path: '/admin/federation/deliveries/:id/send',
    access: 'administrator',
    cost: 'rows',
    page: sendDeliveryNow,
  },
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
];
