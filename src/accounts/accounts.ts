import { bindDeps } from '../kernel/index.ts';
import { createAddresses } from './addresses/addresses.ts';
import { defineAddressMails } from './addresses/verification-mail.ts';
import { addInvite, checkInvite, listInvites, removeInvite, resendInvite } from './registration/invites.ts';
import { defineInviteMail } from './registration/invite-mail.ts';
import {
  approveSignUp,
  defineSignUpMails,
  listSignUpRequests,
  refuseSignUp,
  requestSignUp,
} from './registration/sign-up-requests.ts';
import type { Identity, VerifiedIdentity } from './identities/identity.ts';
import type { SignUpHook } from './ports/sign-up-hook.ts';
import { setUp } from './registration/set-up.ts';
import { checkSetupToken, setupToken } from './registration/setup-token.ts';
import { signUp } from './registration/sign-up.ts';
import { addIdentity, recordIdentityUse } from './identities/add-identity.ts';
import { listIdentities, personOfIdentity } from './identities/find-identity.ts';
import { removeIdentity } from './identities/remove-identity.ts';
import { signUpWithIdentity } from './identities/sign-up-with-identity.ts';
import { addKey } from './keys/add-key.ts';
import { addDeployKey, deployKeyViewer, listDeployKeys, readDeployKey, removeDeployKey } from './keys/deploy-keys.ts';
import { keyBlob } from './keys/key-blob.ts';
import { findKeyOwners } from './keys/key-owners.ts';
import { keyByNumber, listKeys } from './keys/list-keys.ts';
import { publicKeyLines } from './keys/public-key-lines.ts';
import { removeKey } from './keys/remove-key.ts';
import { setKeyUse } from './keys/set-key-use.ts';
import { viewerOfKey } from './keys/viewer-of-key.ts';
import { createFollowing } from './following/following.ts';
import { changePassword } from './passwords/change-password.ts';
import { checkPasswordReset, makeResetLink, requestPasswordReset, resetPassword } from './passwords/reset-password.ts';
import { defineResetMail } from './passwords/reset-mail.ts';
import { setPassword } from './passwords/set-password.ts';
import { viewerOfPassword } from './passwords/verify-password.ts';
import { suggestPassword } from './passwords/suggest-password.ts';
import type { Person } from './person.ts';
import { announceSecurityEvent } from './security-events.ts';
import type { SecurityListener } from './security-events.ts';
import { withLog } from './with-log.ts';
import { addPerson } from './addresses/add-person.ts';
import { chooseHandle } from './people/choose-handle.ts';
import { deleteOwnAccount } from './people/delete-own-account.ts';
import { deletePerson } from './people/delete-person.ts';
import type { AccountDeletionHook } from './ports/account-deletion-hook.ts';
import {
  activePerson,
  hasAdministrator,
  idByNumber,
  listPeople,
  peopleById,
  personById,
  personByUsername,
} from './people/find-people.ts';
import { listReferencedPeople } from './people/list-members-paged.ts';
import { countPeople, listAccounts, listProfiles } from './people/list-profiles.ts';
import { renamePerson } from './people/rename-person.ts';
import { setAdministrator } from './people/set-administrator.ts';
import { setDisabled } from './people/set-disabled.ts';
import { updateProfile } from './people/update-profile.ts';
import { removeExpired } from './remove-expired.ts';
import type { AccountsDeps } from './deps.ts';
import { revokeOtherSessions, revokeSession, signOut } from './sessions/end-sessions.ts';
import { listSessions } from './sessions/list-sessions.ts';
import { confirmSession, confirmWithPassword, hasPassword, isRecentlyConfirmed } from './sessions/confirm-session.ts';
import { completeSignIn } from './sessions/complete-sign-in.ts';
import { signIn } from './sessions/sign-in.ts';
import { createSecondFactor } from './second-factor/second-factor.ts';
import { createPasskeys } from './passkeys/passkeys.ts';
import { checkSignInLink, makeSignInLink, redeemSignInLink } from './sessions/sign-in-link.ts';
import { startSession } from './sessions/start-session.ts';
import { viewerOfSession } from './sessions/viewer-of-session.ts';
import { addToken } from './tokens/add-token.ts';
import { listTokens } from './tokens/list-tokens.ts';
import { removeToken } from './tokens/remove-token.ts';
import { tokenOfSecret } from './tokens/token-of-secret.ts';
import { viewerOfToken } from './tokens/viewer-of-token.ts';
import type { ApplicationTokens } from './ports/application-tokens.ts';
import { openDeps } from './open-deps.ts';
import type { AccountsOptions } from './open-deps.ts';

/**
 * Users and their credentials: passwords, sessions, access tokens, SSH keys, invitations, the first administrator. The
 * functions behind the names document their behaviour and errors.
 */
