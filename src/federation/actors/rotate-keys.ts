import { notFound } from '../../kernel/index.ts';
import type { FederationDeps } from '../deps.ts';
import { keySchema } from '../schema/key-schema.ts';

/**
 * Replaces the keys of local actors, one write each: a kill in between leaves every actor with its old or its new key,
 * and the next call rotates all of them again. The key id stays the same, and other servers refetch the key when a
 * signature does not match the one that they have. Throws `unknown_actor`.
 * @param actorId one actor; all if omitted
 * @returns the ids of the actors
 */
export async function rotateKeys(
  { db, localActors, logger, settings }: FederationDeps,
  { actorId, onProgress }: { actorId?: string | undefined; onProgress?: (done: number, all: number) => void } = {},
): Promise<string[]> {
  const path = actorId?.startsWith(settings.origin) ? actorId.slice(settings.origin.length) : actorId;
  const rows = await db.read.find(keySchema, {
    select: { apPath: true },
    where: path === undefined ? {} : { apPath: path },
    order: { apPath: 'ASC' },
  });
  if (path !== undefined && rows.length === 0) throw notFound('unknown_actor', 'There is no such actor with a key.');
  const rotated: string[] = [];
  for (const { apPath } of rows) {
    if (await localActors.rotateKey(apPath)) rotated.push(localActors.idOf(apPath));
    onProgress?.(rotated.length, rows.length);
  }
  logger.info('federation_key.rotated', { actors: rotated.length, ...(path === undefined ? {} : { actor: path }) });
  return rotated;
}
