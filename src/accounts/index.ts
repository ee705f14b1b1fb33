export { createAccounts } from './accounts.ts';
export type { Accounts, AccountsOptions } from './accounts.ts';
export { defaultAccountSettings } from './account-settings.ts';
export type { AccountSettings } from './account-settings.ts';

export type { AccountMail } from './addresses/account-mail.ts';
export type { NewAddress } from './addresses/add-address.ts';
export type { Addresses } from './addresses/addresses.ts';
export type { EmailAddress } from './addresses/email-address.ts';

export type { Identity, VerifiedIdentity } from './identities/identity.ts';
export type { IdentitySignUp } from './identities/sign-up-with-identity.ts';

export type { Person } from './people/person.ts';
export type { AccountDeletionHook } from './people/account-deletion-hook.ts';
export type { PeopleOptions, PeoplePage, ProfileOrder } from './people/list-profiles.ts';
export type { NewPerson } from './people/insert-person.ts';
export type { Profile } from './people/update-profile.ts';
export { maxPasswordBytes, minPasswordCharacters } from './password-rules.ts';
export type { PasswordChange } from './passwords/change-password.ts';
export type { Session } from './sessions/session-expiry.ts';
export { deviceName } from './sessions/device-name.ts';
export type { AccessPlace, AnnouncedEvent, SecurityEvent, SecurityListener } from './security-events.ts';
export type { SessionOrigin, StartedSession } from './sessions/start-session.ts';
export type { IdentifiedSignIn, SecondFactorNeeded, SignedIn, SignInResult } from './sessions/complete-sign-in.ts';
export type { SignInInput } from './sessions/sign-in.ts';
export type { CodeAnswer } from './second-factor/answer-challenge.ts';
export type { Passkey } from './passkeys/passkey.ts';
export type { Passkeys } from './passkeys/passkeys.ts';
export type { PasskeyBinding } from './passkeys/passkey-challenge.ts';
export { base32, otpauthUri } from './second-factor/totp.ts';
export type { SecondFactors, SecondFactorState } from './second-factor/second-factor.ts';
export type { SecondFactor, SignInMethod } from './schema/session-schema.ts';
export type { SessionViewer } from './sessions/viewer-of-session.ts';
export { networkPrefix } from './sessions/network-prefix.ts';
export type { AccessToken } from './tokens/access-token.ts';
export type { NewAccessToken } from './tokens/add-token.ts';
export { hashSecret, looksLikeSecret, newSecret } from './secret.ts';
export { apiScopeNames, scopeFor, scopesGiven } from './tokens/scope-names.ts';
export type { ApplicationTokens } from './tokens/application-tokens.ts';
export { looksLikeAccessToken } from './tokens/token-format.ts';
export { deployKeyAccesses, deployKeySchema } from './schema/deploy-key-schema.ts';
export type { DeployKeyAccess } from './schema/deploy-key-schema.ts';
export type { DeployKey, NewDeployKey } from './keys/deploy-keys.ts';
export type { NewSshKey } from './keys/add-key.ts';
export type { KeyOwner } from './keys/key-owners.ts';
export type { SshKey } from './keys/ssh-key.ts';
export { sshKeyUses } from './schema/ssh-key-schema.ts';
export type { SshKeyUse } from './schema/ssh-key-schema.ts';
export { fingerprintOf } from './keys/ssh-public-key.ts';
export { parsePublicKeyLine } from './keys/ssh-public-key.ts';
export { checkSshSignature } from './keys/ssh-signature.ts';
export type { CheckedSshSignature } from './keys/ssh-signature.ts';
export type { KeyViewer } from './keys/viewer-of-key.ts';
export type { ResetRequest } from './passwords/reset-password.ts';
export type { InviteJoins } from './registration/sign-up-hook.ts';
export type { Invite, NewInvite } from './registration/invites.ts';
export type { SetUpInput } from './registration/set-up.ts';
export type { SignUpInput } from './registration/sign-up.ts';

/** The rule for texts that people write; other modules use it, too. */
export { cleanText, parseText } from './validate-text.ts';
export type { TextRule } from './validate-text.ts';

export { accountEntities } from './account-entities.ts';
