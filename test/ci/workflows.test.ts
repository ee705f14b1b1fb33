import t from 'tap';
import { nextTime, parseCron } from '../../src/ci/workflows/cron.ts';
import { evaluateCondition, evaluateValue } from '../../src/ci/workflows/evaluate.ts';
import { expandMatrix, combinationName } from '../../src/ci/workflows/expand-matrix.ts';
import { GlobMatcher } from '../../src/ci/workflows/glob.ts';
import { matchesPush } from '../../src/ci/workflows/match-push.ts';
import { parseWorkflow, readWorkflow } from '../../src/ci/workflows/parse-workflow.ts';
import { writePayload } from '../../src/ci/workflows/write-payload.ts';
import { statusOfMatrix, statusOfRun } from '../../src/ci/run-status.ts';
import type { RunStatus } from '../../src/ci/run-status.ts';
import type { Workflow } from '../../src/ci/workflows/workflow.ts';

const outcome = { success: true, failure: false, cancelled: false };
const scope = {
  contexts: {
    github: { ref: 'refs/heads/main', event: { number: 3 } },
    matrix: { os: 'linux', list: [1, 2] },
    needs: {},
    vars: { constructor: 'c' },
  },
  outcome,
};

function parsed(text: string): Workflow {
  const result = parseWorkflow('ci.yml', text);
  if (!result.ok) throw result.problem;
  return result.workflow;
}

/** A job with its nodes. */
function parsedJob(text: string, key: string) {
  const read = readWorkflow('ci.yml', text);
  if ('ok' in read) throw read.problem;
  return read.jobs.get(key)!;
}

t.test('patterns of filters match as on other forges', async (t) => {
  const rows: [pattern: string, fits: string[], doesNot: string[]][] = [
    ['main', ['main'], ['maine', 'amain', '']],
    ['*', ['main', 'v1.0'], ['feature/a']],
    ['**', ['main', 'feature/a/b'], []],
    ['feature/*', ['feature/a'], ['feature/a/b', 'feature']],
    ['feature/**', ['feature/a', 'feature/a/b'], ['feature']],
    ['**/docs/**', ['docs/x', 'a/docs/x', 'a/b/docs/c/d'], ['docs', 'adocs/x']],
    ['**/README.md', ['README.md', 'a/README.md'], ['aREADME.md']],
    ['**.js', ['a.js', 'a/b.js'], ['a.jsx']],
    ['*.jsx?', ['a.js', 'a.jsx'], ['a.jsxx']],
    ['v[12].[0-9]+.[0-9]+', ['v1.0.0', 'v2.10.11'], ['v3.0.0', 'v1..0', 'v1.0']],
    ['a+b', ['ab', 'aaab'], ['b']],
    ['\\*x', ['*x'], ['ax']],
    ['[x', ['[x'], ['x']],
    ['ä?🔥+', ['🔥', 'ä🔥🔥'], ['ä']],
  ];
  const glob = new GlobMatcher();
  for (const [pattern, fits, doesNot] of rows) {
    for (const text of fits) t.ok(glob.matches(pattern, text), `${pattern} fits ${text}`);
    for (const text of doesNot) t.notOk(glob.matches(pattern, text), `${pattern} does not fit ${text}`);
  }
  t.ok(glob.allows(['a/**', '!a/b/**', 'a/b/c'], 'a/b/c'), 'the last that fits decides');
  t.notOk(glob.allows(['a/**', '!a/b/**'], 'a/b/c'));
  t.notOk(glob.allows(['!a'], 'b'), 'only exceptions let nothing in');
});

t.test('security I08 no pattern takes more than linear time', async (t) => {
  const startedAt = performance.now();
  t.throws(
    () => {
      const glob = new GlobMatcher();
      for (let count = 0; count < 1000; count += 1) glob.matches('**a'.repeat(80) + 'b', `${'a'.repeat(200)}${count}`);
    },
    { message: 'The filters cost too much to evaluate.' },
  );
  t.ok(performance.now() - startedAt < 5_000);
});

