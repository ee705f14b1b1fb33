import t from 'tap';
import { openCi, reasonOf, settle, workflow } from './ci-fixture.ts';

const matrix = `name: CI
on: push
jobs:
  build:
    runs-on: linux
    strategy:
      max-parallel: 2
      matrix:
        version: ["3.10", 18]
        os: [debian, alpine]
        exclude: [{version: 18, os: alpine}]
    outputs:
      artifact: \${{ steps.x.outputs.y }}
    steps:
      - run: echo \${{ matrix.version }}
  test:
    needs: build
    runs-on: [linux, big]
    if: needs.build.outputs.artifact == 'site'
    steps:
      - name: Try it
        run: make test
  never:
    needs: test
    if: github.ref == 'refs/heads/other'
    runs-on: linux
    steps: [{run: "true"}]
  report:
    needs: [build, never]
    if: always()
    runs-on: linux
    steps: [{run: "true"}]
`;

t.test('SPEC §3 a matrix with needs, from the push to the end', async (t) => {
  const { ci, push, state, addRunner, found, modules, clock } = await openCi(t);
  const sha = await push(workflow(matrix), { message: 'Build the site\n\nWith care.' });
  t.match(await state(1), {
    run: 'waiting',
    jobs: {
      'build (3.10, debian)': 'waiting',
      'build (3.10, alpine)': 'waiting',
      'build (18, debian)': 'blocked',
      test: 'blocked',
      never: 'blocked',
      report: 'blocked',
    },
  });
  const runner = await addRunner(['linux', 'big']);
  const first = (await runner.fetch())!;
  t.match(first.payload, /name: build \(3\.10, debian\)/);
  t.match(first.context, {
    repository: 'alice/work',
    ref: 'refs/heads/main',
    ref_name: 'main',
    sha,
    event_name: 'push',
    run_id: String(1),
    run_number: '1',
    run_attempt: '1',
    actor: 'alice',
    job: 'build',
  });
  t.match(first.context, {
    event: { head_commit: { message: 'Build the site\n\nWith care.' }, commits: [{ id: sha }] },
    gitea_default_actions_url: 'https://github.com',
  });
  t.equal(first.secrets.get('GITHUB_TOKEN'), first.context.token);
  t.match((await state(1)).run, 'running');
  await runner.finish(first.taskId, 'success', { artifact: 'site' });
  t.equal((await state(1)).jobs['build (18, debian)'], 'waiting', 'the place of max-parallel is free');
  for (let count = 0; count < 2; count += 1)
    await runner.finish((await runner.fetch())!.taskId, 'success', { artifact: '' });
  t.match(await state(1), { jobs: { test: 'waiting', never: 'blocked' } });

  const task = (await runner.fetch())!;
  t.same(
    task.needs.get('build'),
    { result: 'success', outputs: new Map([['artifact', 'site']]) },
    'the last value that is not empty',
  );
  t.match(task.payload, /if: always\(\)/);
  clock.advance(65_000);
  await runner.finish(task.taskId);
  t.match(await state(1), { run: 'running', jobs: { never: 'skipped', report: 'waiting' } });
  await runner.finish((await runner.fetch())!.taskId);
  t.match(await state(1), { run: 'success' });
  t.equal(await runner.fetch(), null);

  const statuses = (await modules.repositories.statuses.ofCommits(found.repository.id, [sha])).get(sha);
  t.equal(statuses?.state, 'success');
  t.same(
    statuses?.statuses.map(({ context, description }) => [context, description]),
    [
      ['CI / build (18, debian) (push)', 'Successful after 0 s'],
      ['CI / build (3.10, alpine) (push)', 'Successful after 0 s'],
      ['CI / build (3.10, debian) (push)', 'Successful after 0 s'],
      ['CI / never (push)', 'Skipped'],
      ['CI / report (push)', 'Successful after 0 s'],
      ['CI / test (push)', 'Successful after 1 m 5 s'],
    ],
  );
  t.equal((await ci.runs.list(found, {}, { limit: 10 })).runs.length, 1);
});

const job = (more: string, name = 'a'): string =>
  `  ${name}:\n    runs-on: linux\n    steps: [{run: "true"}]\n${more
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')}\n`;

