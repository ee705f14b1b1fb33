import { accessTokenRepositorySchema, accessTokenSchema } from './schema/access-token-schema.ts';
import { oneTimeLinkSchema } from './schema/one-time-link-schema.ts';
import { deployKeySchema } from './schema/deploy-key-schema.ts';
import { emailAddressSchema } from './schema/email-address-schema.ts';
import { identitySchema } from './schema/identity-schema.ts';
import { inviteSchema } from './schema/invite-schema.ts';
import { signUpRequestSchema } from './schema/sign-up-request-schema.ts';
import { sessionSchema } from './schema/session-schema.ts';
import { setupTokenSchema } from './schema/setup-token-schema.ts';
import { signInLinkSchema } from './schema/sign-in-link-schema.ts';
import { sshKeySchema } from './schema/ssh-key-schema.ts';
import { passkeySchema, usedPasskeyChallengeSchema } from './schema/passkey-schema.ts';
import { recoveryCodeSchema, totpSecretSchema } from './schema/second-factor-schema.ts';
import { signInChallengeSchema } from './schema/sign-in-challenge-schema.ts';
import { userFollowSchema } from './schema/user-follow-schema.ts';
import { userSchema } from './schema/user-schema.ts';

/** Tables of this module, for the code that opens the database. */
export const accountEntities = [
  userSchema,
  userFollowSchema,
  sessionSchema,
  accessTokenSchema,
  accessTokenRepositorySchema,
  sshKeySchema,
  deployKeySchema,
  inviteSchema,
  signUpRequestSchema,
  setupTokenSchema,
  emailAddressSchema,
  oneTimeLinkSchema,
  signInChallengeSchema,
  totpSecretSchema,
  recoveryCodeSchema,
  passkeySchema,
  usedPasskeyChallengeSchema,
  identitySchema,
  signInLinkSchema,
] as const;
