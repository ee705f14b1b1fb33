import { accessTokenRepositorySchema, accessTokenSchema } from '../schema/access-token-schema.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret } from '../secret.ts';
import { toAccessToken } from './access-token.ts';
import type { AccessToken } from './access-token.ts';
import { looksLikeAccessToken } from './token-format.ts';

/** The access token with this secret; `null` for any other text. */
export async function tokenOfSecret({ db }: Pick<AccountsDeps, 'db'>, secret: string): Promise<AccessToken | null> {
  if (!looksLikeAccessToken(secret)) return null;
  const [token] = await db.lookup(accessTokenSchema, { tokenHash: hashSecret(secret) });
  if (token === undefined) return null;
  const links = token.allRepositories ? [] : await db.read.findBy(accessTokenRepositorySchema, { tokenId: token.id });
  return toAccessToken(
    token,
    links.map(({ repositoryId }) => repositoryId),
  );
}