export function createAccounts(options: AccountsOptions) {
  const deps = openDeps(options);
  defineAddressMails(deps);
  defineResetMail(deps);
  defineInviteMail(deps);
  defineSignUpMails(deps);
  const bind = bindDeps(deps);
  return {
    ...peopleOf(deps),
    ...credentialsOf(deps),
    ...sessionsOf(deps),
    ...registrationOf(deps),
    secondFactor: createSecondFactor(deps),
    passkeys: createPasskeys(deps),
    addresses: createAddresses(deps),
    following: createFollowing(deps),

    removeExpired: bind(removeExpired),
    /** Resolves when all "last used" times recorded so far are written and requested resets are queued. */
    settled: async () => {
      await Promise.all([deps.lastUse.settled(), ...deps.background]);
    },
    /** Must be awaited before the database closes: no "last used" is written afterwards. */
    stop: async () => {
      await Promise.all([deps.lastUse.stop(), ...deps.background]);
    },
  };
}

/** Users, and the events about them that other modules subscribe to. */
function peopleOf(deps: AccountsDeps) {
  const bind = bindDeps(deps);
  return {
    addPerson: withLog(deps, 'person.added', bind(addPerson), (person) => byName(person)),
    personById: bind(personById),
    personByUsername: bind(personByUsername),
    activePerson: bind(activePerson),
    peopleById: bind(peopleById),
    idByNumber: bind(idByNumber),
    listPeople: bind(listPeople),
    listProfiles: bind(listProfiles),
    listAccounts: bind(listAccounts),
    countPeople: bind(countPeople),
    listPeopleAmong: bind(listReferencedPeople),
    hasAdministrator: bind(hasAdministrator),
    chooseHandle: bind(chooseHandle),
    updateProfile: bind(updateProfile),
    renamePerson: bind(renamePerson),
    deletePerson: bind(deletePerson),
    deleteOwnAccount: bind(deleteOwnAccount),
    /** Registers a hook that runs before a user is deleted and may reject the deletion. */
    onAccountDeletion: (hook: AccountDeletionHook) => void deps.deletionHooks.push(hook),
    /** Registers a listener of new keys, tokens, sessions, and changed passwords and primary addresses. */
    onSecurityEvent: (listener: SecurityListener) => void deps.securityListeners.push(listener),
    /** For events of modules that build on this one; runs inside the event's transaction. */
    announceSecurityEvent: bind(announceSecurityEvent),
    setDisabled: withLog(
      deps,
      (_id, disabled) => (disabled ? 'person.disabled' : 'person.enabled'),
      bind(setDisabled),
      (person) => byName(person),
    ),
    setAdministrator: withLog(
      deps,
      (_id, is) => (is ? 'person.administrator_set' : 'person.administrator_unset'),
      bind(setAdministrator),
      (person) => byName(person),
    ),
  };
}

/** Passwords, access tokens and keys. */
function credentialsOf(deps: AccountsDeps) {
  const bind = bindDeps(deps);
  return {
    setPassword: withLog(deps, 'person.password_set', bind(setPassword), (_done, personId) => ({ personId })),
    changePassword: withLog(deps, 'person.password_changed', bind(changePassword), (_done, personId) => ({
      personId,
      by: personId,
    })),
    requestPasswordReset: bind(requestPasswordReset),
    makeResetLink: withLog<[string, { lifetimeMs?: number }?], { secret: string; expiresAt: number }>(
      deps,
      'person.reset_link_made',
      bind(makeResetLink),
      (_link, personId) => ({ personId }),
    ),
    checkPasswordReset: bind(checkPasswordReset),
    resetPassword: withLog(deps, 'person.password_reset', bind(resetPassword), (person) => byName(person)),
    suggestPassword: () => suggestPassword(deps.random),

    addToken: withLog(deps, 'token.added', bind(addToken), ({ token }, personId) => ({
      personId,
      tokenId: token.id,
      name: token.name,
      access: token.access,
    })),
    listTokens: bind(listTokens),
    removeToken: withLog(deps, 'token.removed', bind(removeToken), (_done, personId, tokenId) => ({
      personId,
      tokenId,
    })),
    viewerOfToken: bind(viewerOfToken),
    tokenOfSecret: bind(tokenOfSecret),
    /** Connects application tokens, which authenticate calls like access tokens. */
    takeApplicationTokens(port: ApplicationTokens): void {
      deps.applicationTokens.port = port;
    },
    viewerOfPassword: bind(viewerOfPassword),

    addKey: withLog(deps, 'key.added', bind(addKey), ({ id, fingerprint, uses }, personId) => ({
      personId,
      keyId: id,
      fingerprint,
      uses,
    })),
    listKeys: bind(listKeys),
    keyByNumber: bind(keyByNumber),
    publicKeyLines: bind(publicKeyLines),
    setKeyUse: withLog(deps, 'key.use_changed', bind(setKeyUse), ({ id, uses }, personId) => ({
      personId,
      keyId: id,
      uses,
    })),
    keyHolders: bind(findKeyOwners),
    removeKey: withLog(deps, 'key.removed', bind(removeKey), (_done, personId, keyId) => ({ personId, keyId })),
    viewerOfKey: bind(viewerOfKey),
    keyBlob: bind(keyBlob),
    deployKeys: {
      check: readDeployKey,
      addIn: bind(addDeployKey),
      removeIn: removeDeployKey,
      list: bind(listDeployKeys),
      viewerOf: deployKeyViewer,
    },
  };
}

