import { channel } from 'node:diagnostics_channel';

/**
 * Every statement of the program passes here on its way to SQLite, as `{ sql }`, at least the first time that a
 * connection meets it. The tests subscribe and judge its plan; without a subscriber it costs one comparison.
 */
export const statementChannel = channel('hearth:db:statement');

export function announceStatement(sql: string): void {
  if (statementChannel.hasSubscribers) statementChannel.publish({ sql });
}
