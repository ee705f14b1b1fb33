import type { FederationDeps } from '../deps.ts';
import { conflict, notFound } from '../../kernel/index.ts';
import { cancelWaitingDeliveries } from '../deliveries/cancel-deliveries.ts';
import { publish } from '../deliveries/publish.ts';
import { activityStreams, publicAudience } from '../documents/contexts.ts';
import { unescapeHtml } from '../documents/escape-html.ts';
import { outboxSchema } from '../schema/outbox-schema.ts';
import type { OutboxRow } from '../schema/outbox-schema.ts';

/** A note that tells of a repository. */
export interface ListedNote {
  /** UUID. */
  id: string;
  /** Its address on this server. */
  uri: string;
  /** The page that it links to. */
  url: string;
  /** HTML made by this server of escaped text. */
  html: string;
  /** The same as one line of text. */
  text: string;
  publishedAt: number;
}

/**
 * The newest notes of a repository, which are kept for thirty days. The note of an event that its owner's followers got
 * is listed with it, not apart.
 */
export async function listNotes(
  { db }: FederationDeps,
  repositoryId: string,
  { limit }: { limit: number },
): Promise<ListedNote[]> {
  const rows = await db.read.find(outboxSchema, {
    where: { repositoryId, type: 'Create' },
    order: { createdAt: 'DESC', id: 'DESC' },
    take: 2 * limit,
  });
  const notes = new Map<string, ListedNote>();
  for (const row of rows) {
    const { id: uri, url, content: html } = noteIn(row);
    const event = `${row.createdAt} ${url}`;
    // The one that the repository itself has sent, where there are two.
    if (!notes.has(event) || row.actorPath.startsWith('/ap/repos/'))
      notes.set(event, { id: row.id, uri, url, html, text: lineOf(html), publishedAt: row.createdAt });
  }
  return [...notes.values()].slice(0, limit);
}

const lineOf = (html: string): string => unescapeHtml(html.replace(/<\/p><p>|<br>/g, ' ').replace(/<[^>]*>/g, ''));

const noteIn = ({ activity }: OutboxRow) =>
  (JSON.parse(activity) as { object: { id: string; url: string; content: string } }).object;

/**
 * Deletes a note of a public repository, and what its owner's followers got about the same event: its address answers
 * 404, what waits is not sent, and those who got it get a Delete. Refuses `no_such_note`, for those of other
 * repositories alike; `repository_not_public`, because a private repository sends nothing.
 */
export async function deleteNote(deps: FederationDeps, repositoryId: string, noteId: string): Promise<void> {
  await deps.db.write(async (tx) => {
    const { manager } = tx;
    const note = await manager.findOneBy(outboxSchema, { id: noteId, repositoryId, type: 'Create' });
    if (note === null) throw notFound('no_such_note', 'There is no such note.');
    if (!(await deps.repositories.isPublic(manager, repositoryId)))
      throw conflict(
        'repository_not_public',
        'A private repository sends nothing, so that the servers that have the note would not learn of it.',
      );
    const { url } = noteIn(note);
    const sent = await manager.findBy(outboxSchema, { repositoryId, type: 'Create', createdAt: note.createdAt });
    for (const row of sent.filter((each) => noteIn(each).url === url)) {
      await cancelWaitingDeliveries(tx, 'the note was deleted', row.id);
      await publish(deps, tx, deletionOf(deps, row), { readersOf: row.id });
      await manager.query('DELETE FROM federation_delivery WHERE outbox_id = ? AND locked_until <= ?', [
        row.id,
        tx.now,
      ]);
      // Kept while a delivery in flight names it; without its type nobody reads it as a note any more.
      await manager.update(outboxSchema, { id: row.id }, { type: 'Deleted' });
    }
  });
}

function deletionOf(deps: FederationDeps, row: OutboxRow) {
  const { actorPath, repositoryId } = row;
  const actor = deps.localActors.idOf(actorPath);
  const content = {
    '@context': activityStreams,
    to: [publicAudience],
    cc: [`${actor}/followers`],
    object: { id: noteIn(row).id, type: 'Tombstone' },
  };
  return { type: 'Delete', actorPath, repositoryId, content } as const;
}
