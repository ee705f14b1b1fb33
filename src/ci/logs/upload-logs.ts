import { isDomainError } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { taskSchema } from '../schema/task-schema.ts';

/** Time for readers to follow a log to its end before its file is removed. */
const restMs = 60_000;

/**
 * Scheduled job: moves complete logs to the bucket, if objects are in one. If the store is unavailable, a log stays
 * until the next round.
 * @returns the number of moved logs
 */
export async function uploadLogs({ db, logs, clock, logger }: CiDeps): Promise<number> {
  let stored = 0;
  for await (const id of logs.idsOutside()) {
    const task = await db.read.findOneBy(taskSchema, { id });
    if (task?.sealedAt == null || task.logRemovedAt !== null || task.sealedAt > clock.now() - restMs) continue;
    try {
      await logs.store(id, task.logRows);
      stored += 1;
    } catch (error) {
      if (!isDomainError(error) || error.code !== 'unavailable') throw error;
      logger.warn('ci.logs_not_stored', { task: id, error });
      break;
    }
  }
  if (stored > 0) logger.info('ci.logs_stored', { logs: stored });
  return stored;
}
