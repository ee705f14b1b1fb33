import { viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { CopyDeps } from './deps.ts';
import { describeCopies, noSuchCopy } from './describe-copies.ts';
import { keptCopySchema } from './kept-copy-schema.ts';
import type { KeptCopyRow } from './kept-copy-schema.ts';

async function ownCopy({ db }: CopyDeps, userId: string, repositoryId: string): Promise<KeptCopyRow> {
  const row = await db.read.findOneBy(keptCopySchema, { repositoryId, userId });
  if (row === null) throw noSuchCopy();
  return row;
}

/** Moves a person's copy to the trash. Throws `unknown_copy`, for those of others alike, and as a deletion does. */
export async function dropCopy(deps: CopyDeps, viewer: Viewer, userId: string, repositoryId: string): Promise<void> {
  const [copy] = await describeCopies(deps, [await ownCopy(deps, userId, repositoryId)]);
  if (copy!.place === null) throw noSuchCopy();
  await deps.repositories.trash.move(viewer, copy!.place.owner, copy!.place.name);
}

/**
 * Turns a person's copy into an ordinary repository of theirs, which no longer follows its origin and takes pushes.
 * Throws `unknown_copy`, for those of others alike.
 */
export async function makeOwnRepository(
  deps: CopyDeps,
  viewer: Viewer,
  userId: string,
  repositoryId: string,
): Promise<void> {
  await ownCopy(deps, userId, repositoryId);
  const located = (await deps.repositories.locate([repositoryId])).get(repositoryId);
  if (located === undefined) throw noSuchCopy();
  await deps.mirrors.copies.end(repositoryId, located.path);
  await deps.repositories.makeOwn(repositoryId);
  await deps.db.write(({ manager }) => manager.delete(keptCopySchema, { repositoryId }));
  deps.logger.info('copy.made_own', { repositoryId, by: viewerForLog(viewer) });
}
