import { accessTokenRepositorySchema, accessTokenSchema } from './access-token-schema.ts';
import { inviteSchema } from './invite-schema.ts';
import { sessionSchema } from './session-schema.ts';
import { setupTokenSchema } from './setup-token-schema.ts';
import { sshKeySchema } from './ssh-key-schema.ts';
import { userSchema } from './user-schema.ts';

/** The tables of this room, for whoever opens the database. */
export const accountEntities = [
  userSchema,
  sessionSchema,
  accessTokenSchema,
  accessTokenRepositorySchema,
  sshKeySchema,
  inviteSchema,
  setupTokenSchema,
] as const;
