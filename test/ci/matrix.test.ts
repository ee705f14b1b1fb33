// `fail-fast`, `max-parallel` and the status of a run: fixed cases, a restart in between, and random matrices
// (HEARTH_CI_MATRICES=500 for the long run).
import t from 'tap';
import { statusOfRun } from '../../src/ci/run-status.ts';
import type { RunStatus } from '../../src/ci/run-status.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { driveRunner, openCi, settle, workflow } from './ci-fixture.ts';

const matrices = Number(process.env['HEARTH_CI_MATRICES'] ?? 25);

t.setTimeout(60_000 + matrices * 2_000);

t.test('a run is cancelled when a person cancelled it; otherwise a failed job decides', async (t) => {
  const rows: [jobs: RunStatus[], whenAsked: RunStatus, byItself: RunStatus][] = [
    [['failure', 'cancelled'], 'cancelled', 'failure'],
    [['failure', 'cancelled', 'success', 'skipped'], 'cancelled', 'failure'],
    [['cancelled', 'success'], 'cancelled', 'cancelled'],
    [['cancelled', 'skipped'], 'cancelled', 'cancelled'],
    [['failure', 'success'], 'failure', 'failure'],
    [['success', 'skipped'], 'success', 'success'],
    [['skipped'], 'skipped', 'skipped'],
    [['failure', 'cancelling'], 'cancelling', 'running'],
    [['failure', 'cancelling', 'running'], 'cancelling', 'running'],
    [['failure', 'cancelled', 'blocked'], 'running', 'running'],
    [['waiting', 'blocked'], 'waiting', 'waiting'],
  ];
  for (const [statuses, whenAsked, byItself] of rows) {
    const jobs = statuses.map((status) => ({ status, continueOnError: false }));
    t.equal(statusOfRun(jobs, { isCancelled: true }), whenAsked, `${statuses.join()}, cancelled by a person`);
    t.equal(statusOfRun(jobs, { isCancelled: false }), byItself, `${statuses.join()}, by itself`);
  }
  const allowed = [
    { status: 'failure', continueOnError: true },
    { status: 'cancelled', continueOnError: false },
  ] as const;
  t.equal(statusOfRun(allowed, { isCancelled: false }), 'cancelled', 'a job that may fail has not failed');
});

const file = (strategy: string, more = '') => `name: CI
on: push
jobs:
  t:
    runs-on: linux
    strategy: {${strategy}}
${more}
    steps: [{run: "true"}]
  after: {needs: t, runs-on: linux, steps: [{run: "true"}]}
  mend: {needs: t, if: failure(), runs-on: linux, steps: [{run: "true"}]}
`;

t.test('fail-fast with max-parallel: the place of a failed matrix job is not reused', async (t) => {
  const { ci, found, push, state, addRunner, modules } = await openCi(t);
  const sha = await push(workflow(file('max-parallel: 1, matrix: {n: [1, 2, 3, 4]}')));
  const runner = await addRunner(['linux']);
  await runner.finish((await runner.fetch())!.taskId, 'failure');
  const cancelled = { 't (2)': 'cancelled', 't (3)': 'cancelled', 't (4)': 'cancelled' };
  t.strictSame((await state(1)).jobs, {
    't (1)': 'failure',
    ...cancelled,
    after: 'skipped',
    mend: 'waiting',
  });
  const mend = (await runner.fetch())!;
  t.equal(mend.context['job'], 'mend', 'what needs the matrix sees that it failed');
  t.equal(mend.needs.get('t')?.result, 'failure');
  await runner.finish(mend.taskId);
  t.equal((await state(1)).run, 'failure');
  t.equal((await state(1)).reason, null);
  t.strictSame(
    (await ci.runs.list(found, { status: 'failure' }, { limit: 10 })).runs.map(({ number }) => number),
    [1],
    'the list finds it among those that failed',
  );
  t.equal((await modules.repositories.statuses.ofCommits(found.repository.id, [sha])).get(sha)?.state, 'failure');
  t.equal(await runner.fetch(), null, 'no leg is left to be taken');
});

t.test('a matrix job that its runner is finishing does not make the run a cancelling one', async (t) => {
  const { push, state, addRunner } = await openCi(t);
  await push(workflow(file('matrix: {n: [1, 2]}')));
  const runner = await addRunner(['linux'], { capabilities: ['cancelling'] });
  const [one, two] = [(await runner.fetch())!, (await runner.fetch())!];
  await runner.report(two.taskId);
  await runner.finish(one.taskId, 'failure');
  t.match(await state(1), { run: 'running', jobs: { 't (2)': 'cancelling', mend: 'blocked' } });
  await runner.finish(two.taskId, 'success');
  t.match(await state(1), { jobs: { 't (2)': 'cancelled', mend: 'waiting' } });
  await runner.finish((await runner.fetch())!.taskId, 'success');
  t.equal((await state(1)).run, 'failure');
});

