import { personIdOf, scopeAllows } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { inList } from '../../db/index.ts';
import { forbidden, invalid, unauthenticated } from '../../kernel/index.ts';
import type { NotificationDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { notificationSchema } from '../schema/notification-schema.ts';
import type { Reason } from '../schema/notification-schema.ts';

export const changes = ['done', 'undone', 'read', 'unread', 'save', 'unsave'] as const;
export type Change = (typeof changes)[number];
/** Changes that `undoChange` reverts; every other change has its opposite in this list. */
export type UndoableChange = Extract<Change, 'done' | 'read' | 'save'>;

/** Selects notifications of the viewer: some by their ids, or all that match an inbox filter. */
type ChangedRows = { ids: readonly number[] } | { repositoryId?: string | null; reason?: Reason | null; upTo: number };

const statements: Record<Change, string> = {
  done: 'done_at = ? WHERE done_at IS NULL AND listed_at IS NOT NULL',
  undone: 'done_at = NULL WHERE ? IS NOT NULL AND done_at IS NOT NULL',
  read: 'read_at = ? WHERE read_at IS NULL AND done_at IS NULL AND listed_at IS NOT NULL',
  unread: 'read_at = NULL, done_at = NULL WHERE ? IS NOT NULL AND listed_at IS NOT NULL',
  save: 'saved_at = ? WHERE saved_at IS NULL',
  unsave: 'saved_at = NULL WHERE ? IS NOT NULL AND saved_at IS NOT NULL',
};

/**
 * Changes notifications of the viewer; other users' rows, and rows already in that state, stay unchanged.
 * @returns the time of the change, by which `undoChange` finds its rows. Throws `sign_in_required`,
 *   `insufficient_scope`, `too_many_ids`, `too_many_saved`.
 */
export async function changeNotifications(
  deps: Pick<NotificationDeps, 'db'>,
  viewer: Viewer,
  change: Change,
  which: ChangedRows,
): Promise<number> {
  const personId = writerOf(viewer);
  const { sql, values } = conditionOf(which);
  return deps.db.write(async ({ manager, now }) => {
    if (change === 'save' && (await savedOf(personId, manager)) >= limits.savedPerPerson)
      throw invalid('too_many_saved', `You can save at most ${limits.savedPerPerson} notifications.`);
    await manager.query(`UPDATE notifications SET ${statements[change]} AND user_id = ? AND ${sql}`, [
      now,
      personId,
      ...values,
    ]);
    return now;
  });
}

/**
 * Reverts a change within `limits.undoMs`: only rows that it changed, and that have not changed since. Throws what
 * `changeNotifications` throws, and `undo_too_late`.
 */
export async function undoChange(
  deps: Pick<NotificationDeps, 'db' | 'clock'>,
  viewer: Viewer,
  { change, at }: { change: UndoableChange; at: number },
): Promise<void> {
  const personId = writerOf(viewer);
  const age = deps.clock.now() - at;
  if (!Number.isSafeInteger(at) || age > limits.undoMs || age < -limits.undoMs)
    throw invalid('undo_too_late', 'It is too late to undo this.');
  const column = { done: 'done_at', read: 'read_at', save: 'saved_at' }[change];
  await deps.db.write(({ manager }) =>
    manager.query(`UPDATE notifications SET ${column} = NULL WHERE user_id = ? AND ${column} = ?`, [personId, at]),
  );
}

function conditionOf(which: ChangedRows): { sql: string; values: unknown[] } {
  if ('ids' in which) {
    if (which.ids.length > limits.idsPerChange)
      throw invalid('too_many_ids', `You can change at most ${limits.idsPerChange} notifications at a time.`);
    return { sql: inList('id', { type: 'bigint' }), values: [JSON.stringify(which.ids)] };
  }
  const { repositoryId = null, reason = null, upTo } = which;
  return {
    // Events that arrived after the list was shown were not seen.
    sql: ['listed_at <= ?', ...(repositoryId ? ['repository_id = ?'] : []), ...(reason ? ['reason = ?'] : [])].join(
      ' AND ',
    ),
    values: [upTo, ...(repositoryId ? [repositoryId] : []), ...(reason ? [reason] : [])],
  };
}

const savedOf = async (userId: string, manager: NotificationDeps['db']['read']): Promise<number> =>
  manager
    .createQueryBuilder(notificationSchema, 'n')
    .where('n.user_id = :userId AND n.saved_at IS NOT NULL', { userId })
    .getCount();

/** Only the user may change their inbox. */
export function writerOf(viewer: Viewer): string {
  const personId = personIdOf(viewer);
  if (personId === null) throw unauthenticated('sign_in_required', 'Sign in to continue.');
  if (!scopeAllows(viewer, 'write')) throw forbidden('insufficient_scope', 'This token is read-only.');
  return personId;
}
