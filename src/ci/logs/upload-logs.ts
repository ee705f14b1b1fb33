import { isDomainError } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { taskSchema } from '../schema/task-schema.ts';

/** Readers follow a log to its end before it is taken from under them. */
const restMs = 60_000;

/**
 * For a job: gives complete logs to the store of objects, where that is elsewhere. A log that the store does not take
 * stays where it is until the next round.
 * @returns how many were given
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