t.test('a failing matrix job cancels its siblings, unless the file says otherwise', async (t) => {
  const { push, state, addRunner } = await openCi(t);
  const file = (strategy: string) =>
    `on: push\njobs:\n${job(`strategy:\n  ${strategy}matrix: {n: [1, 2, 3]}`)}${job('needs: a', 'b')}${job('needs: a\nif: failure()', 'c')}`;
  await push(workflow(file('')));
  const runner = await addRunner(['linux']);
  const one = (await runner.fetch())!;
  const two = (await runner.fetch())!;
  await runner.report(two.taskId);
  await runner.finish(one.taskId, 'failure');
  t.match((await state(1)).jobs, {
    'a (1)': 'failure',
    'a (2)': 'cancelled',
    'a (3)': 'cancelled',
    b: 'skipped',
    c: 'waiting',
  });
  t.match((await runner.report(two.taskId)).result, 'cancelled', 'the runner is notified');
  await runner.finish((await runner.fetch())!.taskId);
  t.equal((await state(1)).run, 'failure', 'nobody has cancelled it');

  await push(workflow(file('fail-fast: false\n  ')));
  await runner.finish((await runner.fetch())!.taskId, 'failure');
  t.match((await state(2)).jobs, { 'a (1)': 'failure', 'a (2)': 'waiting', b: 'blocked' });
  for (let count = 0; count < 3; count += 1) await runner.finish((await runner.fetch())!.taskId);
  t.match(await state(2), { run: 'failure', jobs: { b: 'skipped', c: 'success' } });
});

t.test('an expression can read the whole message of a commit', async (t) => {
  const { push, state } = await openCi(t);
  await push(workflow(`on: push\njobs:\n${job("if: github.event.head_commit.message == 'Release'")}`), {
    message: 'Release',
  });
  t.match((await state(1)).jobs, { a: 'waiting' });
});

t.test('a job with continue-on-error counts as a success', async (t) => {
  const { push, state, addRunner } = await openCi(t);
  await push(workflow(`on: push\njobs:\n${job('continue-on-error: true')}${job('needs: a', 'b')}`));
  const runner = await addRunner(['linux']);
  await runner.finish((await runner.fetch())!.taskId, 'failure');
  await runner.finish((await runner.fetch())!.taskId);
  t.match(await state(1), { run: 'success', jobs: { a: 'failure', b: 'success' } });
});

t.test('failure() is true after any earlier job failed, not only after a direct need', async (t) => {
  const { push, state, addRunner } = await openCi(t);
  await push(workflow(`on: push\njobs:\n${job('')}${job('needs: a', 'b')}${job('needs: b\nif: failure()', 'c')}`));
  const runner = await addRunner(['linux']);
  await runner.finish((await runner.fetch())!.taskId, 'failure');
  const last = await runner.fetch();
  t.equal(last?.context['job'], 'c');
  await runner.finish(last!.taskId);
  t.match(await state(1), { run: 'failure', jobs: { a: 'failure', b: 'skipped', c: 'success' } });
});

t.test('a matrix may come from another job, and an evaluation error fails the job with a message', async (t) => {
  const { push, state, addRunner } = await openCi(t);
  await push(
    workflow(`on: push
jobs:
${job('')}${job('needs: a\nname: ${{ matrix.n }} of ${{ needs.a.outputs.list }}\nstrategy: {matrix: {n: "${{ fromJSON(needs.a.outputs.list) }}"}}', 'b')}${job('needs: a\nif: fromJSON(needs.a.result)', 'c')}`),
  );
  t.match((await state(1)).jobs, { a: 'waiting', b: 'blocked', c: 'blocked' });
  const runner = await addRunner(['linux']);
  await runner.finish((await runner.fetch())!.taskId, 'success', { list: '[4, 5]' });
  t.match(await state(1), { jobs: { '4 of [4, 5]': 'waiting', '5 of [4, 5]': 'waiting', c: 'failure' } });
  t.match(
    (await state(1)).rows.find((row) => row.name === 'c')?.reason,
    /The expression fromJSON\(needs\.a\.result\) cannot be evaluated/,
  );

  await push(
    workflow(
      `on: push\njobs:\n${job('strategy: {matrix: {n: "${{ fromJSON(vars.absent) }}"}}')}${job('needs: a\nif: always()', 'b')}`,
    ),
  );
  t.match(await state(2), { jobs: { a: 'failure', b: 'waiting' } });
});

