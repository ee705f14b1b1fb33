import { isNotNull } from '../../db/index.ts';
import { In, LessThanOrEqual } from 'typeorm';
import { folderOf } from '../lifecycle/trash.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { AnnouncedPush, PushListener } from './notify-listeners.ts';
import { pushSchema, pushUpdateSchema } from '../schema/push-schema.ts';

const noRef = /^0+$/;

/** What one push did to refs that were there before. */
interface Loss {
  position: number;
  forced: boolean;
  kept: boolean;
}

/** Under which name git keeps the old tip of one command; below `refs/hearth/`. */
export const undoRefName = (pushId: string, position: number): string => `undo/${pushId}/${position}`;

/**
 * Hears of every push, before the other rooms: what a forced move or a deletion left
 * behind gets a hidden ref, so that no packing takes it away before its time is over.
 */
export function preserveOverwrittenTips(deps: RepositoryDeps): PushListener<Loss[]> {
  return {
    name: 'undo',
    async prepare(push) {
      const losses = await findLosses(deps, push);
      return losses.length === 0 ? null : losses;
    },
    async record({ manager }, push, losses) {
      const keptUntil = push.arrivedAt + deps.settings.undoKeptMs;
      for (const { position, forced, kept } of losses) {
        await manager.update(
          pushUpdateSchema,
          { pushId: push.id, position },
          { forced, keptUntil: kept ? keptUntil : null },
        );
      }
    },
  };
}

async function findLosses(deps: RepositoryDeps, push: AnnouncedPush): Promise<Loss[]> {
  const path = folderOf(deps, push.repository);
  const rows = await deps.db.read.find(pushUpdateSchema, {
    where: { pushId: push.id, result: 'ok' },
    order: { position: 'ASC' },
  });
  const lost: { position: number; forced: boolean; name: string; oid: string }[] = [];
  for (const { position, oldId, newId } of rows.filter((row) => !noRef.test(row.oldId))) {
    const isDeletion = noRef.test(newId);
    const forced = !isDeletion && !(await deps.git.isForward(path, oldId, newId));
    if (isDeletion || forced) lost.push({ position, forced, name: undoRefName(push.id, position), oid: oldId });
  }
  const kept = new Set(lost.length === 0 ? [] : await deps.git.keepObjects(path, lost));
  return lost.map(({ position, forced, name }) => ({ position, forced, kept: kept.has(name) }));
}

/** So many are let go of at a time. */
const atOnce = 500;

/**
 * Lets go of tips whose time is over; git drops them when it packs the next time.
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
          await deps.git.letGo(
            folderOf(deps, row),
            rows.map(({ pushId, position }) => undoRefName(pushId, position)),
          );
      } catch (error) {
        // A damaged repository keeps what it has; it must not keep the others from their turn.
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