t.test('which pushes trigger a workflow, by kind of filter', async (t) => {
  const trigger = (on: string) =>
    parsed(`on:\n  push:\n${on}\njobs: {a: {runs-on: x, steps: [{run: x}]}}`).triggers.push!;
  const branch = (name: string, changedPaths: string[] | null = null) => ({
    kind: 'branch' as const,
    name,
    changedPaths,
  });
  const tag = (name: string) => ({ kind: 'tag' as const, name, changedPaths: null });
  const rows: [on: string, starts: object[], doesNot: object[]][] = [
    ['    branches: [main]', [branch('main')], [branch('x'), tag('main')]],
    ['    tags: [v*]', [tag('v1')], [tag('x'), branch('v1')]],
    ['    branches: [main]\n    tags: [v*]', [branch('main'), tag('v1')], [branch('v1'), tag('main')]],
    ['    branches-ignore: [x/**]', [branch('main')], [branch('x/y'), tag('t')]],
    ['    tags-ignore: ["*-rc"]', [tag('v1')], [tag('v1-rc'), branch('main')]],
    [
      '    paths: [src/**]',
      [branch('main', ['src/a']), branch('main', ['b', 'src/a']), branch('main'), tag('v1')],
      [branch('main', ['b']), branch('main', [])],
    ],
    ['    paths-ignore: [docs/**]', [branch('main', ['docs/a', 'b'])], [branch('main', ['docs/a'])]],
    [
      '    branches: [main]\n    paths: [src/**]',
      [branch('main', ['src/a'])],
      [branch('x', ['src/a']), branch('main', ['b'])],
    ],
  ];
  for (const [on, starts, doesNot] of rows) {
    for (const ref of starts)
      t.ok(matchesPush(trigger(on), ref as never), `${on.trim()} is started by ${JSON.stringify(ref)}`);
    for (const ref of doesNot)
      t.notOk(matchesPush(trigger(on), ref as never), `${on.trim()} is not started by ${JSON.stringify(ref)}`);
  }
});

t.test('expressions evaluate as on runners, with status functions of the run', async (t) => {
  const values: [text: string, value: unknown][] = [
    ['${{ github.event.number }}', 3],
    ['n ${{ github.event.number }} of ${{ matrix.os }}', 'n 3 of linux'],
    ["${{ github.ref == 'refs/heads/main' && 'yes' || 'no' }}", 'yes'],
    ['${{ fromJSON(\'[1, {"a": null}]\') }}', [1, { a: null }]],
    ["${{ 'it''s }} fine' }}", "it's }} fine"],
    ['${{ vars.constructor }}', 'c'],
    ['${{ needs.absent.result }}', null],
    ['${{ toJSON(matrix.list) }}', '[\n  1,\n  2\n]'],
    ["${{ format('{0} {1}', 1e21, 1234567890.123456789) }}", '1E+21 1234567890.12346'],
    ["${{ join(fromJSON('[1e15, 0.00001, 0.0001, -0.0]'), ' ') }}", '1E+15 1E-05 0.0001 0'],
    ['v${{ 0.30000000000000004 }}', 'v0.3'],
    ['${{ 0.30000000000000004 }}', 0.30000000000000004],
    ['no expression', 'no expression'],
    ['', ''],
  ];
  for (const [text, value] of values) t.same(evaluateValue(text, scope), value, text);
  t.same(evaluateValue({ a: ['${{ matrix.os }}', 1] }, scope), { a: ['linux', 1] });
  for (const [text, message] of [
    ['${{ absent.x }}', /Unrecognized named-value: 'absent'/],
    ['${{ constructor(1) }}', /there is no function constructor/],
    ["${{ hashFiles('x') }}", /there is no function hashfiles/],
    ['${{ 1 == }}', /Unexpected end/],
    ['${{ 1', /it has no end/],
    ['${{ }}', /it is empty/],
    [`\${{ ${"format('{0}{0}', ".repeat(40)}'xxxx'${')'.repeat(40)} }}`, /longer than 1 MiB/],
    [`\${{ ${'toJSON('.repeat(45)}'"""""""""'${')'.repeat(45)} }}`, /longer than 1 MiB/],
    [`\${{ '${'x'.repeat(22_000)}' }}`, /MaxLength/],
  ] as const)
    t.throws(() => evaluateValue(text, scope), message, text.slice(0, 60));
});

