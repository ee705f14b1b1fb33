import { EntitySchema } from 'typeorm';
import { isLocalAdministrator, scopeAllows } from '../../access/index.ts';
import type { PersonViewer, Viewer } from '../../access/index.ts';
import { conflict, forbidden, invalid, notFound, unauthenticated } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';

/** A text that a user saves for comments. Times are milliseconds since the epoch. */
interface SavedReply {
  id: string;
  userId: string;
  title: string;
  body: string;
  createdAt: number;
  updatedAt: number;
}

export const savedReplySchema = new EntitySchema<SavedReply>({
  name: 'savedReply',
  tableName: 'saved_replies',
  columns: {
    id: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    title: { type: 'text' },
    body: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});

const maxReplies = 100;
const maxTitle = 100;
const maxBody = 65_536;

function whoSaves(viewer: Viewer): PersonViewer {
  if (viewer.kind !== 'person' || isLocalAdministrator(viewer))
    throw unauthenticated('sign_in_required', 'Sign in to continue.');
  if (!scopeAllows(viewer, 'write')) throw forbidden('insufficient_scope', 'This token is read-only.');
  return viewer;
}

function parseReply(input: { title: string; body: string }): { title: string; body: string } {
  const title = input.title.trim().normalize('NFC');
  if (title === '' || title.length > maxTitle || /[\x00-\x1f\x7f]/.test(title) || !title.isWellFormed())
    throw invalid('invalid_reply_title', `Enter a title of at most ${maxTitle} characters on one line.`, {
      field: 'title',
    });
  const body = input.body.replaceAll('\0', '');
  if (body.trim() === '' || body.length > maxBody || !body.isWellFormed())
    throw invalid('invalid_reply_text', `Enter a text of at most ${maxBody.toLocaleString('en')} characters.`, {
      field: 'body',
    });
  return { title, body };
}

const replyNotFound = () => notFound('saved_reply_not_found', 'There is no such saved reply.');

/** The viewer's saved replies, sorted by title; empty for anonymous viewers. */
export function listSavedReplies({ db }: Pick<IssueDeps, 'db'>, viewer: Viewer): Promise<SavedReply[]> {
  if (viewer.kind !== 'person') return Promise.resolve([]);
  return db.read.find(savedReplySchema, { where: { userId: viewer.id }, order: { title: 'ASC', id: 'ASC' } });
}

/**
 * Saves a reply, or changes a saved one. Throws `sign_in_required`, `insufficient_scope`, `invalid_reply_title`,
 * `invalid_reply_text`, `too_many_saved_replies`; `saved_reply_not_found`, also for other users' replies.
 */
export async function saveReply(
  deps: Pick<IssueDeps, 'db' | 'random'>,
  viewer: Viewer,
  input: { title: string; body: string },
  id: string | null = null,
): Promise<void> {
  const { id: userId } = whoSaves(viewer);
  const fields = parseReply(input);
  await deps.db.write(async ({ manager, now }) => {
    if (id !== null) {
      const { affected } = await manager.update(savedReplySchema, { id, userId }, { ...fields, updatedAt: now });
      if (affected !== 1) throw replyNotFound();
      return;
    }
    if ((await manager.countBy(savedReplySchema, { userId })) >= maxReplies)
      throw conflict('too_many_saved_replies', `At most ${maxReplies} replies can be saved.`);
    await manager.insert(savedReplySchema, {
      id: deps.random.uuid(),
      userId,
      ...fields,
      createdAt: now,
      updatedAt: now,
    });
  });
}

/** Throws `sign_in_required`, `insufficient_scope`; `saved_reply_not_found`, also for other users' replies. */
export async function removeSavedReply({ db }: Pick<IssueDeps, 'db'>, viewer: Viewer, id: string): Promise<void> {
  const { id: userId } = whoSaves(viewer);
  const { affected } = await db.write(({ manager }) => manager.delete(savedReplySchema, { id, userId }));
  if (affected !== 1) throw replyNotFound();
}