/** Sessions, and provider accounts for sign-in. */
function sessionsOf(deps: AccountsDeps) {
  const bind = bindDeps(deps);
  return {
    signIn: bind(signIn),
    completeSignIn: bind(completeSignIn),
    startSession: bind(startSession),
    signOut: bind(signOut),
    viewerOfSession: bind(viewerOfSession),
    isRecentlyConfirmed: bind(isRecentlyConfirmed),
    confirmSession: bind(confirmSession),
    confirmWithPassword: bind(confirmWithPassword),
    hasPassword: bind(hasPassword),
    listSessions: bind(listSessions),
    revokeSession: withLog(deps, 'session.revoked', bind(revokeSession), (_done, personId, sessionId) => ({
      personId,
      sessionId,
    })),
    revokeOtherSessions: withLog(deps, 'session.others_revoked', bind(revokeOtherSessions), (ended, personId) => ({
      personId,
      ended,
    })),

    personOfIdentity: bind(personOfIdentity),
    listIdentities: bind(listIdentities),
    recordIdentityUse: bind(recordIdentityUse),
    addIdentity: withLog(deps, 'identity.added', bind(addIdentity), (identity, personId) => ({
      personId,
      ...identityFields(identity),
    })),
    removeIdentity: withLog<[string, string, { evenIfLast?: boolean }?], Identity>(
      deps,
      'identity.removed',
      bind(removeIdentity),
      (identity, personId) => ({ personId, ...identityFields(identity) }),
    ),
    signUpWithIdentity: withLog(deps, 'person.signed_up', bind(signUpWithIdentity), (person, { identity }) => ({
      ...byName(person),
      ...identityFields(identity),
      by: person.id,
    })),
    makeSignInLink: withLog<[string, { lifetimeMs?: number }?], { secret: string; expiresAt: number }>(
      deps,
      'person.sign_in_link_made',
      bind(makeSignInLink),
      (_link, personId) => ({ personId }),
    ),
    checkSignInLink: bind(checkSignInLink),
    redeemSignInLink: withLog(deps, 'person.sign_in_link_used', bind(redeemSignInLink), (person) => ({
      ...byName(person),
      by: person.id,
    })),
  };
}

/** The first administrator, invitations and sign-ups. */
function registrationOf(deps: AccountsDeps) {
  const bind = bindDeps(deps);
  return {
    /** Registers a hook inside the transaction of a sign-up by invitation. */
    onSignUp: (hook: SignUpHook) => void deps.signUpHooks.push(hook),
    setupToken: bind(setupToken),
    checkSetupToken: bind(checkSetupToken),
    setUp: withLog(deps, 'setup.done', bind(setUp), (person) => ({ ...byName(person), by: person.id })),
    addInvite: withLog(deps, 'invite.added', bind(addInvite), ({ invite }) => ({
      inviteId: invite.id,
      ...(invite.address === null ? {} : { email: invite.address }),
      ...(invite.createdBy === null ? {} : { by: invite.createdBy }),
    })),
    listInvites: bind(listInvites),
    resendInvite: withLog(deps, 'invite.sent_again', bind(resendInvite), ({ id }) => ({ inviteId: id })),
    removeInvite: withLog(deps, 'invite.removed', bind(removeInvite), (_done, inviteId) => ({ inviteId })),
    checkInvite: bind(checkInvite),
    signUp: withLog(deps, 'invite.used', bind(signUp), (person) => ({ ...byName(person), by: person.id })),

    requestSignUp: bind(requestSignUp),
    listSignUpRequests: bind(listSignUpRequests),
    approveSignUp: withLog(deps, 'sign_up.approved', bind(approveSignUp), ({ invite }) => ({
      inviteId: invite.id,
      email: invite.address ?? '',
      ...(invite.createdBy === null ? {} : { by: invite.createdBy }),
    })),
    refuseSignUp: withLog(deps, 'sign_up.refused', bind(refuseSignUp), ({ address }) => ({ email: address })),
  };
}

const identityFields = ({ issuer, subject }: VerifiedIdentity) => ({ issuer, subject });

const byName = ({ id, username }: Person) => ({ personId: id, username });

export type Accounts = ReturnType<typeof createAccounts>;