t.test('the condition of a job, with and without status functions', async (t) => {
  const failed = { ...scope, outcome: { success: false, failure: true, cancelled: false } };
  const rows: [condition: string | null, well: boolean, badly: boolean][] = [
    [null, true, false],
    ['', true, false],
    ["github.ref == 'refs/heads/main'", true, false],
    ['${{ false }}', false, false],
    ['always()', true, true],
    ['failure()', false, true],
    ['!cancelled()', true, true],
    ["success() || github.ref == 'x'", true, false],
    ["${{ always() }} && 'x'", true, true],
    ["'always()'", true, false],
  ];
  for (const [condition, well, badly] of rows) {
    t.equal(evaluateCondition(condition, scope), well, String(condition));
    t.equal(evaluateCondition(condition, failed), badly, `${condition}, after a failure`);
  }
});

t.test('a matrix is expanded with exclude and include, in the order of the file', async (t) => {
  const names = (matrix: unknown) => expandMatrix(matrix as never).map(combinationName);
  t.same(names(null), ['']);
  t.same(names({ os: ['b', 'a'], v: [1, 2], exclude: [{ os: 'a', v: 2 }] }), ['b, 1', 'b, 2', 'a, 1']);
  t.same(names({ v: ['3.10', 3.1] }), ['3.10', '3.1'], 'text and number are two');
  t.same(names({ os: ['ubuntu-latest'], node: [18, 20] }), ['ubuntu-latest, 18', 'ubuntu-latest, 20']);
  t.same(
    names({
      b: [1],
      include: [
        { b: 1, a: 'x' },
        { c: 0, b: 2 },
      ],
    }),
    ['1, x', '0, 2'],
    'what is added comes last',
  );
  t.same(
    expandMatrix({
      fruit: ['apple', 'pear'],
      animal: ['cat', 'dog'],
      include: [
        { color: 'green' },
        { color: 'pink', animal: 'cat' },
        { fruit: 'apple', shape: 'circle' },
        { fruit: 'banana' },
        { fruit: 'banana', animal: 'cat' },
      ],
    } as never).map((combination) => JSON.stringify(combination)),
    [
      '{"fruit":"apple","animal":"cat","color":"pink","shape":"circle"}',
      '{"fruit":"apple","animal":"dog","color":"green","shape":"circle"}',
      '{"fruit":"pear","animal":"cat","color":"pink"}',
      '{"fruit":"pear","animal":"dog","color":"green"}',
      '{"fruit":"banana"}',
      '{"fruit":"banana","animal":"cat"}',
    ],
  );
  t.same(names({ include: [{ a: 1 }, { a: 2, b: { c: 'deep', d: [true] } }] }), ['1', '2, deep, true']);
  for (const [matrix, message] of [
    [{ a: 'x' }, /axis a has to be a list/],
    [{ a: [] }, /axis a has to be a list/],
    [{}, /no combinations/],
    [{ a: [1], exclude: [{ a: 1 }] }, /no combinations/],
    [[1], /not a mapping/],
    [{ a: [1], include: { b: 1 } }, /list of mappings under "include"/],
    [
      Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`a${at}`, Array.from({ length: 10 }, (__, n) => n)])),
      /more than 256/,
    ],
  ] as const)
    t.throws(() => names(matrix), message);
});

