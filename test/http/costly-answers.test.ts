// time limit: 300 s
// runs alone: it measures turns of the event loop
// The costliest answers that a client without an account can ask for: none of them holds the event loop. A tenth of the
// lengths by default; HEARTH_SCALE=1 for all of it. HEARTH_ONLY chooses some by a word of their titles.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { costlyAddresses, fillCostly } from '../../bench/costly-history.ts';
import { viewerOf } from '../repositories/repositories-fixture.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { mainThreadMs, measureTurns } from '../fixtures/thread-cpu.ts';

const scale = Number(process.env['HEARTH_SCALE'] ?? 0.1);
const only = process.env['HEARTH_ONLY'];
/** No answer that is made here is longer; files and archives are streamed as they are. */
const longestAnswer = 16_000_000;

const hearth = await startHearth(t);
const alice = viewerOf(await hearth.modules.accounts.addPerson({ username: 'alice' }));
await hearth.modules.repositories.create(alice, { name: 'bench', visibility: 'PUBLIC' });
const found = await hearth.modules.repositories.find(alice, 'alice', 'bench');
const history = await fillCostly(found.path, scale);

/** What reads the answers counts as another process. */
const program = path.join(hearth.folder, 'client.mjs');
writeFileSync(
  program,
  `process.on('message', async ({ url, network }) => {
     const response = await fetch(url, { headers: { 'X-Forwarded-For': network } });
     let length = 0;
     for await (const chunk of response.body ?? []) length += chunk.length;
     process.send({ status: response.status, length });
   });`,
);
const client = fork(program, { execArgv: [] });
t.teardown(() => client.kill('SIGKILL'));
let networks = 0;
async function ask(address: string): Promise<{ status: number; length: number }> {
  networks += 1;
  client.send({ url: hearth.url + address.replace('N', String(networks)), network: `10.1.${networks % 250}.7` });
  const [answer] = (await once(client, 'message')) as [{ status: number; length: number }];
  return answer;
}

const small = [
  '/',
  '/repos/alice/bench/blob/main/wide/file1.txt',
  '/repos/alice/bench/commit/main~2',
  '/api/v1/version',
];
for (const address of small) await ask(address);

for (const [what, address] of costlyAddresses(history)) {
  if (only !== undefined && !what.includes(only)) continue;
  await t.test(what, async (t) => {
    let answer = { status: 0, length: 0 };
    // The first time, modules are loaded and compiled.
    await ask(address);
    const { cpuMs, longestMs } = await measureTurns(async () => void (answer = await ask(address)));
    const told = `${answer.status}, ${answer.length} bytes, ${cpuMs.toFixed(0)} ms of CPU time, longest turn ${longestMs.toFixed(0)} ms`;
    t.comment(told);
    t.ok([200, 422, 503].includes(answer.status), told);
    t.ok(answer.length < longestAnswer, told);
    t.ok(longestMs < mainThreadMs, told);
  });
}
