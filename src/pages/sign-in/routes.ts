import type { Route } from '../app/route.ts';
import { resendInvite, showInvites, addInvite, showNewInvite, removeInvite } from './invites.page.ts';
import { continueForm } from '../app/confirm-identity.ts';
import { goToProvider, returnFromProvider, signOutAtProvider } from './provider.page.ts';
import { showProviderSignUp, signUpFromProvider } from './provider-sign-up.page.ts';
import { showSignInLink, signInByLink } from './sign-in-link.page.ts';
import { showLogin, signIn, signOut } from './login.page.ts';
import { showPasskeyLogin, signInWithPasskey } from './passkey.page.ts';
import { verifySecondFactorCode, verifySecondFactorPasskey, showSecondFactor } from './second-factor.page.ts';
import { showForgotPassword, requestReset, showReset, resetPassword } from './reset-password.page.ts';
import { showSetup, setUp } from './setup.page.ts';
import { approveRequest, refuseRequest, requestSignUp, showSignUpRequest } from './sign-up-request.page.ts';
import { showSignup, signUp } from './signup.page.ts';

/** Sessions, sign-up, initial setup and invitations. */
export const signInRoutes: readonly Route[] = [
  { method: 'GET', path: '/setup', access: 'public', cost: 'rows', page: showSetup },
  { method: 'POST', path: '/setup', access: 'public', cost: 'password', page: setUp },
  { method: 'GET', path: '/login', access: 'public', cost: 'rows', page: showLogin },
  { method: 'POST', path: '/login', access: 'public', cost: 'password', page: signIn },
  { method: 'GET', path: '/login/second-factor', access: 'public', cost: 'rows', page: showSecondFactor },
  { method: 'POST', path: '/login/second-factor', access: 'public', cost: 'rows', page: verifySecondFactorCode },
  {
    method: 'POST',
    path: '/login/second-factor/passkey',
    access: 'public',
    cost: 'rows',
    page: verifySecondFactorPasskey,
  },
  { method: 'GET', path: '/login/passkey', access: 'public', cost: 'rows', page: showPasskeyLogin },
  { method: 'POST', path: '/login/passkey', access: 'public', cost: 'rows', page: signInWithPasskey },
  { method: 'GET', path: '/login/forgot', access: 'public', cost: 'free', page: showForgotPassword },
  { method: 'POST', path: '/login/forgot', access: 'public', cost: 'rows', page: requestReset },
  { method: 'GET', path: '/login/reset', access: 'public', cost: 'rows', page: showReset },
  { method: 'POST', path: '/login/reset', access: 'public', cost: 'password', page: resetPassword },
  { method: 'POST', path: '/logout', access: 'public', cost: 'rows', page: signOut },
  { method: 'GET', path: '/login/oidc/:provider', access: 'public', cost: 'signature', page: goToProvider },
  {
    method: 'GET',
    path: '/login/oidc/:provider/callback',
    access: 'public',
    cost: 'signature',
    page: returnFromProvider,
  },
  { method: 'GET', path: '/logout/oidc/:provider', access: 'public', cost: 'signature', page: signOutAtProvider },
  { method: 'GET', path: '/login/sign-up', access: 'public', cost: 'rows', page: showProviderSignUp },
  { method: 'POST', path: '/login/sign-up', access: 'public', cost: 'rows', page: signUpFromProvider },
  { method: 'GET', path: '/login/link', access: 'public', cost: 'rows', page: showSignInLink },
  { method: 'POST', path: '/login/link', access: 'public', cost: 'rows', page: signInByLink },
  { method: 'GET', path: '/login/confirm/:token', access: 'signed-in', cost: 'free', page: continueForm },
  { method: 'GET', path: '/signup', access: 'public', cost: 'rows', page: showSignup },
  { method: 'POST', path: '/signup', access: 'public', cost: 'password', page: signUp },
  { method: 'GET', path: '/signup/request', access: 'public', cost: 'free', page: showSignUpRequest },
  { method: 'POST', path: '/signup/request', access: 'public', cost: 'rows', page: requestSignUp },
  { method: 'POST', path: '/admin/sign-ups/:id/approve', access: 'administrator', cost: 'rows', page: approveRequest },
  { method: 'POST', path: '/admin/sign-ups/:id/refuse', access: 'administrator', cost: 'rows', page: refuseRequest },
  { method: 'GET', path: '/admin/invites', access: 'administrator', cost: 'rows', page: showInvites },
  { method: 'POST', path: '/admin/invites', access: 'administrator', cost: 'rows', page: addInvite },
  {
    method: 'GET',
    path: '/admin/invites/new/:oneTimeToken',
    access: 'administrator',
    cost: 'rows',
    page: showNewInvite,
  },
  { method: 'POST', path: '/admin/invites/:id/send', access: 'administrator', cost: 'rows', page: resendInvite },
  { method: 'POST', path: '/admin/invites/:id/delete', access: 'administrator', cost: 'rows', page: removeInvite },
];