t.test('a cancelled run is cancelled, also when one of its jobs had failed', async (t) => {
  const { ci, viewer, found, push, state, addRunner } = await openCi(t);
  await push(workflow(file('fail-fast: false, matrix: {n: [1, 2]}')));
  const runner = await addRunner(['linux']);
  await runner.finish((await runner.fetch())!.taskId, 'failure');
  await ci.runs.cancel(viewer, found, 1, { force: false });
  t.match(await state(1), { run: 'cancelled', jobs: { 't (1)': 'failure', 't (2)': 'cancelled', mend: 'cancelled' } });
});

t.test('continue-on-error and fail-fast: false let the others continue', async (t) => {
  const { push, state, addRunner } = await openCi(t);
  const runner = await addRunner(['linux']);
  const next = async (result: 'success' | 'failure') => runner.finish((await runner.fetch())!.taskId, result);

  await push(workflow(file('max-parallel: 1, matrix: {n: [1, 2, 3]}', '    continue-on-error: ${{ matrix.n == 1 }}')));
  await next('failure');
  t.match((await state(1)).jobs, { 't (1)': 'failure', 't (2)': 'waiting', 't (3)': 'blocked' });
  await next('failure');
  t.match((await state(1)).jobs, { 't (3)': 'cancelled', after: 'skipped', mend: 'waiting' });
  await next('success');
  t.equal((await state(1)).run, 'failure');

  await push(workflow(file('fail-fast: false, max-parallel: 1, matrix: {n: [1, 2]}')));
  await next('failure');
  t.match((await state(2)).jobs, { 't (1)': 'failure', 't (2)': 'waiting' });
  await next('success');
  await next('success');
  t.match(await state(2), { run: 'failure', jobs: { mend: 'success', after: 'skipped' } });

  // The first matrix job fails before any runner has it: its labels cannot be evaluated.
  const unreadable = 'matrix: {n: [1, 2], include: [{n: 1, on: "["}, {n: 2, on: "1"}]}';
  const broken = (strategy: string) =>
    file(`${strategy}${unreadable}`).replace('runs-on: linux', "runs-on: ${{ fromJSON(matrix.on) && 'linux' }}");
  await push(workflow(broken('fail-fast: false, ')));
  t.match((await state(3)).jobs, { 't (1, [)': 'failure', 't (2, 1)': 'waiting' });
  await next('success');
  await next('success');
  t.equal((await state(3)).run, 'failure');
  await push(workflow(broken('')));
  t.match((await state(4)).jobs, { 't (1, [)': 'failure', 't (2, 1)': 'cancelled' });
});

t.test('a cancelled matrix job runs when it alone is run again', async (t) => {
  const { ci, viewer, found, push, state, addRunner, clock } = await openCi(t);
  await push(workflow(file('max-parallel: 1, matrix: {n: [1, 2, 3]}')));
  const runner = await addRunner(['linux']);
  const next = async (result: 'success' | 'failure') => runner.finish((await runner.fetch())!.taskId, result);
  await next('failure');
  await next('success');
  const { rows } = await state(1);
  clock.advance(60_000);
  await ci.runs.rerun(viewer, found, 1, { jobId: rows.find(({ name }) => name === 't (2)')!.id });
  t.match((await state(1)).jobs, { 't (1)': 'failure', 't (2)': 'waiting', 't (3)': 'cancelled', mend: 'blocked' });
  await next('success');
  await next('success');
  t.match(await state(1), { run: 'failure', jobs: { 't (2)': 'success', mend: 'success' } });
  await ci.runs.rerun(viewer, found, 1, 'failed');
  t.match((await state(1)).jobs, { 't (1)': 'waiting', 't (2)': 'success', 't (3)': 'blocked' });
  clock.advance(60_000);
  await next('failure');
  t.match((await state(1)).jobs, { 't (1)': 'failure', 't (2)': 'success', 't (3)': 'cancelled' });
});

