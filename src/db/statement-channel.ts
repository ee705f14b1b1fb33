import { channel } from 'node:diagnostics_channel';
import type { Dialect } from './dialect.ts';

/**
 * Publishes every statement as `{ sql, dialect }`, at least the first time that a connection runs it. Tests subscribe
 * and check its query plan; without a subscriber it costs one comparison.
 */
const statementChannel = channel('hearth:db:statement');

export function announceStatement(sql: string, dialect: Dialect = 'sqlite'): void {
  if (statementChannel.hasSubscribers) statementChannel.publish({ sql, dialect });
}
