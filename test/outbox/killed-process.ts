// A program to be killed: `work FOLDER` enqueues and delivers for ever, `finish FOLDER` delivers what is left and ends.
// What was acknowledged is a line of FOLDER/acknowledged, what was delivered a line of FOLDER/delivered.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createDatabase } from '../../src/db/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { createOutbox, outboxEntities } from '../../src/outbox/index.ts';
import { databaseOptions } from '../fixtures/test-database.ts';

const [, , what, folder = ''] = process.argv;
const clock = { now: () => Date.now() };
const db = await createDatabase(
  databaseOptions(path.join(folder, 'hearth.db'), { clock, entities: outboxEntities as never }),
);
const outbox = createOutbox({ db, clock, logger: silentLogger });
const record = (file: string, line: string): void => appendFileSync(path.join(folder, file), `${line}\n`);
outbox.register({
  kind: 'note',
  slots: 8,
  timeoutMs: 5_000,
  maxAttempts: 8,
  keepMs: 86_400_000,
  async handle({ payload }) {
    await wait(2);
    record('delivered', payload!);
    return { outcome: { error: null, mayRetry: false }, details: null };
  },
});
await outbox.recover();
process.send!('ready');

if (what === 'work') {
  for (let number = 0; ; number++) {
    const payload = `${process.pid}-${number}`;
    // The count is the effect that causes the message.
    await db.write(async (tx) => {
      await tx.manager.query("UPDATE counts SET value = value + 1 WHERE name = 'accounts'");
      await outbox.enqueue(tx, { kind: 'note', key: `key ${number % 5}`, payload });
    });
    record('acknowledged', payload);
    void outbox.drain('note');
    // So that there is always something left to deliver, and never much.
    if (number % 4 === 0) await wait(1);
  }
}
await outbox.drain('note');
await db.close();
process.disconnect();