t.test('the payload for a runner preserves the nodes of the file', async (t) => {
  const text = `name: CI
on: {push: , workflow_dispatch: {inputs: {n: {type: number, default: 7}}}}
x-shared: &shared
  PY: "3.10" # quoted
  DAY: 2024-01-01
env:
  <<: *shared
  PY: '3.11'
defaults: {run: {shell: bash}}
concurrency: c
jobs:
  build:
    needs: other
    concurrency: d
    runs-on: \${{ matrix.os }}
    strategy:
      fail-fast: false
      matrix: {os: [linux], version: ["3.10", 3.10, 0x10]}
    env: *shared
    steps:
      - &step
        uses: actions/checkout@v4
        with: {fetch-depth: 0}
      - *step
      - run: |
          echo "\${{ matrix.version }}"

          exit 0
  other: {runs-on: linux, steps: [{run: x}]}
`;
  const combination = { os: 'linux', version: '3.10' };
  t.equal(
    writePayload(parsedJob(text, 'build'), {
      workflow: 'CI',
      name: 'build (linux, 3.10)',
      combination,
      runsOn: ['linux', 'big'],
      continueOnError: false,
      strategy,
      inputs: null,
    }),
    `name: CI
on:
  push:
  workflow_dispatch:
    inputs:
      n:
        type: number
        default: 7
env:
  PY: '3.11'
  DAY: 2024-01-01
defaults:
  run:
    shell: bash
jobs:
  build:
    runs-on:
      - linux
      - big
    strategy:
      fail-fast: false
      matrix:
        os:
          - linux
        version:
          - "3.10"
    env:
      PY: "3.10" # quoted
      DAY: 2024-01-01
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - run: |
          echo "\${{ matrix.version }}"

          exit 0
    if: always()
    name: build (linux, 3.10)
`,
  );
});

const strategy = { 'fail-fast': true, 'job-index': 0, 'job-total': 1, 'max-parallel': 1 };

t.test('an alias that contains itself is a problem with a message', async (t) => {
  const job = parsedJob('on: push\njobs: &j\n  a: {runs-on: x, steps: [{run: x}], more: *j}', 'a');
  const settled = {
    workflow: 'CI',
    name: 'a',
    combination: {},
    runsOn: ['x'],
    continueOnError: false,
    strategy,
    inputs: null,
  };
  t.throws(() => writePayload(job, settled), /aliases of this file make it too large/);
});

t.test('an invalid file reports position and reason, and never throws', async (t) => {
  const rows: [text: string, problem: string][] = [
    ['', 'line 1, column 1: A workflow file is a mapping with "on" and "jobs".'],
    ['on: push', 'line 1, column 1: A workflow needs "jobs".'],
    ['jobs: {}', 'line 1, column 1: A workflow needs "on": what starts it.'],
    ['on: push\njobs: {}', 'line 2, column 7: A workflow needs at least one job.'],
    ['on: push\njobs:\n  a:\n    steps: [{run: x}]', 'line 3, column 3: The job a needs "runs-on".'],
    ['on: push\njobs:\n  a:\n    runs-on: x', 'line 3, column 3: The job a needs "steps".'],
    [
      'on: push\njobs:\n  a: {runs-on: x, steps: [{name: x}]}',
      'line 3, column 27: A step needs either "run" or "uses".',
    ],
    [
      'on: push\njobs:\n  1a: {runs-on: x, steps: [{run: x}]}',
      'line 3, column 3: A job id consists of letters, digits, "-" and "_", and begins with a letter or "_".',
    ],
    [
      'on: push\njobs:\n  a: {runs-on: x, needs: b, steps: [{run: x}]}\n  b: {runs-on: x, needs: a, steps: [{run: x}]}',
      'line 3, column 3: The job a needs itself: a → b → a.',
    ],
    [
      'on: push\njobs:\n  a: {runs-on: x, needs: c, steps: [{run: x}]}',
      'line 3, column 3: The job a needs c, which is not there.',
    ],
    [
      'on: push\njobs:\n  a: {uses: ./x.yml}',
      'line 3, column 13: Workflow x.yml was not found in this commit, or is too large to be called.',
    ],
    [
      'on:\n  push:\n    branches: [a]\n    branches-ignore: [b]\njobs: {}',
      'line 4, column 22: "branches" and "branches-ignore" exclude each other; use "!" in front of a pattern.',
    ],
    [
      'on: {schedule: [{cron: "x"}]}\njobs: {}',
      'line 1, column 24: A cron expression has five fields: minute, hour, day, month, weekday; or one word, as @daily.',
    ],
    ['on: push\non: push', 'line 2, column 1: Map keys must be unique'],
    ['on: push\n\tjobs: {}', 'line 2, column 1: Tabs are not allowed as indentation'],
    [
      'on: push\njobs: {a: {runs-on: x, permissions: {contents: all}, steps: [{run: x}]}}',
      'line 2, column 48: "all" is not allowed here. It is one of read, write, none.',
    ],
  ];
  for (const [text, problem] of rows) {
    const result = parseWorkflow('ci.yml', text);
    t.equal(result.ok ? 'fine' : result.problem.describe(), problem, JSON.stringify(text));
  }
  const bombs = [
    `${'['.repeat(3000)}`,
    `${Array.from({ length: 9 }, (_, at) => `${'abcdefghi'[at]}: &${'abcdefghi'[at]} [${Array.from({ length: 9 }, () => (at === 0 ? 'x' : `*${'abcdefghi'[at - 1]}`)).join()}]`).join('\n')}\non: push\njobs: {j: {runs-on: *i, steps: [{run: x}]}}`,
    'x'.repeat(2 * 1024 * 1024),
    `on: push\njobs: {${Array.from({ length: 300 }, (_, at) => `j${at}: {runs-on: x, steps: [{run: x}]}`).join()}}`,
  ];
  for (const bomb of bombs) t.notOk(parseWorkflow('ci.yml', bomb).ok, bomb.slice(0, 40));
});