t.test('a misspelled condition is a failed run at the push, also of an event that is unknown', async (t) => {
  const { push, ci, found, state } = await openCi(t);
  await push({
    ...workflow(`on: {push: {branch: [main]}}\njobs:\n${job('')}`, 'filter.yml'),
    ...workflow(`on: psuh\njobs:\n${job('')}`, 'event.yml'),
    ...workflow(`on: {pull_request: , schedule: [{cron: "1 1 * * *"}]}\njobs:\n${job('permission: {}')}`, 'other.yml'),
    ...workflow(`on: push\njobs:\n${job('snapshot: x')}`),
  });
  const { runs } = await ci.runs.list(found, {}, { limit: 10 });
  t.match(
    runs.map(({ workflowPath, status, reason }) => [workflowPath, status, reason]),
    [
      ['filter.yml', 'failure', /^filter.yml, line 1, column 13: "branch" is not a key under "push"/],
      ['event.yml', 'failure', /^event.yml, line 1, column 5: There is no event "psuh"/],
      ['ci.yml', 'waiting', null],
    ],
    'the newest first',
  );
  t.equal(runs.length, 3);
  const listed = await ci.workflows.list(found);
  t.match(
    listed.map(({ path, problem, warnings }) => [path, problem, warnings.length]),
    [
      ['ci.yml', null, 1],
      ['event.yml', /psuh/, 0],
      ['filter.yml', /branch/, 0],
      ['other.yml', /"permission" is not a key under "job"/, 0],
    ],
  );
  t.match((await state(3)).jobs, {}, 'nothing but the failed run');
});

t.test('steps at the same time run one after the other; steps in the background fail their job', async (t) => {
  const { push, state, addRunner } = await openCi(t);
  const runner = await addRunner(['linux']);
  await push(
    workflow(`on: push
jobs:
  a:
    runs-on: linux
    steps:
      - run: one
      - parallel: [{name: two, run: two}, {uses: $/tools/three}]
      - run: four
  b: {runs-on: linux, steps: [{run: x, background: true, id: x}, {wait: x}]}
`),
  );
  t.match(await state(1), { jobs: { a: 'waiting', b: 'failure' } });
  t.match(
    (await state(1)).rows.find((row) => row.name === 'b')?.reason,
    /"background".*runner can run steps in the back/,
  );
  const { payload } = (await runner.fetch())!;
  t.notMatch(payload, 'parallel');
  t.match(payload, /run: one[^]*name: two[^]*uses: \.\/tools\/three[^]*run: four/);
});

t.test('an expression may give the whole strategy', async (t) => {
  const { push, state } = await openCi(t);
  await push(
    workflow(`on: push\njobs:\n${job(`strategy: \${{ fromJSON('{"matrix":{"n":[1,2]},"max-parallel":1}') }}`)}`),
  );
  t.match((await state(1)).jobs, { 'a (1)': 'waiting', 'a (2)': 'blocked' });
});

t.test('a broken file fails alone, with line, column and reason', async (t) => {
  const { push, state, ci, found, modules } = await openCi(t);
  const sha = await push({
    ...workflow('on: push\njobs:\n  a:\n    steps: [{run: x}]\n', 'bad.yml'),
    ...workflow('on: [push\n', 'worse.yml'),
    ...workflow(`on: push\njobs:\n${job('')}`),
  });
  const { runs } = await ci.runs.list(found, {}, { limit: 10 });
  t.same(
    runs.map(({ workflowPath, status, reason }) => [workflowPath, status, reason]),
    [
      [
        'worse.yml',
        'failure',
        'worse.yml, line 2, column 1: Flow sequence in block collection must be sufficiently indented and end with a ]',
      ],
      ['ci.yml', 'waiting', null],
      ['bad.yml', 'failure', 'bad.yml, line 3, column 3: The job a needs "runs-on".'],
    ],
  );
  t.equal((await modules.repositories.statuses.ofCommits(found.repository.id, [sha])).get(sha)?.state, 'failure');
  t.equal((await state(1)).run, 'failure');
  await push(workflow('on: {push: {branches: [other]}}\njobs: {}\n', 'bad.yml'), { branch: 'topic' });
  t.notOk(
    (await ci.runs.list(found, {}, { limit: 10 })).runs.some(
      (run) => run.ref === 'refs/heads/topic' && run.workflowPath === 'bad.yml',
    ),
    'it was not meant',
  );
});

