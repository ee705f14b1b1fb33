import t from 'tap';
import { evaluateCondition, evaluateValue } from '../../src/ci/workflows/evaluate.ts';
import { EvaluationBudget } from '../../src/ci/workflows/evaluation-budget.ts';
import { bundle } from '../../src/ci/workflows/bundle.ts';
import { expandMatrix } from '../../src/ci/workflows/expand-matrix.ts';
import { parseWorkflow } from '../../src/ci/workflows/parse-workflow.ts';
import { runSchema, workflowFileSchema } from '../../src/ci/schema/run-schema.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { embedded } from '../../src/embedded/index.ts';
import { createWorkerPool } from '../../src/workers/index.ts';
import { hashOf, WorkflowReader } from '../../src/ci/workflows/workflow-reader.ts';
import { hostileWorkflows, ordinaryWorkflow } from '../fixtures/hostile-files.ts';
import { openCi, workflow } from './ci-fixture.ts';

t.test(
  'a file that explodes through aliases and merge keys, or is too large, is a problem with line and column',
  async (t) => {
    for (const [name, { text, problem }] of Object.entries(hostileWorkflows)) {
      const parsed = parseWorkflow('ci.yml', text);
      t.match(parsed.ok ? 'fine' : parsed.problem.describe(), problem, name);
    }
  },
);

t.test(
  'merge keys: an earlier source wins over a later one, the mapping itself over both, two levels deep',
  async (t) => {
    const parsed = parseWorkflow(
      'ci.yml',
      `on: push
x: &x {A: x, B: x, C: x, D: x}
y: &y {<<: *x, B: y, C: y}
z: &z {C: z, D: z, E: z}
jobs:
  a:
    runs-on: {<<: [*y, *z], C: own}
    steps: [{run: x}]
`,
    );
    if (!parsed.ok) throw parsed.problem;
    t.strictSame(parsed.workflow.jobs.get('a')?.runsOn, { A: 'x', B: 'y', C: 'own', D: 'x', E: 'z' });
  },
);

t.test(
  'the workflow reader parses nothing on the main thread, and each content once, also an invalid one',
  async (t) => {
    const workers = createWorkerPool({ embedded, logger: silentLogger });
    t.teardown(() => workers.stop());
    const reader = new WorkflowReader(workers);
    const read = (text: string) => {
      let requestCount = 0;
      const source = {
        path: 'ci.yml',
        hash: hashOf(text),
        client: 'alice/work',
        content: () => ((requestCount += 1), text),
      };
      return reader.read(source).then((parsed) => ({ parsed, requestCount }));
    };
    for (const text of [ordinaryWorkflow, hostileWorkflows['merge keys, depth 7']!.text, 'on: [']) {
      let isRead = false;
      const reading = read(text).finally(() => (isRead = true));
      // After this many turns of the microtask queue the main thread has done all that it can do by itself.
      for (let turn = 0; turn < 1_000; turn += 1) await null;
      t.notOk(isRead);
      const first = await reading;
      const again = await read(text);
      t.strictSame([first.requestCount, again.requestCount], [1, 0]);
      t.strictSame(again.parsed.ok, first.parsed.ok);
      if (!first.parsed.ok && !again.parsed.ok)
        t.equal(again.parsed.problem.describe(), first.parsed.problem.describe());
    }
  },
);

t.test(
  'a parse timeout is a problem of the file at a push, and of the machine when the file was valid before',
  async (t) => {
    const responses: object[] = [];
    const reader = new WorkflowReader({
      run: async () => responses.shift() as never,
      stop: () => {},
    });
    const source = { path: 'ci.yml', hash: 'x', client: 'alice/work', content: () => '' };
    responses.push({ ok: false, reason: 'deadline' });
    const parsed = await reader.read(source);
    t.match(parsed, { ok: false, name: 'ci.yml', triggers: null });
    t.match(!parsed.ok && parsed.problem.describe(), 'line 1, column 1: This file takes more than 1 second to read.');
    for (const reason of ['deadline', 'memory', 'busy']) {
      responses.push({ ok: false, reason });
      await t.rejects(reader.read({ ...source, wasRead: true }), { code: 'unavailable', reason: 'busy' }, reason);
    }
    responses.push({ ok: false, reason: 'input_too_large' });
    t.notOk((await reader.read({ ...source, wasRead: true })).ok, 'which no machine changes');
  },
);

