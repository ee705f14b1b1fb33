import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { ReleaseDeps, ReleaseEvent } from '../deps.ts';
import { releaseFileSchema } from '../schema/release-schema.ts';
import type { ReleaseRow } from '../schema/release-schema.ts';

/** Calls the listeners of an event, inside the write that causes it. */
export async function announce(
  { listeners }: Pick<ReleaseDeps, 'listeners'>,
  tx: Tx,
  viewer: Viewer,
  { action, repository, release }: { action: ReleaseEvent['action']; repository: Repository; release: ReleaseRow },
): Promise<void> {
  const files = await tx.manager.find(releaseFileSchema, { where: { releaseId: release.id }, order: { name: 'ASC' } });
  const event = { action, repository, release, files, actorId: personIdOf(viewer) };
  for (const listener of listeners) await listener(tx, event);
}
