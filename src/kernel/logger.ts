export type LogFields = Record<string, unknown>;

/**
 * Structured log. `event` is a stable name (`push.settled`); data goes into `fields`. Secrets are never passed in; the
 * writer redacts known field names as a second line of defence.
 */
export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

const nothing = (): void => {};

export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLogger,
};
