import type { LogFields, Logger } from '../kernel/index.ts';

/**
 * A use-case that is logged once it is done. What was refused leaves no line.
 * @param event stable name; the audit log keeps some of them
 * @param fields what the line says: ids and names, never a secret
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
