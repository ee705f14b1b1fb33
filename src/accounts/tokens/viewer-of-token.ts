import type { PersonViewer } from '../../access/index.ts';
import { accessTokenRepositorySchema, accessTokenSchema } from '../schema/access-token-schema.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret } from '../secret.ts';
import { userSchema } from '../schema/user-schema.ts';
import { looksLikeAccessToken } from './token-format.ts';

/**
 * The user of an access token. `null` if it is malformed, unknown, expired or revoked, or its owner is disabled.
 *
 * A token never has more permissions than its owner currently has: they are looked up at each use. It administers the
 * instance only if its owner does and it is limited neither in scope nor in repositories. A packages-only token is not
 * accepted elsewhere.
 */
export async function viewerOfToken(
  { db, clock, lastUse, applicationTokens }: AccountsDeps,
  secret: string,
  { address, use = 'everything' }: { address: string | null; use?: 'everything' | 'packages' },
): Promise<PersonViewer | null> {
  if (!looksLikeAccessToken(secret)) return viewerOfApplication({ db, applicationTokens }, secret, use);
  const [token] = await db.lookup(accessTokenSchema, { tokenHash: hashSecret(secret) });
  if (token === undefined || (token.expiresAt !== null && clock.now() >= token.expiresAt)) return null;
  if (token.onlyPackages && use !== 'packages') return null;
  const [user] = await db.lookup(userSchema, { id: token.userId });
  if (user === undefined || user.disabledAt !== null) return null;
  const links = token.allRepositories ? null : await db.read.findBy(accessTokenRepositorySchema, { tokenId: token.id });

  lastUse.record({ kind: 'token', id: token.id, personId: user.id, address, lastUsedAt: token.lastUsedAt });
  return {
    kind: 'person',
    id: user.id,
    username: user.username,
    isAdministrator: user.isAdministrator && token.access === 'admin' && token.allRepositories,
    via: 'token',
    scope: token.access,
    repositoryIds: links === null ? null : links.map((link) => link.repositoryId),
  };
}

/** An application acts as the user who authorised it, within its scope. */
async function viewerOfApplication(
  { db, applicationTokens }: Pick<AccountsDeps, 'db' | 'applicationTokens'>,
  secret: string,
  use: 'everything' | 'packages',
): Promise<PersonViewer | null> {
  const token = await applicationTokens.port?.find(secret);
  if (!token || (token.onlyPackages && use !== 'packages')) return null;
  const [user] = await db.lookup(userSchema, { id: token.userId });
  if (user === undefined || user.disabledAt !== null) return null;
  return {
    kind: 'person',
    id: user.id,
    username: user.username,
    isAdministrator: user.isAdministrator && token.access === 'admin',
    via: 'token',
    scope: token.access,
    repositoryIds: null,
  };
}