t.test('a task is not dispatched once its matrix job was cancelled', async (t) => {
  const { push, state, addRunner, modules } = await openCi(t);
  await push(workflow(file('matrix: {n: [1, 2]}')));
  const [a, b] = [await addRunner(['linux']), await addRunner(['linux'])];
  const one = (await a.fetch())!;
  await a.report(one.taskId);
  // The sibling fails while the second task is claimed and its content is still being built.
  const repositories = modules.repositories as { locate: typeof modules.repositories.locate };
  const locate = repositories.locate.bind(repositories);
  const { promise: hasFailed, resolve } = Promise.withResolvers<void>();
  const { promise: isClaimed, resolve: claimed } = Promise.withResolvers<void>();
  repositories.locate = async (ids) => {
    repositories.locate = locate;
    claimed();
    await hasFailed;
    return locate(ids);
  };
  const fetching = b.fetch();
  await isClaimed;
  t.equal((await state(1)).jobs['t (2)'], 'running');
  await a.finish(one.taskId, 'failure');
  t.match((await state(1)).jobs, { 't (2)': 'cancelled', mend: 'waiting' });
  resolve();
  const task = await fetching;
  t.not(task?.context['job'], 't', 'the runner gets what is left to do, or nothing');
});

t.test('a matrix job that gets its concurrency group is still subject to max-parallel', async (t) => {
  const { push, state, addRunner } = await openCi(t);
  const include = '[{n: 1, g: x}, {n: 2, g: x}, {n: 3, g: ""}, {n: 4, g: ""}]';
  await push(
    workflow(
      file(
        `max-parallel: 2, matrix: {include: ${include}}`,
        '    name: leg ${{ matrix.n }}\n    concurrency: ${{ matrix.g }}',
      ),
    ),
  );
  const runner = await addRunner(['linux']);
  const [one, three] = [(await runner.fetch())!, (await runner.fetch())!];
  t.match((await state(1)).jobs, { 'leg 2': 'blocked', 'leg 4': 'blocked' });
  await runner.finish(one.taskId);
  await settle();
  t.match((await state(1)).jobs, { 'leg 2': 'blocked', 'leg 3': 'running', 'leg 4': 'waiting' });
  const four = (await runner.fetch())!;
  await runner.finish(three.taskId);
  t.match((await state(1)).jobs, { 'leg 2': 'waiting', 'leg 4': 'running' });
  await runner.finish(four.taskId);
  await runner.finish((await runner.fetch())!.taskId);
  t.match((await state(1)).jobs, { 'leg 2': 'success', after: 'waiting' });
});

t.test('a restart between the parts of a matrix changes nothing', async (t) => {
  const first = await openCi(t);
  await first.push(workflow(file('max-parallel: 2, matrix: {n: [1, 2, 3, 4]}')));
  const runner = await first.addRunner(['linux']);
  const [one, two] = [(await runner.fetch())!, (await runner.fetch())!];
  await runner.report(one.taskId);
  await first.close();

  const second = await openCi(t, { folder: first.folder });
  const back = await driveRunner(second.modules, runner.credentials);
  t.equal(await back.fetch(), null, 'two are running, no third one is dispatched');
  await back.finish(one.taskId, 'failure');
  t.match((await second.state(1)).jobs, { 't (3)': 'cancelled', 't (4)': 'cancelled' });
  t.equal((await back.report(two.taskId)).result, 'cancelled');
  await second.close();

  const third = await openCi(t, { folder: first.folder });
  await settle();
  t.match(await third.state(1), {
    run: 'running',
    jobs: { 't (1)': 'failure', 't (2)': 'cancelled', mend: 'waiting' },
  });
});

/** One job of a random matrix, and its result. */
interface RandomCombination {
  n: number;
  may: boolean;
  group: string;
  result: 'success' | 'failure' | 'cancelled';
}

