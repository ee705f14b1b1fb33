import { isNotNull, rowsTable, selectRaw } from '../../db/index.ts';
import { In, LessThanOrEqual } from 'typeorm';
import { folderOf } from '../lifecycle/trash.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { AnnouncedPush, PushListener } from './announce-push.ts';
import { pushSchema, pushUpdateSchema } from '../schema/push-schema.ts';
import { noRef } from '../../kernel/index.ts';

/** Rows per statement. */
const writtenAtOnce = 2_000;
const lossColumns = { position: 'bigint', forced: 'bigint', kept_until: 'bigint' } as const;

/** Existing refs that one push overwrote or deleted. */
interface Loss {
  position: number;
  forced: boolean;
  isPreserved: boolean;
}

/** Name of the hidden ref below `refs/hearth/` that preserves the old tip of one command. */
const undoRefName = (pushId: string, position: number): string => `undo/${pushId}/${position}`;

/**
 * Push listener that gives overwritten and deleted tips a hidden ref, so that no repack drops them before their
 * retention time is over.
 */
export function preserveOverwrittenTips(deps: RepositoryDeps): PushListener<Loss[]> {
  return {
    name: 'undo',
    async prepare(push) {
      const losses = await findLosses(deps, push);
      return losses.length === 0 ? null : losses;
    },
    async record({ manager }, push, losses) {
      const keptUntil = push.arrivedAt + deps.settings.undoTtlMs;
      const rows = losses.map(({ position, forced, isPreserved }) => [
        position,
        forced ? 1 : 0,
        isPreserved ? keptUntil : null,
      ]);
      for (let start = 0; start < rows.length; start += writtenAtOnce)
        await manager.query(
          `UPDATE push_updates SET forced = list.forced, kept_until = list.kept_until
            FROM ${rowsTable(lossColumns)} WHERE push_id = ? AND push_updates.position = list.position`,
          [JSON.stringify(rows.slice(start, start + writtenAtOnce)), push.id],
        );
    },
  };
}

async function findLosses(deps: RepositoryDeps, push: AnnouncedPush): Promise<Loss[]> {
  // Pull request rounds are kept permanently.
  const isOverwritten = ({ ref, oldId }: { ref: string; oldId: string }) =>
    !noRef.test(oldId) && !ref.startsWith('refs/pull/');
  if (!push.updates.some(isOverwritten)) return [];
  const path = folderOf(deps, push.repository);
  const rows = await selectRaw<{ position: number; ref: string; oldId: string; newId: string }>(
    deps.db.read,
    `SELECT position, ref, old_id AS "oldId", new_id AS "newId" FROM push_updates
      WHERE push_id = :pushId AND result = 'ok' ORDER BY position`,
    { pushId: push.id },
  );
  const lost: { position: number; forced: boolean; name: string; oid: string }[] = [];
  for (const { position: place, oldId, newId } of rows.filter(isOverwritten)) {
    const position = Number(place);
    const isDeletion = noRef.test(newId);
    const forced = !isDeletion && !(await deps.git.refs.isForward(path, oldId, newId));
    if (isDeletion || forced) lost.push({ position, forced, name: undoRefName(push.id, position), oid: oldId });
  }
  const isPreserved = new Set(lost.length === 0 ? [] : await deps.git.objects.keep(path, lost));
  return lost.map(({ position, forced, name }) => ({ position, forced, isPreserved: isPreserved.has(name) }));
}

/** Refs released per batch. */
const atOnce = 500;

/**
 * Releases overwritten tips whose retention time is over; git drops them at the next repack.
 * @returns how many
 */
export async function releaseOverwrittenTips(deps: RepositoryDeps): Promise<number> {
  let count = 0;
  for (;;) {
    const due = await deps.db.read.find(pushUpdateSchema, {
      where: { keptUntil: LessThanOrEqual(deps.clock.now()) },
      take: atOnce,
    });
    if (due.length === 0) return count;
    const pushes = await deps.db.read.findBy(pushSchema, { id: In([...new Set(due.map(({ pushId }) => pushId))]) });
    const repositoryOf = new Map(pushes.map(({ id, repositoryId }) => [id, repositoryId]));
    for (const [repositoryId, rows] of Map.groupBy(due, ({ pushId }) => repositoryOf.get(pushId)!)) {
      const row = await deps.db.read.findOneBy(repositorySchema, { id: repositoryId });
      try {
        if (row !== null)
          await deps.git.objects.release(
            folderOf(deps, row),
            rows.map(({ pushId, position }) => undoRefName(pushId, position)),
          );
      } catch (error) {
        // Skips a damaged repository, so that it does not block the others.
        deps.logger.error('push.old_tips_stay', { repositoryId, error });
      }
      await deps.db.write(async ({ manager }) => {
        for (const { pushId, position } of rows)
          await manager.update(pushUpdateSchema, { pushId, position, keptUntil: isNotNull() }, { keptUntil: null });
      });
      count += rows.length;
    }
  }
}