t.test('no run starts after filters, [skip ci], the push option, or a task’s own push', async (t) => {
  const { push, ci, found } = await openCi(t);
  const count = async () => (await ci.runs.list(found, {}, { limit: 50 })).runs.length;
  await push(
    workflow(
      `on:\n  push:\n    branches: [main, 'release/**', '!release/old']\n    paths: ['src/**', '!**.md', .hearth/**]\njobs:\n${job('')}`,
    ),
  );
  t.equal(await count(), 1);
  const cases: [started: boolean, files: Record<string, string>, options: Parameters<typeof push>[1]][] = [
    [true, { 'src/a.c': '1' }, {}],
    [false, { 'docs/a.c': '1' }, {}],
    [false, { 'src/a.md': '1' }, {}],
    [true, { 'src/b.c': '1' }, { branch: 'release/1/2' }],
    [false, { 'src/c.c': '1' }, { branch: 'release/old' }],
    [false, { 'src/d.c': '1' }, { branch: 'topic' }],
    [false, { 'src/e.c': '1' }, { tag: 'v1' }],
    [false, { 'src/f.c': '1' }, { message: 'Fix [skip ci]' }],
    [false, { 'src/g.c': '1' }, { options: ['ci.skip'] }],
    [false, { 'src/h.c': '1' }, { by: null }],
    [true, { 'src/i.c': '1' }, {}],
  ];
  for (const [started, files, options] of cases) {
    const before = await count();
    await push(files, options);
    t.equal((await count()) - before, started ? 1 : 0, JSON.stringify([files, options]));
  }
});

t.test('only the first of the workflow folders counts', async (t) => {
  const { push, ci, found } = await openCi(t);
  const file = `on: push\njobs:\n${job('')}`;
  await push({ '.github/workflows/a.yml': file, '.gitea/workflows/b.yaml': file, '.gitea/workflows/deep/c.yml': file });
  t.same(
    (await ci.runs.workflowsOf(found)).map(({ path }) => path),
    ['b.yaml', 'deep/c.yml'],
  );
  await push({ '.forgejo/workflows/d.yml': file, '.gitea/workflows/b.yaml': file });
  t.same((await ci.runs.list(found, {}, { limit: 1 })).runs[0]?.workflowPath, 'd.yml');
});

t.test('concurrency: one runs, one waits, a newer one replaces it', async (t) => {
  const { push, state, addRunner } = await openCi(t);
  const file = (more: string) =>
    `on: push\nconcurrency: {group: "deploy-\${{ github.ref_name }}"${more}}\njobs:\n${job('')}`;
  await push(workflow(file('')));
  const runner = await addRunner(['linux']);
  const task = (await runner.fetch())!;
  await push({ a: '2' });
  await push({ a: '3' });
  t.match([(await state(1)).run, (await state(2)).run, (await state(3)).run], ['running', 'cancelled', 'blocked']);
  t.equal((await state(2)).reason, 'Replaced by run 3, which waits for the group “deploy-main” now.');
  t.equal(await runner.fetch(), null, 'it waits');
  await push({ a: '4' }, { branch: 'other' });
  t.equal((await state(4)).run, 'waiting', 'another group');
  await runner.finish(task.taskId);
  t.equal((await state(3)).run, 'waiting', 'its turn has come');

  await push({ ...workflow(file(', cancel-in-progress: "${{ github.ref_name == \'main\' }}"')) });
  t.equal((await state(3)).run, 'cancelled');
  t.match((await state(3)).reason, /Cancelled for run 5/);
  t.equal((await state(5)).run, 'waiting');
});

t.test('concurrency of jobs, and queue: max', async (t) => {
  const { push, state, addRunner } = await openCi(t);
  await push(workflow(`on: push\njobs:\n${job('concurrency: {group: site, queue: max}')}${job('', 'b')}`));
  await push({ a: '2' });
  await push({ a: '3' });
  t.match(
    [(await state(1)).jobs, (await state(2)).jobs, (await state(3)).jobs],
    [
      { a: 'waiting', b: 'waiting' },
      { a: 'blocked', b: 'waiting' },
      { a: 'blocked', b: 'waiting' },
    ],
  );
  const runner = await addRunner(['linux']);
  const done: number[] = [];
  for (let count = 0; count < 6; count += 1) {
    const task = (await runner.fetch())!;
    if (task.context.job === 'a') done.push(Number(task.context.run_number));
    await runner.finish(task.taskId);
  }
  t.same(done, [1, 2, 3]);
  t.equal((await state(3)).run, 'success');
});

