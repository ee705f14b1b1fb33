import type { FederationDeps } from '../deps.ts';
import { conflict, notFound } from '../../kernel/index.ts';
import { cancelWaitingDeliveries } from '../deliveries/cancel-deliveries.ts';
import { publish } from '../deliveries/publish.ts';
import { activityStreams, publicAudience } from '../documents/contexts.ts';
import { outboxSchema } from '../schema/outbox-schema.ts';
import type { OutboxRow } from '../schema/outbox-schema.ts';

/** A note that tells of a repository. */
interface ListedNote {
  /** UUID. */
  id: string;
  /** Its address on this server. */
  uri: string;
  /** The page that it links to. */
  url: string;
  /** HTML made by this server of escaped text. */
  html: string;
  publishedAt: number;
}

/** The newest notes of a repository and its owner about it; they are kept for thirty days. */
export async function listNotes(
  { db }: FederationDeps,
  repositoryId: string,
  { limit }: { limit: number },
): Promise<ListedNote[]> {
  const rows = await db.read.find(outboxSchema, {
    where: { repositoryId, type: 'Create' },
    order: { createdAt: 'DESC', id: 'DESC' },
    take: limit,
  });
  return rows.map((row) => {
    const { object } = JSON.parse(row.activity) as { object: { id: string; url: string; content: string } };
    return { id: row.id, uri: object.id, url: object.url, html: object.content, publishedAt: row.createdAt };
  });
}

/**
 * Deletes a note of a public repository: its address answers 404, what waits is not sent, and those who got it get a
 * Delete. Refuses `no_such_note`, for those of other repositories alike; `repository_not_public`, because a private
 * repository sends nothing.
 */
export async function deleteNote(deps: FederationDeps, repositoryId: string, noteId: string): Promise<void> {
  await deps.db.write(async (tx) => {
    const { manager } = tx;
    const row = await manager.findOneBy(outboxSchema, { id: noteId, repositoryId, type: 'Create' });
    if (row === null) throw notFound('no_such_note', 'There is no such note.');
    if (!(await deps.repositories.isPublic(manager, repositoryId)))
      throw conflict(
        'repository_not_public',
        'A private repository sends nothing, so that the servers that have the note would not learn of it.',
      );
    await cancelWaitingDeliveries(tx, 'the note was deleted', noteId);
    await publish(deps, tx, deletionOf(deps, row), { readersOf: noteId });
    await manager.query('DELETE FROM federation_delivery WHERE outbox_id = ? AND locked_until <= ?', [noteId, tx.now]);
    // Kept while a delivery in flight names it; without its type nobody reads it as a note any more.
    await manager.update(outboxSchema, { id: noteId }, { type: 'Deleted' });
  });
}

function deletionOf(deps: FederationDeps, { actorPath, activity, repositoryId }: OutboxRow) {
  const actor = deps.localActors.idOf(actorPath);
  const { object } = JSON.parse(activity) as { object: { id: string } };
  const content = {
    '@context': activityStreams,
    to: [publicAudience],
    cc: [`${actor}/followers`],
    object: { id: object.id, type: 'Tombstone' },
  };
  return { type: 'Delete', actorPath, repositoryId, content } as const;
}
