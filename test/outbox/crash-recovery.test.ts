// kill -9 while messages are enqueued and delivered. HEARTH_KILLS says how often (default 5).
// time limit: 1200 s
import t from 'tap';
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { copyTestDatabase } from '../fixtures/test-database.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const kills = Number(process.env['HEARTH_KILLS'] ?? 5);
const slots = 8;
const program = fileURLToPath(new URL('./killed-process.ts', import.meta.url));
const random = seededRandom(Number(process.env['HEARTH_SEED'] ?? 1));

t.test(
  `${kills} kills: what was acknowledged is delivered, once where no kill came between, and no effect is without its message`,
  async (t) => {
    const folder = temporaryFolder(t);
    const file = path.join(folder, 'hearth.db');
    await copyTestDatabase(file);
    const run = async (what: string): Promise<ChildProcess> => {
      const child = fork(program, [what, folder], { execArgv: ['--disable-warning=ExperimentalWarning'] });
      t.teardown(() => child.kill('SIGKILL'));
      await once(child, 'message');
      return child;
    };
    const lines = (name: string): string[] => {
      const text = readFileSync(path.join(folder, name), { encoding: 'utf8', flag: 'a+' }).trim();
      return text === '' ? [] : text.split('\n');
    };
    for (let killed = 0; killed < kills; killed++) {
      const before = lines('acknowledged').length;
      const child = await run('work');
      // However slow the machine is, each kill comes after some messages.
      await waitUntil(() => lines('acknowledged').length > before + 10);
      await wait(random.below(250));
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const last = await run('finish');
    t.strictSame(await once(last, 'exit'), [0, null], 'what is left is delivered');

    const [acknowledged, delivered] = [lines('acknowledged'), lines('delivered')];
    t.ok(acknowledged.length > 10 * kills, `${acknowledged.length} messages were acknowledged`);
    const arrived = new Set(delivered);
    t.strictSame(
      acknowledged.filter((message) => !arrived.has(message)),
      [],
      'each arrives at least once',
    );
    const repeats = delivered.length - arrived.size;
    t.ok(repeats <= kills * slots, `${repeats} repeats, at most ${slots} for each kill`);
    const database = new DatabaseSync(file, { readOnly: true });
    t.teardown(() => database.close());
    t.strictSame(
      database
        .prepare('SELECT DISTINCT state, attempts, lease_until FROM outbox')
        .all()
        .map((row) => ({ ...row })),
      [{ state: 'DELIVERED', attempts: 1, lease_until: 0 }],
      'all are recorded, and an attempt without a known result is not counted',
    );
    const { messages, effects } = database
      .prepare(
        "SELECT (SELECT count(*) FROM outbox) AS messages, (SELECT value FROM counts WHERE name = 'accounts') AS effects",
      )
      .get() as { messages: number; effects: number };
    t.equal(messages, effects, 'one message for each effect');
    t.strictSame(arrived.size, messages);
  },
);