t.test('cancelling a run ends waiting jobs at once, and lets a capable runner finish', async (t) => {
  const { push, state, addRunner, ci, viewer, found, clock } = await openCi(t);
  await push(workflow(`on: push\njobs:\n${job('')}${job('', 'b')}${job('needs: a\nif: always()', 'c')}`));
  const polite = await addRunner(['linux'], { capabilities: ['cancelling'] });
  const task = (await polite.fetch())!;
  await polite.report(task.taskId);
  await ci.runs.cancel(viewer, found, 1, { force: false });
  t.match(await state(1), { run: 'cancelling', jobs: { a: 'cancelling', b: 'cancelled', c: 'cancelled' } });
  t.equal((await polite.report(task.taskId)).result, 'cancelled');
  t.equal((await polite.report(task.taskId, { result: 'success' })).result, 'cancelled', 'whatever it says');
  t.match(await state(1), { run: 'cancelled', jobs: { a: 'cancelled' } });
  t.equal(await reasonOf(ci.runs.cancel(viewer, found, 1, { force: false })), 'run_ended');

  await push({ a: '2' });
  const second = (await polite.fetch())!;
  await polite.report(second.taskId);
  clock.advance(61_000);
  await ci.runs.cancel(viewer, found, 2, { force: false });
  t.equal((await state(2)).run, 'cancelled', 'a silent runner is not waited for');

  await push({ a: '3' });
  const rough = await addRunner(['linux']);
  const third = (await rough.fetch())!;
  await ci.runs.cancel(viewer, found, 3, { force: false });
  t.equal((await state(3)).run, 'cancelled', 'nor one that cannot wind up');
  t.equal((await rough.report(third.taskId, { result: 'success' })).result, 'cancelled');
  t.match(await state(3), { run: 'cancelled', jobs: { a: 'cancelled' } });
});

t.test('rerun: failed jobs and what needs them, one job, all of them; earlier logs stay', async (t) => {
  const { push, state, addRunner, ci, viewer, found, modules } = await openCi(t);
  await push(
    workflow(
      `on: push\njobs:\n${job('strategy: {fail-fast: false, matrix: {n: [1, 2]}}')}${job('', 'b')}${job('needs: [a, b]', 'c')}`,
    ),
  );
  const runner = await addRunner(['linux']);
  const first = (await runner.fetch())!;
  t.equal(await reasonOf(ci.runs.rerun(viewer, found, 1, 'all')), 'run_not_ended');
  await runner.finish(first.taskId, 'failure');
  await runner.finish((await runner.fetch())!.taskId);
  await runner.finish((await runner.fetch())!.taskId, 'success', { v: '1' });
  t.match(await state(1), {
    run: 'failure',
    jobs: { 'a (1)': 'failure', 'a (2)': 'success', b: 'success', c: 'skipped' },
  });

  await ci.runs.rerun(viewer, found, 1, 'failed');
  t.match(await state(1), {
    run: 'running',
    jobs: { 'a (1)': 'waiting', 'a (2)': 'success', b: 'success', c: 'blocked' },
  });
  t.match(await state(1, 1), { jobs: { 'a (1)': 'failure', c: 'skipped' } }, 'the first attempt is as it was');
  const again = (await runner.fetch())!;
  t.equal(again.context.run_attempt, '2');
  t.not(again.taskId, first.taskId);
  await runner.finish(again.taskId);
  const last = (await runner.fetch())!;
  t.same(last.needs.get('b')?.outputs, new Map([['v', '1']]), 'outputs carry over');
  await runner.finish(last.taskId);
  t.equal((await state(1)).run, 'success');
  t.equal(await reasonOf(ci.runs.rerun(viewer, found, 1, 'failed')), 'nothing_to_rerun');
  const { jobs } = await ci.runs.find(found, 1, 1);
  t.ok((await ci.runs.findJob(found, 1, jobs[0]!.id)).task, 'the log of the first attempt is there');

  const b = (await state(1)).rows.find((row) => row.name === 'b')!;
  await ci.runs.rerun(viewer, found, 1, { jobId: b.id });
  t.match(await state(1), { jobs: { 'a (1)': 'success', b: 'waiting', c: 'blocked' } });
  await ci.runs.cancel(viewer, found, 1, { force: false });
  await ci.runs.rerun(viewer, found, 1, 'all');
  t.match(await state(1), {
    run: 'waiting',
    jobs: { 'a (1)': 'waiting', 'a (2)': 'waiting', b: 'waiting', c: 'blocked' },
  });
  const reader = { ...(await modules.repositories.find(viewer, 'alice', 'work')), level: 'read' as const };
  t.equal(await reasonOf(ci.runs.rerun(viewer, reader, 1, 'all')), 'repository_not_found');
  t.equal(await reasonOf(ci.runs.cancel(viewer, reader, 1, { force: false })), 'repository_not_found');
});

