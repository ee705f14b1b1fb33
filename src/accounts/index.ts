export { createAccounts } from './accounts.ts';
export type { Accounts } from './accounts.ts';
export type { AccountSettings } from './account-settings.ts';

export type { AccountMail } from './ports/account-mail.ts';
export type { EmailAddress } from './addresses/email-address.ts';

export type { Identity } from './identities/identity.ts';

export type { Person } from './person.ts';
export type { AccountDeletionHook } from './ports/account-deletion-hook.ts';
export type { PeopleOptions } from './people/list-profiles.ts';
export type { Session } from './sessions/session-expiry.ts';
export { deviceName } from './sessions/device-name.ts';
export type { AccessPlace, AnnouncedEvent, SecurityEvent, SecurityListener } from './security-events.ts';
export type { SessionOrigin } from './sessions/start-session.ts';
export type { SignedIn, SignInResult } from './sessions/complete-sign-in.ts';
export { base32, otpauthUri } from './second-factor/totp.ts';
export type { SecondFactorState } from './second-factor/second-factor.ts';
export type { SessionViewer } from './sessions/viewer-of-session.ts';
export type { AccessToken } from './tokens/access-token.ts';
export type { NewAccessToken } from './tokens/add-token.ts';
export { hashSecret, looksLikeSecret, newSecret } from './secret.ts';
export { apiScopeNames, scopeFor, scopesGiven } from './tokens/scope-names.ts';
export type { ApplicationTokens } from './ports/application-tokens.ts';
export { looksLikeAccessToken } from './tokens/token-format.ts';
export type { DeployKey, NewDeployKey } from './keys/deploy-keys.ts';
export type { KeyOwner } from './keys/key-owners.ts';
export type { SshKey } from './keys/ssh-key.ts';
export { sshKeyUses } from './schema/ssh-key-schema.ts';
export type { SshKeyUse } from './schema/ssh-key-schema.ts';
export { fingerprintOf } from './keys/ssh-public-key.ts';
export { parsePublicKeyLine } from './keys/ssh-public-key.ts';
export { checkSshSignature } from './keys/ssh-signature.ts';
export type { CheckedSshSignature } from './keys/ssh-signature.ts';
export type { KeyViewer } from './keys/viewer-of-key.ts';
export type { InviteJoins } from './ports/sign-up-hook.ts';
export type { Invite, NewInvite } from './registration/invites.ts';

/** The rule for texts that people write, also for other modules. */
export { parseWebsite } from './people/profile-rules.ts';
export { cleanText, parseText } from './validate-text.ts';
export type { TextRule } from './validate-text.ts';

export { accountEntities } from './account-entities.ts';
