import { In } from 'typeorm';
import { selectRows } from '../../db/index.ts';
import { accessTokenRepositorySchema, accessTokenSchema } from '../schema/access-token-schema.ts';
import type { AccountsDeps } from '../deps.ts';
import { toAccessToken } from './access-token.ts';
import type { AccessToken } from './access-token.ts';

/**
 * A user's tokens, newest first, including expired ones: the list must explain why a script stopped working.
 * @param personId `null` lists the tokens of all users, for the command line
 */
export async function listTokens({ db }: AccountsDeps, personId: string | null): Promise<AccessToken[]> {
  const ofPerson = personId === null ? '' : 'WHERE a.user_id = :personId';
  const sql = `SELECT a.* FROM access_tokens a ${ofPerson} ORDER BY a.created_at DESC, a.id`;
  const rows = await selectRows(db.read, accessTokenSchema, sql, { personId });
  const limited = rows.filter((row) => !row.allRepositories).map((row) => row.id);
  const reached = new Map<string, string[]>(limited.map((id) => [id, []]));
  if (limited.length > 0) {
    const links = await db.read.find(accessTokenRepositorySchema, {
      where: personId === null ? {} : { tokenId: In(limited) },
    });
    for (const { tokenId, repositoryId } of links) reached.get(tokenId)?.push(repositoryId);
  }
  return rows.map((row) => toAccessToken(row, reached.get(row.id) ?? []));
}
