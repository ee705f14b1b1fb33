import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RepositoryDeps } from '../deps.ts';
import { folderOf } from '../lifecycle/trash.ts';
import { repositorySchema } from '../schema/repository-schema.ts';

const atOnce = 200;

interface OldPush {
  id: string;
  createdAt: number;
}

/**
 * Deletes rows of the push journal that are older than `repositories.push_keep`. Keeps pushes that are unannounced or
 * parked, that can be undone, or that set the current value of a branch or tag, so that the journal still has the
 * origin of every ref. Skips repositories in the trash. Returns the number of deleted rows.
 */
export async function removeOldPushes(deps: RepositoryDeps): Promise<number> {
  const before = deps.clock.now() - deps.settings.pushTtlMs;
  let count = 0;
  for (let after = ''; ; ) {
    const repositories = (await deps.db.read.query(
      'SELECT id AS id FROM repositories WHERE id > ? AND deleted_at IS NULL ORDER BY id LIMIT ?',
      [after, atOnce],
    )) as { id: string }[];
    for (const { id } of repositories)
      count += await removeOf(deps, id, before).catch((error: unknown) => {
        deps.logger.error('push.old_rows_stay', { repositoryId: id, error });
        return 0;
      });
    if (repositories.length < atOnce) return count;
    after = repositories.at(-1)!.id;
  }
}

async function removeOf(deps: RepositoryDeps, repositoryId: string, before: number): Promise<number> {
  const { db, git } = deps;
  let refs: ReadonlyMap<string, string> | null = null;
  let count = 0;
  for (let after: OldPush = { id: '', createdAt: 0 }; ; ) {
    const old = (await db.read.query(
      `SELECT id AS id, created_at AS "createdAt" FROM pushes
        WHERE repository_id = ? AND created_at < ? AND (created_at, id) > (?, ?)
          AND announced_at IS NOT NULL AND parked_at IS NULL ORDER BY created_at, id LIMIT ?`,
      [repositoryId, before, after.createdAt, after.id, atOnce],
    )) as OldPush[];
    if (old.length === 0) return count;
    if (refs === null) {
      const row = await db.read.findOneBy(repositorySchema, { id: repositoryId });
      if (row === null) return count;
      refs = await git.refs.list(folderOf(deps, row));
    }
    const gone: string[] = [];
    for (const { id } of old) {
      if (!(await isNeeded(deps, id, refs))) gone.push(id);
      await nextTurn();
    }
    await db.write(async ({ manager }) => {
      for (const id of gone) await manager.query('DELETE FROM pushes WHERE id = ?', [id]);
    });
    count += gone.length;
    after = old.at(-1)!;
  }
}

/** Whether one of its commands is preserved for an undo, or set the current value of a ref. */
async function isNeeded({ db }: RepositoryDeps, pushId: string, refs: ReadonlyMap<string, string>): Promise<boolean> {
  for (let after = -1; ; ) {
    const rows = (await db.read.query(
      `SELECT position AS position, ref AS ref, new_id AS "newId", kept_until AS "keptUntil", result AS result
        FROM push_updates WHERE push_id = ? AND position > ? ORDER BY position LIMIT ?`,
      [pushId, after, atOnce],
    )) as { position: number; ref: string; newId: string; keptUntil: number | null; result: string | null }[];
    if (
      rows.some(
        ({ ref, newId, keptUntil, result }) => keptUntil !== null || (result === 'ok' && refs.get(ref) === newId),
      )
    )
      return true;
    if (rows.length < atOnce) return false;
    after = Number(rows.at(-1)!.position);
  }
}