t.test(
  'the run names the problem of a hostile file, other files run, and a later start parses nothing again',
  async (t) => {
    const { push, ci, found, folder, close, state } = await openCi(t);
    const names = ['merge keys, depth 5', 'merge keys, depth 7', 'a mapping merged into itself'];
    await push(
      Object.assign(
        workflow(ordinaryWorkflow, 'zz.yml'),
        ...names.map((name, at) => workflow(hostileWorkflows[name]!.text, `h${at}.yml`)),
      ),
    );
    for (const [at, name] of names.entries()) {
      const { run, reason } = await state(at + 1);
      t.equal(run, 'failure');
      t.match(reason, hostileWorkflows[name]!.problem);
      t.match(reason, new RegExp(`^h${at}\\.yml, line \\d+`));
    }
    t.match(await state(4), { run: 'waiting', jobs: { test: 'waiting' } });
    t.match(
      (await ci.workflows.list(found)).map(({ path, problem }) => `${path} ${problem}`).join('\n'),
      /h0\.yml line 4[^]*h1\.yml line 4[^]*h2\.yml line 2[^]*zz\.yml null/,
    );
    await close();
    const again = await openCi(t, { folder });
    t.match(await again.state(4), { run: 'waiting' });
  },
);

t.test(
  'a run whose stored file a newer version refuses ends with the reason, and its tokens give nothing',
  async (t) => {
    const { push, db, ci, state, addRunner } = await openCi(t);
    const jobs = 'a: {runs-on: linux, steps: [{run: x}]}, b: {needs: a, runs-on: linux, steps: [{run: x}]}';
    await push(workflow(`on: push\njobs: {${jobs}}`));
    const task = (await (await addRunner(['linux'])).fetch())!;
    const token = task.secrets.get('GITHUB_TOKEN')!;
    t.match(await ci.tasks.viewerOfToken(token), { kind: 'task', scope: 'write' });
    const content = hostileWorkflows['merge keys, depth 5']!.text;
    await db.write(async ({ manager }) => {
      await manager.insert(workflowFileSchema, { hash: hashOf(content), content });
      await manager.update(runSchema, { number: 1 }, { fileHash: hashOf(content) });
    });
    t.equal(await ci.tasks.viewerOfToken(token), null, 'what the file may take away is not given');
    await ci.advanceRuns();
    const { rows } = await state(1);
    t.match(
      rows.map(({ jobKey, status, reason }) => `${jobKey} ${status} ${reason}`).join('\n'),
      /^a running null\nb failure ci\.yml, line 4, column 10: Merge/,
    );
  },
);

const outcome = { success: true, failure: false, cancelled: false };

t.test('every expression has a bounded cost, and reports when it is exceeded', async (t) => {
  const long = 'x'.repeat(60_000);
  const commits = Array.from({ length: 2_000 }, (_, id) => ({ id: String(id), message: long.slice(0, 100) }));
  const contexts = {
    github: { event: { commits, long, braces: '}}'.repeat(200_000), list: Array.from({ length: 20_000 }, String) } },
  };
  const times = (count: number, text: string) => Array.from({ length: count }, () => text).join('');
  const costly = [
    times(3_000, '${{ toJSON(github.event) }}'),
    times(3_000, '${{ contains(github.event.list, github.event.long) }}'),
    times(3_000, '${{ join(github.event.commits.*.message) }}'),
    `\${{ ${Array.from({ length: 600 }, () => 'github.event.long == github.event.long').join(' && ')} }}`,
    times(3_000, '${{ github.event }}'),
    times(3_000, '${{ fromJSON(github.event.long) || 1 }}'),
    times(3_000, "${{ format('{0}{0}{0}', github.event.long) }}"),
    Array.from({ length: 100 }, () => '${{ github.event.commits.*.message }}'),
  ];
  for (const text of costly) {
    const budget = new EvaluationBudget();
    t.throws(
      () => evaluateValue(text as never, { contexts, outcome, budget }),
      /cannot be evaluated/,
      String(text).slice(0, 50),
    );
  }
  t.throws(
    () =>
      evaluateValue('${{ format(github.event.braces) }}', {
        contexts: { github: { event: { braces: '}}'.repeat(5_000_000) } } },
        outcome,
      }),
    /too long to evaluate/,
  );
  t.equal(evaluateValue("${{ format('{{{0}}} {1}', 1, 'b') }}", { contexts, outcome }), '{1} b');
  t.throws(() => evaluateValue("${{ format('{0') }}", { contexts, outcome }), /single brace/);
  t.throws(() => evaluateValue("${{ format('{3}', 1) }}", { contexts, outcome }), /no value for \{3\}/);
});