t.test('cron expressions are evaluated in UTC', async (t) => {
  const next = (text: string, after: string) => {
    const cron = parseCron(text);
    const at = cron === null ? null : nextTime(cron, Date.parse(after));
    return at === null ? null : new Date(at).toISOString().slice(0, 16);
  };
  t.equal(next('* * * * *', '2026-01-01T00:00:30Z'), '2026-01-01T00:01');
  t.equal(next('0 3 * * *', '2026-01-01T03:00:00Z'), '2026-01-02T03:00');
  t.equal(next('*/15 9-17/4 * * mon-fri', '2026-01-02T17:45:00Z'), '2026-01-05T09:00');
  t.equal(next('0 0 31 * *', '2026-02-01T00:00:00Z'), '2026-03-31T00:00');
  t.equal(next('0 0 29 feb *', '2026-01-01T00:00:00Z'), '2028-02-29T00:00');
  t.equal(next('0 0 13 * fri', '2026-01-03T00:00:00Z'), '2026-01-09T00:00', 'either day');
  t.equal(next('5,10 0 1 1,7 7', '2026-01-01T00:05:00Z'), '2026-01-01T00:10');
  const words = { yearly: '2027-01-01', annually: '2027-01-01', monthly: '2026-02-01', weekly: '2026-01-04' };
  for (const [word, day] of Object.entries({ ...words, daily: '2026-01-02', midnight: '2026-01-02' }))
    t.equal(next(`@${word}`, '2026-01-01T22:30:00Z'), `${day}T00:00`, word);
  t.equal(next(' @hourly ', '2026-01-01T22:30:00Z'), '2026-01-01T23:00');
  t.equal(next('0 0 30 2 *', '2026-01-01T00:00:00Z'), null);
  for (const wrong of [
    '',
    '* * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '*/0 * * * *',
    'a * * * *',
    '@Daily',
    '@every 1h',
    '@reboot',
    '@constructor',
    '@daily * * * *',
    '1/2/3 * * * *',
  ]) {
    t.equal(parseCron(wrong), null, wrong);
  }
});