t.test('a failed job runs again while the rest of its run continues', async (t) => {
  const { push, state, addRunner, ci, viewer, found } = await openCi(t);
  await push(workflow(`on: push\njobs:\n${job('')}${job('', 'b')}${job('needs: [a, b]', 'c')}`));
  const runner = await addRunner(['linux']);
  const [a, b] = [(await runner.fetch())!, (await runner.fetch())!];
  await runner.finish(a.taskId, 'failure');
  await ci.runs.rerun(viewer, found, 1, 'failed');
  t.match(await state(1), { jobs: { a: 'waiting', b: 'running', c: 'blocked' } });
  await runner.finish(b.taskId);
  await runner.finish((await runner.fetch())!.taskId);
  await runner.finish((await runner.fetch())!.taskId);
  t.match(await state(1), { run: 'success', jobs: { a: 'success', b: 'success', c: 'success' } });
});

t.test('workflow_dispatch takes the inputs that its file declares', async (t) => {
  const { push, state, addRunner, ci, viewer, found } = await openCi(t);
  await push(
    workflow(`name: Release
run-name: Release \${{ inputs.version }}
on:
  workflow_dispatch:
    inputs:
      version: {required: true, type: string}
      kind: {type: choice, options: [big, small], default: small}
      dry: {type: boolean}
jobs:
${job("if: inputs.dry == false && github.event.inputs.dry == 'false'")}`),
  );
  t.same(
    (await ci.workflows.listDispatchable(found)).map(({ path, name, inputs }) => [path, name, [...inputs.keys()]]),
    [['ci.yml', 'Release', ['version', 'kind', 'dry']]],
  );
  const start = (inputs: Record<string, string>, ref = '', path = 'ci.yml') =>
    ci.workflows.dispatch(viewer, found, { path, ref, inputs: new Map(Object.entries(inputs)) });
  for (const [inputs, field] of [
    [{}, 'input-version'],
    [{ version: '1', kind: 'odd' }, 'input-kind'],
    [{ version: '1', dry: 'yes' }, 'input-dry'],
  ] as const) {
    t.match(await start(inputs).catch((error: unknown) => error), { reason: 'invalid_input', field });
  }
  t.equal(await reasonOf(start({ version: '1' }, 'absent')), 'revision_not_found');
  t.equal(await reasonOf(start({ version: '1' }, '', 'absent.yml')), 'workflow_not_found');
  t.match(await start({ version: '1.2' }, 'main'), {
    number: 1,
    title: 'Release 1.2',
    event: 'workflow_dispatch',
    ref: 'refs/heads/main',
  });
  const runner = await addRunner(['linux']);
  t.match((await runner.fetch())!.context, {
    event_name: 'workflow_dispatch',
    event: { inputs: { version: '1.2', kind: 'small', dry: 'false' } },
  });
  await start({ version: '2', dry: 'true' });
  t.match(await state(2), { run: 'skipped' });
  t.equal(
    await reasonOf(
      ci.workflows.dispatch(viewer, { ...found, level: 'read' }, { path: 'ci.yml', ref: '', inputs: new Map() }),
    ),
    'repository_not_found',
  );
});

t.test('a run survives its server: blocked jobs continue at the next start', async (t) => {
  const first = await openCi(t);
  await first.push(workflow(`on: push\nconcurrency: one\njobs:\n${job('')}`));
  await first.push({ a: '2' });
  // The group is free, and the server died before the next run was advanced.
  await first.db.write(async ({ manager }) => {
    await manager.query(
      "UPDATE ci_runs SET status = 'success', finished_at = 1, concurrency_state = NULL WHERE number = 1",
    );
    await manager.query("UPDATE ci_jobs SET status = 'success' WHERE run_id = 1");
    await manager.query("UPDATE ci_runs SET concurrency_state = 'holding' WHERE number = 2");
  });
  await first.close();
  const second = await openCi(t, { folder: first.folder });
  t.equal((await second.state(2)).run, 'waiting');
  await settle();
});
