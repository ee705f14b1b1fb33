import type { Tx } from '../../db/index.ts';
import type { ReleaseDeps, ReleaseEvent } from '../deps.ts';
import { releaseFileSchema } from '../schema/release-schema.ts';

/** Calls the listeners of an event, inside the write that causes it. */
export async function announce(
  { listeners }: Pick<ReleaseDeps, 'listeners'>,
  tx: Tx,
  event: Omit<ReleaseEvent, 'files'>,
): Promise<void> {
  const where = { releaseId: event.release.id };
  const files = await tx.manager.find(releaseFileSchema, { where, order: { name: 'ASC' } });
  for (const listener of listeners) await listener(tx, { ...event, files });
}