/** Expressions in zones, and the instants that follow one; the clocks of each change on the way. */
const zoned: [cron: string, zone: string | null, after: string, next: string[]][] = [
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00', ['03-28T01:30', '03-29T01:00', '03-30T00:30']],
  ['0,30 2 * * *', 'Europe/Berlin', '2026-03-29T00:00', ['03-29T01:00', '03-30T00:00']],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T00:00', ['10-24T00:30', '10-25T00:30', '10-26T01:30']],
  ['0,30 * * * *', 'Europe/Berlin', '2026-03-29T00:15', ['03-29T00:30', '03-29T01:00', '03-29T01:30']],
  ['0 * * * *', 'Europe/Berlin', '2026-10-24T23:45', ['10-25T00:00', '10-25T01:00', '10-25T02:00']],
  ['0 0 * * *', 'Asia/Kathmandu', '2026-01-01T00:00', ['01-01T18:15', '01-02T18:15']],
  ['0 0 1 * *', 'America/Los_Angeles', '2026-03-02T00:00', ['04-01T07:00', '05-01T07:00']],
  ['@daily', 'America/Havana', '2026-03-07T06:00', ['03-08T05:00', '03-09T04:00']],
  ['30 1 * * *', 'Australia/Lord_Howe', '2026-10-02T16:00', ['10-03T15:00', '10-04T14:30']],
  ['0 9 * * mon', 'Pacific/Kiritimati', '2026-01-03T00:00', ['01-04T19:00', '01-11T19:00']],
  ['TZ=Asia/Tokyo 0 4 * * *', null, '2026-01-01T00:00', ['01-01T19:00', '01-02T19:00']],
  ['CRON_TZ=Asia/Tokyo @daily', null, '2026-01-01T00:00', ['01-01T15:00']],
  ['0 0 30 2 *', 'Europe/Berlin', '2026-01-01T00:00', []],
];

t.test('cron expressions are evaluated in a zone, also where its clocks change', async (t) => {
  for (const [text, zone, after, expected] of zoned) {
    const cron = parseCron(text, zone)!;
    const seen: string[] = [];
    for (let at = Date.parse(`${after}Z`); seen.length < expected.length + (expected.length === 0 ? 1 : 0); ) {
      const next = nextTime(cron, at);
      if (next === null) break;
      at = next;
      seen.push(new Date(next).toISOString().slice(5, 16));
    }
    t.strictSame(seen, expected, `${text} ${zone}`);
  }
  const refused: [string, string | null][] = [
    ['TZ=Nowhere/Town 0 4 * * *', null],
    ['TZ=Asia/Tokyo', null],
    ['TZ=Asia/Tokyo 0 4 * * *', 'UTC'],
    ['0 4 * * *', '+02:00'],
    ['0 4 * * *', ''],
    ['0 4 * * *', 'x'.repeat(100)],
  ];
  for (const [text, zone] of refused) t.equal(parseCron(text, zone), null, `${text} ${zone}`);
});

t.test('SPEC §3 the states of a run and of a matrix follow from their jobs', async (t) => {
  const run = (...statuses: RunStatus[]) =>
    statusOfRun(
      statuses.map((status) => ({ status, continueOnError: false })),
      { isCancelled: true },
    );
  const rows: [RunStatus[], RunStatus][] = [
    [[], 'failure'],
    [['skipped', 'skipped'], 'skipped'],
    [['success', 'skipped'], 'success'],
    [['failure', 'success'], 'failure'],
    [['failure', 'cancelled'], 'cancelled'],
    [['failure', 'running'], 'running'],
    [['cancelling', 'running'], 'cancelling'],
    [['waiting', 'blocked'], 'waiting'],
    [['blocked'], 'blocked'],
    [['success', 'blocked'], 'running'],
  ];
  for (const [statuses, expected] of rows) t.equal(run(...statuses), expected, statuses.join());
  t.equal(statusOfRun([{ status: 'failure', continueOnError: true }], { isCancelled: false }), 'success');
  const matrixJobs = (...statuses: RunStatus[]) =>
    statusOfMatrix(statuses.map((status) => ({ status, continueOnError: false })));
  t.equal(matrixJobs('success', 'running'), null);
  t.equal(matrixJobs('success', 'failure', 'cancelled'), 'failure');
  t.equal(matrixJobs('skipped', 'success'), 'success');
  t.equal(matrixJobs('skipped'), 'skipped');
  t.equal(matrixJobs(), 'skipped');
});
