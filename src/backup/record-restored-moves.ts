import { rows } from '../db/index.ts';
import type { Tx } from '../db/index.ts';
import type { Random } from '../kernel/index.ts';
import { listenersWithSideEffects } from './listeners-with-side-effects.ts';

/** A ref before and after; null if it is absent. */
interface RestoredMove {
  ref: string;
  from: string | null;
  to: string | null;
}

/**
 * Records refs that moved after a copy of the rows as a push in the journal, "by restoring", so that all data derived
 * from pushes becomes current; listeners that contact other hosts are not notified again. The next start handles refs
 * of an unsettled push. Does nothing for a repository without a row, and only handles branches and tags.
 */
export async function recordRestoredMoves(
  { manager, now }: Tx,
  random: Random,
  repositoryId: string,
  all: readonly RestoredMove[],
): Promise<void> {
  const known = await rows(manager, 'SELECT id FROM repositories WHERE id = ?', [repositoryId]);
  if (known.length === 0) return;
  const open = new Set(
    (
      await rows<{ ref: string }>(
        manager,
        `SELECT DISTINCT u.ref FROM pushes p JOIN push_updates u ON u.push_id = p.id
          WHERE p.repository_id = ? AND p.settled_at IS NULL`,
        [repositoryId],
      )
    ).map(({ ref }) => ref),
  );
  const moves = all.filter(({ ref }) => /^refs\/(?:heads|tags)\//.test(ref) && !open.has(ref));
  if (moves.length === 0) return;
  const pushId = random.uuid();
  await rows(manager, 'INSERT INTO pushes (id, repository_id, via, created_at, settled_at) VALUES (?, ?, ?, ?, ?)', [
    pushId,
    repositoryId,
    'undo',
    now,
    now,
  ]);
  for (const [position, { ref, from, to }] of moves.entries())
    await rows(
      manager,
      'INSERT INTO push_updates (push_id, position, ref, old_id, new_id, result) VALUES (?, ?, ?, ?, ?, ?)',
      [pushId, position, ref, from ?? zeros(to), to ?? zeros(from), 'ok'],
    );
  for (const listener of listenersWithSideEffects)
    await rows(manager, 'INSERT INTO push_announcements (push_id, listener) VALUES (?, ?)', [pushId, listener]);
  await rows(manager, 'UPDATE repositories SET pushed_at = ?, updated_at = ? WHERE id = ?', [now, now, repositoryId]);
}

const zeros = (oid: string | null): string => (oid === null ? '' : '0'.repeat(oid.length));
