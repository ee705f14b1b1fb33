import type { Route } from '../app/route.ts';
import { seeOther } from '../app/reply.ts';
import { showTokens, addToken, showNewToken, removeToken } from './access-tokens.page.ts';
import { showAccountSettings, changePassword, changeHandle, deleteAccount } from './account.page.ts';
import { showAppearance, saveAppearance } from './appearance.page.ts';
import { showAvatar } from './avatars.page.ts';
import {
  showEmailAddresses,
  addEmailAddress,
  showVerification,
  verifyAddress,
  sendVerification,
  setPrimaryAddress,
  setAddressPublic,
  removeEmailAddress,
} from './email-addresses.page.ts';
import { addGpgKey, removeGpgKey, showGpgKeys } from './gpg-keys.page.ts';
import { followPerson, showFollows, unfollowPerson } from './follows.page.ts';
import { showStars } from './stars.page.ts';
import { showHome } from './landing.page.ts';
import { showOnboarding, chooseHandle } from './onboarding.page.ts';
import { linkAccount, showLinkedAccounts, unlinkAccount } from './linked-accounts.page.ts';
import { showNotices, saveNotices } from './notices.page.ts';
import { showProfileSettings, saveProfile, uploadAvatar, deleteAvatar } from './profile-settings.page.ts';
import { showPerson } from './profile.page.ts';
import { addAuthenticatorApp, showAuthenticatorApp } from './authenticator-app.page.ts';
import { addPasskey, showNewPasskey } from './new-passkey.page.ts';
import {
  newRecoveryCodes,
  removeAuthenticatorApp,
  removePasskey,
  showRecoveryCodes,
  showSecurity,
} from './security.page.ts';
import { showSessions, revokeOtherSessions, revokeSession } from './sessions.page.ts';
import {
  showTransfersAndTrash,
  acceptTransfer,
  declineTransfer,
  restoreRepository,
} from './transfers-and-trash.page.ts';
import { showPublicGpgKeys, showPublicKeys } from './public-keys.page.ts';
import { showKeys, addKey, changeKeyUse, removeKey } from './ssh-keys.page.ts';

