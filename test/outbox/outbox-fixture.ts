// openOutbox(t, {handler…}) → an outbox on a real database with one kind, `mail`, whose handler a test drives.
// enqueue(...keys) → a message for each key in one write; returns the ids. rows() → the table as it stands.
import { createOutbox, outboxEntities } from '../../src/outbox/index.ts';
import type { Handled, Handler, Message } from '../../src/outbox/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import type { LogFields, Logger } from '../../src/kernel/index.ts';
import type { MessageRow } from '../../src/outbox/schema/outbox-schema.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

export const delivered: Handled<null> = { outcome: { error: null, mayRetry: false }, details: null };
export const failed = (error: string, mayRetry = true): Handled<null> => ({
  outcome: { error, mayRetry },
  details: null,
});

export async function openOutbox(t: Owner, changes: Partial<Handler> = {}) {
  const { db, clock } = await openTestDatabase(t, { entities: outboxEntities as never });
  const log: ({ event: string } & LogFields)[] = [];
  const record = (event: string, fields: LogFields = {}) => void log.push({ event, ...fields });
  const logger: Logger = { ...silentLogger, info: record, warn: record, error: record, child: () => logger };
  const outbox = createOutbox({ db, clock, logger });
  const handled: Message[] = [];
  const handler: Handler = {
    kind: 'mail',
    slots: 4,
    timeoutMs: 5_000,
    maxAttempts: 3,
    keepMs: 86_400_000,
    async handle() {
      return delivered;
    },
    ...changes,
  };
  outbox.register({
    ...handler,
    handle(message, signal) {
      handled.push(message);
      return handler.handle(message, signal);
    },
  });
  t.teardown(() => outbox.stop());
  const enqueue = (...keys: string[]): Promise<number[]> =>
    db.write(async (tx) => {
      const ids: number[] = [];
      for (const key of keys) ids.push(await outbox.enqueue(tx, { kind: 'mail', key, payload: `to ${key}` }));
      return ids;
    });
  const rows = (): Promise<MessageRow[]> =>
    db.read.query(
      `SELECT id, kind, key, payload, state, attempts, next_at AS "nextAt", lease_until AS "leaseUntil", last_error AS "lastError" FROM outbox ORDER BY id`,
    );
  return { db, clock, log, outbox, handled, enqueue, rows };
}
