// openMail(t, env) → the module on a real database and the real outbox: {mail, outbox, db, clock, rows()}.
// send(message) queues a mail of the kind `test` that says the message, and runs the queue once.
import path from 'node:path';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { createMail } from '../../src/mail/index.ts';
import type { MailMessage } from '../../src/mail/index.ts';
import { createOutbox, outboxEntities } from '../../src/outbox/index.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

interface OutboxRow {
  id: number;
  key: string;
  payload: string;
  state: string;
  attempts: number;
  nextAt: number;
  error: string | null;
}

export async function openMail(t: Owner, env: Record<string, string>) {
  const { db, clock, random, folder } = await openTestDatabase(t, { entities: outboxEntities as never });
  const { config } = loadConfig({ env, cwd: folder, readFile: () => '' });
  const outbox = createOutbox({ db, clock, logger: silentLogger });
  const keyFile = path.join(folder, 'secret.key');
  const mail = createMail({ config, keyFile, db, outbox, clock, random, logger: silentLogger });
  t.teardown(async () => {
    await outbox.stop();
    mail.stop();
  });
  mail.define<MailMessage>('test', async (message) => message);
  const enqueue = (data: MailMessage, key?: string): Promise<void> =>
    db.write((tx) => mail.enqueue(tx, { kind: 'test', data, ...(key === undefined ? {} : { key }) }));
  const rows = (): Promise<OutboxRow[]> =>
    db.read.query(
      'SELECT id, key, payload, state, attempts, next_at AS "nextAt", last_error AS error FROM outbox ORDER BY id',
    );
  return {
    mail,
    outbox,
    db,
    clock,
    folder,
    enqueue,
    rows,
    async send(message: MailMessage): Promise<OutboxRow> {
      await enqueue(message);
      await mail.drain();
      return (await rows()).at(-1)!;
    },
  };
}

export const message = (changes: Partial<MailMessage> = {}): MailMessage => ({
  to: 'alice@example.org',
  subject: 'A subject',
  text: 'A text.\n',
  html: '<p>A text.</p>',
  ...changes,
});