/** The home page, profiles and the settings of a user. */
export const accountRoutes: readonly Route[] = [
  { method: 'GET', path: '/avatars/:file', access: 'open', cost: 'free', page: showAvatar },
  { method: 'GET', path: '/', access: 'public', cost: 'rows', page: showHome },
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
  { method: 'GET', path: '/settings/repositories', access: 'signed-in', cost: 'rows', page: showTransfersAndTrash },
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
  {
    method: 'POST',
    path: '/settings/account',
    access: 'signed-in',
    cost: 'password',
    page: changePassword,
    confirmation: 'in-form',
  },
  { method: 'POST', path: '/settings/account/handle', access: 'signed-in', cost: 'rows', page: changeHandle },
  {
    method: 'POST',
    path: '/settings/account/delete',
    access: 'signed-in',
    cost: 'objects',
    page: deleteAccount,
    confirmation: 'in-form',
  },
  { method: 'GET', path: '/settings/notices', access: 'signed-in', cost: 'rows', page: showNotices },
  { method: 'POST', path: '/settings/notices', access: 'signed-in', cost: 'rows', page: saveNotices },
  { method: 'GET', path: '/settings/keys', access: 'signed-in', cost: 'rows', page: showKeys },
  { method: 'POST', path: '/settings/keys', access: 'signed-in', cost: 'rows', page: addKey, confirmation: 'required' },
  {
    method: 'POST',
    path: '/settings/keys/:id/use',
    access: 'signed-in',
    cost: 'rows',
    page: changeKeyUse,
    confirmation: 'required',
  },
  { method: 'POST', path: '/settings/keys/:id/delete', access: 'signed-in', cost: 'rows', page: removeKey },
  { method: 'GET', path: '/settings/emails', access: 'signed-in', cost: 'rows', page: showEmailAddresses },
  {
    method: 'POST',
    path: '/settings/emails',
    access: 'signed-in',
    cost: 'rows',
    page: addEmailAddress,
    confirmation: 'required',
  },
  { method: 'GET', path: '/settings/emails/verify', access: 'signed-in', cost: 'rows', page: showVerification },
  { method: 'POST', path: '/settings/emails/verify', access: 'signed-in', cost: 'rows', page: verifyAddress },
  { method: 'POST', path: '/settings/emails/:id/send', access: 'signed-in', cost: 'rows', page: sendVerification },
  {
    method: 'POST',
    path: '/settings/emails/:id/primary',
    access: 'signed-in',
    cost: 'rows',
    page: setPrimaryAddress,
    confirmation: 'required',
  },
  { method: 'POST', path: '/settings/emails/:id/public', access: 'signed-in', cost: 'rows', page: setAddressPublic },
  { method: 'POST', path: '/settings/emails/:id/delete', access: 'signed-in', cost: 'rows', page: removeEmailAddress },
  { method: 'GET', path: '/settings/gpg', access: 'signed-in', cost: 'rows', page: showGpgKeys },
  // A key with many user ids and subkeys is larger than other forms.
  {
    method: 'POST',
    path: '/settings/gpg',
    access: 'signed-in',
    cost: 'rows',
    page: addGpgKey,
    confirmation: 'required',
    maxFormBytes: 1024 * 1024,
  },
  { method: 'POST', path: '/settings/gpg/:id/delete', access: 'signed-in', cost: 'rows', page: removeGpgKey },
  { method: 'GET', path: '/settings/tokens', access: 'signed-in', cost: 'rows', page: showTokens },
  {
    method: 'POST',
    path: '/settings/tokens',
    access: 'signed-in',
    cost: 'rows',
    page: addToken,
    confirmation: 'required',
  },
  { method: 'GET', path: '/settings/tokens/new/:oneTimeToken', access: 'signed-in', cost: 'rows', page: showNewToken },
  { method: 'POST', path: '/settings/tokens/:id/delete', access: 'signed-in', cost: 'rows', page: removeToken },
  { method: 'GET', path: '/settings/linked-accounts', access: 'signed-in', cost: 'rows', page: showLinkedAccounts },
  {
    method: 'POST',
    path: '/settings/linked-accounts',
    access: 'signed-in',
    cost: 'signature',
    page: linkAccount,
    confirmation: 'required',
  },
  {
    method: 'POST',
    path: '/settings/linked-accounts/:id/delete',
    access: 'signed-in',
    cost: 'rows',
    page: unlinkAccount,
    confirmation: 'required',
  },
  { method: 'GET', path: '/settings/security', access: 'signed-in', cost: 'rows', page: showSecurity },
  { method: 'GET', path: '/settings/security/app', access: 'signed-in', cost: 'rows', page: showAuthenticatorApp },
  {
    method: 'POST',
    path: '/settings/security/app',
    access: 'signed-in',
    cost: 'rows',
    page: addAuthenticatorApp,
    confirmation: 'required',
  },
  {
    method: 'POST',
    path: '/settings/security/app/delete',
    access: 'signed-in',
    cost: 'rows',
    page: removeAuthenticatorApp,
    confirmation: 'required',
  },
  {
    method: 'POST',
    path: '/settings/security/recovery-codes',
    access: 'signed-in',
    cost: 'rows',
    page: newRecoveryCodes,
    confirmation: 'required',
  },
  {
    method: 'GET',
    path: '/settings/security/recovery-codes/:oneTimeToken',
    access: 'signed-in',
    cost: 'rows',
    page: showRecoveryCodes,
  },
  { method: 'GET', path: '/settings/security/passkeys/new', access: 'signed-in', cost: 'rows', page: showNewPasskey },
  {
    method: 'POST',
    path: '/settings/security/passkeys',
    access: 'signed-in',
    cost: 'rows',
    page: addPasskey,
    confirmation: 'required',
  },
  {
    method: 'POST',
    path: '/settings/security/passkeys/:id/delete',
    access: 'signed-in',
    cost: 'rows',
    page: removePasskey,
    confirmation: 'required',
  },
  { method: 'GET', path: '/settings/sessions', access: 'signed-in', cost: 'rows', page: showSessions },
  {
    method: 'POST',
    path: '/settings/sessions/revoke-others',
    access: 'signed-in',
    cost: 'rows',
    page: revokeOtherSessions,
  },
  { method: 'POST', path: '/settings/sessions/:id/revoke', access: 'signed-in', cost: 'rows', page: revokeSession },
  { method: 'GET', path: '/settings/appearance', access: 'public', cost: 'free', page: showAppearance },
  { method: 'POST', path: '/settings/appearance', access: 'public', cost: 'free', page: saveAppearance },
  { method: 'GET', path: '/:username.keys', access: 'public', cost: 'rows', page: showPublicKeys },
  { method: 'GET', path: '/:username.gpg', access: 'public', cost: 'rows', page: showPublicGpgKeys },
  { method: 'GET', path: '/users/:username/stars', access: 'public', cost: 'rows', page: showStars },
  { method: 'GET', path: '/users/:username/followers', access: 'public', cost: 'rows', page: showFollows('followers') },
  { method: 'GET', path: '/users/:username/following', access: 'public', cost: 'rows', page: showFollows('following') },
  { method: 'POST', path: '/users/:username/follow', access: 'signed-in', cost: 'rows', page: followPerson },
  { method: 'POST', path: '/users/:username/unfollow', access: 'signed-in', cost: 'rows', page: unfollowPerson },
  { method: 'GET', path: '/users/:username', access: 'public', cost: 'rows', page: showPerson },
];
