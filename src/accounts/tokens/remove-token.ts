import { notFound } from '../../kernel/index.ts';
import { accessTokenSchema } from '../schema/access-token-schema.ts';
import type { AccountsDeps } from '../deps.ts';

/** Revokes a user's token; requests are rejected from the next one on. Throws `not_found`. */
export async function removeToken({ db }: AccountsDeps, personId: string, tokenId: string): Promise<void> {
  await db.write(async ({ manager }) => {
    const { affected } = await manager.delete(accessTokenSchema, { id: tokenId, userId: personId });
    if (affected === 0) throw notFound('unknown_token', 'There is no such token.');
  });
}
