import { isNotNull } from '../../db/index.ts';
import { In } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { runnerSchema } from '../schema/runner-schema.ts';
import { taskSchema } from '../schema/task-schema.ts';

/**
 * Ids of ephemeral runners that have completed their only task. Their rows stay for a while, because the last calls of
 * a runner may be repeated.
 * @param isLogComplete selects only runners that have also sent their whole log; they are answered as unregistered
 */
export async function finishedRunners(
  manager: EntityManager,
  { isLogComplete }: { isLogComplete: boolean },
): Promise<Set<number>> {
  const ephemeral = await manager.find(runnerSchema, { where: { ephemeral: true }, select: { id: true } });
  if (ephemeral.length === 0) return new Set();
  const tasks = await manager.find(taskSchema, {
    where: {
      runnerId: In(ephemeral.map(({ id }) => id)),
      stoppedAt: isNotNull(),
      ...(isLogComplete ? { sealedAt: isNotNull() } : {}),
    },
    select: { id: true, runnerId: true },
  });
  return new Set(tasks.flatMap(({ runnerId }) => runnerId ?? []));
}
