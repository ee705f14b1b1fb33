// Two runners over the protocol, whose claims race with the report that fails a matrix.
import t from 'tap';
import { startForge } from './rpc-fixture.ts';
import { connectClient, grpcClient } from './runner-client.ts';
import type { RunnerResponse, RunnerClient } from './runner-client.ts';

const success = 1;
const failure = 2;
const cancelled = 3;

const file = (strategy: string) => ({
  '.hearth/workflows/ci.yml': `name: CI
on: push
jobs:
  t:
    runs-on: linux
    strategy: {${strategy}}
    steps: [{run: "true"}]
  mend: {needs: t, if: failure(), runs-on: linux, steps: [{run: "true"}]}
`,
});

const jobOf = ({ workflowPayload, context }: RunnerResponse): string =>
  context.job === 'mend' ? 'mend' : /name: (t \(\d+\))/.exec(Buffer.from(workflowPayload).toString())![1]!;

const end = (client: RunnerClient, { id }: RunnerResponse, result: number) =>
  client.updateTask({ state: { id, result } });

t.test('claims that race with a failing matrix job: no later job of the matrix reaches a runner', async (t) => {
  const forge = await startForge(t);
  const a = connectClient(forge.url, { headers: await forge.register(['linux']) });
  const b = grpcClient(forge.grpc, { headers: await forge.register(['linux']) });
  t.teardown(() => b.close());
  const rounds = 4;
  for (let number = 1; number <= rounds; number += 1) {
    await forge.push(file('max-parallel: 1, matrix: {n: [1, 2, 3, 4]}'), `Round ${number}`);
    const { task: one } = await a.fetchTask({}, { timeoutMs: 10_000 });
    t.equal(jobOf(one), 't (1)');
    // Held before the report, sent beside it, and sent after it.
    const held = b.fetchTask({}, { timeoutMs: 3_000 });
    const calls = [
      held,
      end(a, one, failure),
      a.fetchTask({}, { timeoutMs: number % 2 === 0 ? 2_000 : 3_000 }),
    ] as const;
    const [first, reported, second] = await Promise.all(calls);
    t.equal(reported.state.result, failure);
    const tasks = [first.task, second.task].filter((task) => task !== undefined);
    t.strictSame(tasks.map(jobOf), ['mend'], 'what needs the matrix goes to one of them, and nothing else to anyone');
    await end(first.task === undefined ? a : b, tasks[0], success);
    t.strictSame((await forge.state(number)).run, 'failure', `round ${number}`);
  }
});

t.test('matrix jobs on two runners: one fails, the other is cancelled, and late reports change nothing', async (t) => {
  const forge = await startForge(t);
  const a = connectClient(forge.url, { headers: await forge.register(['linux']) });
  const b = connectClient(forge.url, { headers: await forge.register(['linux'], { capabilities: ['cancelling'] }) });
  await forge.push(file('max-parallel: 2, matrix: {n: [1, 2, 3, 4, 5]}'));
  const { task: one } = await a.fetchTask({}, { timeoutMs: 10_000 });
  const { task: two } = await b.fetchTask({}, { timeoutMs: 10_000 });
  await b.updateTask({ state: { id: two.id } });
  // Both end at the same moment: the first report decides, and the run fails either way.
  const [, reported] = await Promise.all([end(a, one, failure), end(b, two, success)]);
  const { jobs } = await forge.state();
  t.equal(jobs['t (1)'], 'failure');
  t.equal(jobs['t (2)'], reported.state.result === success ? 'success' : 'cancelled');
  for (const n of [3, 4, 5]) t.equal(jobs[`t (${n})`], 'cancelled');
  t.equal((await end(b, two, failure)).state.result, reported.state.result, 'the end is final');
  const { task: mend } = await a.fetchTask({}, { timeoutMs: 10_000 });
  t.equal(jobOf(mend), 'mend');
  await end(a, mend, success);
  t.equal((await forge.state()).run, 'failure');

  await forge.push(file('matrix: {n: [1, 2]}'), 'Again');
  const { task: three } = await a.fetchTask({}, { timeoutMs: 10_000 });
  const { task: four } = await b.fetchTask({}, { timeoutMs: 10_000 });
  await b.updateTask({ state: { id: four.id } });
  await end(a, three, failure);
  t.match(await forge.state(2), { run: 'running', jobs: { 't (2)': 'cancelling' } });
  t.equal((await b.updateTask({ state: { id: four.id } })).state.result, cancelled);
  t.equal((await end(b, four, cancelled)).state.result, cancelled);
  const { task: five } = await b.fetchTask({}, { timeoutMs: 10_000 });
  await end(b, five, success);
  t.match(await forge.state(2), { run: 'failure', jobs: { 't (2)': 'cancelled', mend: 'success' } });
});