t.test(
  'random matrices: never more jobs running than allowed, none after a failed one, and the right result',
  async (t) => {
    const random = seededRandom(Number(process.env['HEARTH_CI_SEED'] ?? 5));
    let fixture = await openCi(t);
    const first = [
      await fixture.addRunner(['linux']),
      await fixture.addRunner(['linux'], { capabilities: ['cancelling'] }),
    ];
    let runners = first;
    const { folder } = fixture;
    for (let number = 1; number <= matrices; number += 1) {
      const matrixJobs = Array.from(
        { length: 1 + random.below(7) },
        (_, at): RandomCombination => ({
          n: at + 1,
          may: random.chance(0.2),
          group: random.chance(0.3) ? random.pick(['x', 'y']) : '',
          result: random.pick(['success', 'success', 'failure', 'success', 'cancelled']),
        }),
      );
      const limit = random.pick([null, 1, 2, 3]);
      const failFast = random.chance(0.7);
      const include = JSON.stringify(matrixJobs.map(({ n, may, group }) => ({ n, may, group })));
      const text = file(
        `fail-fast: ${failFast}, ${limit === null ? '' : `max-parallel: ${limit}, `}matrix: {include: ${include}}`,
        '    name: leg ${{ matrix.n }}\n    continue-on-error: ${{ matrix.may }}\n    concurrency: "${{ matrix.group }}"',
      );
      const about = `matrix ${number}: ${text}`;
      await fixture.push(workflow(text), { message: `Matrix ${number}` });
      const running = new Map<number, { name: string; runner: (typeof runners)[number] }>();
      const ended = new Map<string, string>();
      let hasFailed = false;

      /** Invariants after every step. */
      const check = async () => {
        const { rows } = await fixture.state(number);
        const matrix = rows.filter(({ jobKey }) => jobKey === 't');
        const busy = matrix.filter(({ status }) => ['waiting', 'running', 'cancelling'].includes(status));
        if (limit !== null && busy.length > limit) throw new Error(`${busy.length} jobs running in ${about}`);
        for (const group of ['x', 'y']) {
          const holders = busy.filter(({ concurrencyGroup }) => concurrencyGroup === group);
          if (holders.length > 1) throw new Error(`${holders.length} legs hold ${group} in ${about}`);
        }
        if (
          hasFailed &&
          matrix.some(({ status }) => !['success', 'failure', 'cancelled', 'cancelling'].includes(status))
        )
          throw new Error(`legs go on after one failed: ${matrix.map(({ status }) => status).join()} in ${about}`);
        for (const { name, status } of matrix) {
          const before = ended.get(name);
          if (before !== undefined && before !== status)
            throw new Error(`${name}: ${before}, then ${status} in ${about}`);
          if (['success', 'failure', 'cancelled'].includes(status)) ended.set(name, status);
        }
        return rows;
      };

      for (let rows = await check(); rows.some(({ finishedAt }) => finishedAt === null); rows = await check()) {
        const isWaiting = rows.some(({ status }) => status === 'waiting');
        if (isWaiting && (running.size === 0 || random.chance(0.5))) {
          const runner = random.pick(runners);
          const task = await runner.fetch();
          if (task === null) throw new Error(`nobody may take what waits in ${about}`);
          const { name } = (await fixture.state(number)).rows.find(({ taskId }) => taskId === task.taskId)!;
          if (ended.has(name)) throw new Error(`${name} had ended and runs in ${about}`);
          if (random.chance(0.7)) await runner.report(task.taskId);
          running.set(task.taskId, { name, runner });
        } else if (random.chance(0.1)) {
          await fixture.close();
          fixture = await openCi(t, { folder });
          runners = await Promise.all(first.map(({ credentials }) => driveRunner(fixture.modules, credentials)));
          for (const work of running.values()) work.runner = random.pick(runners);
          // A task belongs to the runner that took it.
          for (const [taskId, work] of running)
            for (const runner of runners)
              if (
                await runner.report(taskId).then(
                  () => true,
                  () => false,
                )
              )
                work.runner = runner;
        } else if (running.size > 0) {
          const [taskId, { name, runner }] = random.pick([...running]);
          const combination = matrixJobs.find(({ n }) => name === `leg ${n}`);
          const result = combination?.result ?? 'success';
          const wasCancelled = ended.has(name) || rows.some((row) => row.name === name && row.status === 'cancelling');
          await runner.finish(taskId, result);
          running.delete(taskId);
          if (combination !== undefined && !wasCancelled && result === 'failure' && !combination.may && failFast)
            hasFailed = true;
        } else
          throw new Error(
            `nothing goes on in ${about}: ${rows.map(({ name, status, hold }) => [name, status, hold]).join(' ')}`,
          );
        // Released groups are assigned after the write.
        await settle();
      }
      const failed = matrixJobs.some(({ n, may }) => ended.get(`leg ${n}`) === 'failure' && !may);
      const cancelled = matrixJobs.some(({ n }) => ended.get(`leg ${n}`) === 'cancelled');
      const { run, jobs } = await fixture.state(number);
      t.equal(run, failed ? 'failure' : cancelled ? 'cancelled' : 'success', `matrix ${number}`);
      t.strictSame(
        [jobs['after'], jobs['mend']],
        [failed || cancelled ? 'skipped' : 'success', failed ? 'success' : 'skipped'],
      );
    }
  },
);
