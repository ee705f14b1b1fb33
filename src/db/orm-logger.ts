import type { Logger as OrmLogger } from 'typeorm';
import type { Logger } from '../kernel/index.ts';

/** Sends TypeORM's messages to the log instead of standard output. */
export function ormLogger(logger: Logger): OrmLogger {
  const nothing = (): void => {};
  return {
    logQuery: nothing,
    logQueryError: nothing,
    logQuerySlow: nothing,
    logSchemaBuild: nothing,
    logMigration: (message) => logger.debug('db.typeorm', { message }),
    log: (level, message: unknown) =>
      logger[level === 'warn' ? 'warn' : 'debug']('db.typeorm', { message: String(message) }),
  };
}
