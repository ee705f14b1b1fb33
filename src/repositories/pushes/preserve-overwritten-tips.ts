import { isNotNull } from '../../db/index.ts';
import { In, LessThanOrEqual } from 'typeorm';
import { folderOf } from '../lifecycle/trash.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { AnnouncedPush, PushListener } from './announce-push.ts';
import { pushSchema, pushUpdateSchema } from '../schema/push-schema.ts';

const noRef = /^0+$/;

/** Existing refs that one push overwrote or deleted. */
interface Loss {
  position: number;
  forced: boolean;
  isPreserved: boolean;
}

/** Name of the hidden ref that preserves the old tip of one command; below `refs/hearth/`. */
export const undoRefName = (pushId: string, position: number): string => `undo/${pushId}/${position}`;

/**
 * Listener of pushes: overwritten and deleted tips get a hidden ref, so that no repack drops them before their
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
      for (const { position, forced, isPreserved } of losses) {
        await manager.update(
          pushUpdateSchema,
          { pushId: push.id, position },
          { forced, keptUntil: isPreserved ? keptUntil : null },
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
  // The rounds of pull requests are kept for ever.
  const overwritten = rows.filter(({ ref, oldId }) => !noRef.test(oldId) && !ref.startsWith('refs/pull/'));
  for (const { position, oldId, newId } of overwritten) {
    const isDeletion = noRef.test(newId);
    const forced = !isDeletion && !(await deps.git.refs.isForward(path, oldId, newId));
    if (isDeletion || forced) lost.push({ position, forced, name: undoRefName(push.id, position), oid: oldId });
  }
  const isPreserved = new Set(lost.length === 0 ? [] : await deps.git.objects.keep(path, lost));
  return lost.map(({ position, forced, name }) => ({ position, forced, isPreserved: isPreserved.has(name) }));
}

/** Batch size of a release. */
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
        // A damaged repository is skipped; it must not block the others.
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
