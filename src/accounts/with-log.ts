import type { LogFields, Logger } from '../kernel/index.ts';

/**
 * Wraps a use case so that it is logged on success. Errors are not logged.
 * @param event stable name; some events are stored in the audit log
 * @param fields fields of the log line: ids and names, never a secret
 */
export function withLog<Args extends unknown[], Result>(
  { logger }: { logger: Logger },
  event: string | ((...args: Args) => string),
  useCase: (...args: Args) => Promise<Result>,
  fields: (result: Result, ...args: Args) => LogFields,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const result = await useCase(...args);
    logger.info(typeof event === 'string' ? event : event(...args), fields(result, ...args));
    return result;
  };
}