t.test(
  'expressions of all jobs of a write share one budget, and what follows when it is spent fails at once',
  async (t) => {
    const budget = new EvaluationBudget(2_000);
    const scope = { contexts: { matrix: { os: 'linux' } }, outcome, budget };
    t.equal(evaluateValue('${{ matrix.os }}', scope), 'linux');
    t.throws(() => evaluateValue(`\${{ 'x' == '${'y'.repeat(2_000)}' }}`, scope), /take too long to evaluate/);
    t.throws(() => evaluateValue('${{ matrix.os }}', scope), /take too long to evaluate/);
    t.throws(() => evaluateCondition('matrix.os', scope), /take too long to evaluate/);
  },
);

t.test('expanding a matrix takes linear time, with bounded numbers', async (t) => {
  const list = (length: number) => Array.from({ length }, (_, at) => at);
  const big = 'x'.repeat(20_000);
  const cases: [matrix: unknown, message: RegExp][] = [
    [{ a: list(50), b: list(50), exclude: list(300).map((a) => ({ a })) }, /more than 256 entries under "exclude"/],
    [{ a: list(10), include: list(300).map((a) => ({ z: a })) }, /more than 256 entries under "include"/],
    [{ a: list(256), b: [big] }, /too long for so many combinations/],
    [{ a: [big.repeat(20)] }, /too long/],
    [Object.fromEntries(list(30).map((at) => [`a${at}`, [1]])), /more than 20 axes/],
    [
      {
        ...Object.fromEntries(list(10).map((at) => [`a${at}`, [1, 2]])),
        exclude: list(250).map((at) => ({
          ...Object.fromEntries(list(10).map((axis) => [`a${axis}`, 1])),
          a9: at + 3,
        })),
      },
      /more than 256 combinations/,
    ],
  ];
  for (const [matrix, message] of cases) t.throws(() => expandMatrix(matrix as never), message);
  const axes = Object.fromEntries(list(11).map((at) => [`a${at}`, [1, 2]]));
  const ones = Object.fromEntries(list(11).map((axis) => [`a${axis}`, 1]));
  const exclude = list(256).map((at) => ({ ...ones, a10: at + 3 }));
  const budget = new EvaluationBudget(500_000);
  t.throws(() => expandMatrix({ ...axes, exclude } as never, budget), /take too long to evaluate/);
  t.equal(
    expandMatrix({
      a: list(16),
      b: list(16),
      exclude: [{ a: 1 }],
      include: [{ a: 2, c: big.slice(0, 10_000) }],
    } as never).length,
    240,
  );
});

t.test('a run has a bounded number of jobs, all combinations of all matrices together', async (t) => {
  const { push, state } = await openCi(t);
  const matrix = `strategy: {matrix: {v: [${Array.from({ length: 256 }, (_, at) => at).join()}]}}`;
  const jobs = Array.from({ length: 5 }, (_, at) => `  j${at}: {runs-on: x, ${matrix}, steps: [{run: x}]}`).join('\n');
  await push(workflow(`on: push\njobs:\n${jobs}\n`));
  t.match(await state(1), {
    run: 'failure',
    reason: /^ci\.yml, line 1, column 1: A run can have at most 1024 jobs/,
    rows: [],
  });
});

t.test('finding called workflows takes linear time', async (t) => {
  const called = new Map([['.hearth/workflows/a.yml', 'on: push']]);
  t.match(bundle('uses: ./.hearth/workflows/a.yml', called), /^#!hearth-bundle/);
  // Each repetition could start a path to the end of the file.
  for (const text of ['uses:./'.repeat(16_000), 'uses: '.repeat(20_000), `uses${' '.repeat(120_000)}`])
    t.equal(bundle(text, called), text);
});

t.test('calls without jobs are bounded, too: of other repositories, which are read later', async (t) => {
  const files = new Map(
    [1, 2, 3, 4].map((at) => {
      const next = at === 4 ? 'bob/tools/.github/workflows/x.yml@v1' : `./.hearth/workflows/f${at + 1}.yml`;
      const jobs = Array.from({ length: 50 }, (_, n) => `  j${n}: {uses: ${next}}`).join('\n');
      return [`.hearth/workflows/f${at}.yml`, `on: workflow_call\njobs:\n${jobs}\n`];
    }),
  );
  for (const strategy of ['', ', strategy: {matrix: {n: [1, 2, 3, 4]}}']) {
    const main = `on: push\njobs:\n  a: {uses: ./.hearth/workflows/f1.yml${strategy}}\n`;
    t.match(parseWorkflow('ci.yml', bundle(main, files)), { ok: false, problem: /at most 2560 calls/ });
  }
});
