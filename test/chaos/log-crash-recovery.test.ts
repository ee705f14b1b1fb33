// time limit: 300 s
// Kill -9 while rows of a CI log are appended. HEARTH_CHAOS sets how often; a few by default.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { readRow } from '../../src/ci/log-storage/row-buffer.ts';
import { driveRunner, openCi, workflow } from '../ci/ci-fixture.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';

const kills = Number(process.env['HEARTH_CHAOS'] ?? 3);
const program = path.join(import.meta.dirname, 'log-writer.ts');

t.test(`${kills} kills while a log grows: every acknowledged row once, in order, and the log goes on`, async (t) => {
  const first = await openCi(t);
  await first.push(workflow('on: push\njobs:\n  a:\n    runs-on: linux\n    steps: [{run: one}]\n'));
  const runner = await first.addRunner(['linux']);
  const { taskId } = (await runner.fetch())!;
  await first.close();
  const random = seededRandom(kills);
  let acknowledged = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const child = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        program,
        first.folder,
        JSON.stringify(runner.credentials),
        String(taskId),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    t.teardown(() => child.kill('SIGKILL'));
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const closed = once(child, 'close');
    await once(child.stdout, 'data');
    await sleep(random.below(80));
    child.kill('SIGKILL');
    await closed;
    acknowledged = Number(output.split('\n').at(-2));

    const again = await openCi(t, { folder: first.folder });
    const stored = await (await driveRunner(again.modules, runner.credentials)).stored(taskId);
    t.ok(stored >= acknowledged, `${stored} rows are there, ${acknowledged} were acknowledged`);
    const rows = readFileSync(path.join(first.folder, `data/ci/logs/0/${taskId}.log`), 'utf8')
      .split('\n')
      .slice(0, stored)
      .map((line) => readRow(line).content);
    t.same(
      rows.filter((row, at) => row !== `row ${at}`),
      [],
      'each once, in order',
    );
    await again.close();
  }
  t.ok(acknowledged > 0);
});
