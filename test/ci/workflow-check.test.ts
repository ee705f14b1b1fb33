import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { FileFinding } from '../../src/ci/index.ts';
import { bundle } from '../../src/ci/workflows/bundle.ts';
import { findingsOf } from '../../src/ci/workflows/check-workflow.ts';
import { parseWorkflow } from '../../src/ci/workflows/parse-workflow.ts';

const check = (text: string, files = new Map<string, string>()): FileFinding[] =>
  findingsOf(parseWorkflow('ci.yml', bundle(text, files)));
const shown = ({ severity, line, column, message }: FileFinding): string => `${severity} ${line}:${column} ${message}`;

const steps = 'runs-on: linux, steps: [{run: "true"}]';
/** A file with these keys of its one job. */
const job = (keys: string): string => `on: push\njobs:\n  a: {${keys}}\n`;
const jobWith = (keys: string): string => job(`${steps}, ${keys}`);
const step = (keys: string): string => job(`runs-on: linux, steps: [{${keys}}]`);
const top = (lines: string): string => `${lines}\njobs:\n  a: {${steps}}\n`;

/** What GitHub refuses, and the first words of ours. */
const refused: [name: string, file: string, finding: RegExp][] = [
  ['a key at the top', top('on: push\nenvs: {}'), /^error 2:1 "envs" is not a key at the top .* mean "env"\?$/],
  ['another case', top('on: push\nName: x'), /^error 2:1 .*mean "name"\?$/],
  ['permission', top('on: push\npermission: {}'), /^error 2:1 .*mean "permissions"\?$/],
  ['concurency', top('on: push\nconcurency: x'), /^error 2:1 .*mean "concurrency"\?$/],
  ['an event', top('on: psuh'), /^error 1:5 There is no event "psuh". Did you mean "push"\?$/],
  ['an event in a list', top('on: [push, pull_requests]'), /^error 1:12 .*mean "pull_request"\?$/],
  ['an event in a mapping', top('on: {pushh: {}}'), /^error 1:6 .*mean "push"\?$/],
  ['a filter', top('on: {push: {branch: [main]}}'), /^error 1:13 "branch" is not a key under "push". .*"branches"\?$/],
  ['a filter of paths', top('on: {pull_request: {path: [a]}}'), /^error 1:21 .*mean "paths"\?$/],
  ['a filter of activity', top('on: {issues: {type: [opened]}}'), /^error 1:15 .*mean "types"\?$/],
  ['a mapping of types', top('on: {issues: {types: {a: b}}}'), /^error 1:22 This has to be a text or a list of texts/],
  ['a schedule without cron', top('on: {schedule: [{corn: "1 1 * * *"}]}'), /^error 1:17 "schedule" needs "cron"/],
  ['a type of an input', top('on: {workflow_dispatch: {inputs: {a: {type: bool}}}}'), /^error .*mean "boolean"\?$/],
  ['a key of an input', top('on: {workflow_dispatch: {inputs: {a: {defualt: b}}}}'), /^error .*mean "default"\?$/],
  ['a permission', top('on: push\npermissions: {content: read}'), /^error 2:15 .*mean "contents"\?$/],
  ['a level', top('on: push\npermissions: {contents: reed}'), /^error 2:25 .*mean "read"\?$/],
  ['reading identity tokens', top('on: push\npermissions: {id-token: read}'), /^error 2:25 .*one of write, none/],
  ['a key of a job', jobWith('need: b'), /^error 3:\d+ "need" is not a key under "job". Did you mean "needs"\?$/],
  ['stepz', job('runs-on: linux, stepz: []'), /^error 3:\d+ "stepz" .*mean "steps"\?$/],
  ['timeout-minute', jobWith('timeout-minute: 5'), /^error 3:\d+ .*mean "timeout-minutes"\?$/],
  ['a text as a time', jobWith('timeout-minutes: soon'), /^error 3:\d+ This has to be a number/],
  ['a word as a truth value', jobWith('continue-on-error: yes'), /^error 3:\d+ This has to be true or false/],
  ['a list as a name', jobWith('name: [a]'), /^error 3:\d+ This has to be a text/],
  ['needs in a mapping', jobWith('needs: {a: b}'), /^error 3:\d+ This has to be a text or a list/],
  ['a key of a strategy', jobWith('strategy: {fail_fast: false}'), /^error 3:\d+ .*mean "fail-fast"\?$/],
  ['a strategy in a matrix', jobWith('strategy: {max-paralel: 2}'), /^error 3:\d+ .*mean "max-parallel"\?$/],
  ['a key of concurrency', jobWith('concurrency: {group: a, cancel: true}'), /^error 3:\d+ "cancel" is not a key/],
  [
    'concurrency without a group',
    jobWith('concurrency: {cancel-in-progress: true}'),
    /^error 3:\d+ "concurrency" needs/,
  ],
  [
    'a queue that is cancelled',
    jobWith('concurrency: {group: a, queue: max, cancel-in-progress: true}'),
    /^error 3:\d+ "queue: max" and "cancel-in-progress: true" exclude each other/,
  ],
  ['a key of defaults', jobWith('defaults: {run: {shel: bash}}'), /^error 3:\d+ .*mean "shell"\?$/],
  ['a key of runs-on', job('runs-on: {label: a}, steps: [{run: x}]'), /^error 3:\d+ .*mean "labels"\?$/],
  ['a key of an environment', jobWith('environment: {nam: a}'), /^error 3:\d+ "environment" needs "name"/],
  ['a key of a container', jobWith('container: {image: a, volume: b}'), /^error 3:\d+ .*mean "volumes"\?$/],
  ['a key of a service', jobWith('services: {a: {image: b, port: [1]}}'), /^error 3:\d+ .*mean "ports"\?$/],
  ['a key of a step', step('run: x, wiht: {}'), /^error 3:\d+ "wiht" is not a key under "step". .*mean "with"\?$/],
  ['the id of a step', step('run: x, id: 1a'), /^error 3:\d+ The id of a step/],
  [
    'two steps with one id',
    job('runs-on: a, steps: [{id: x, run: a}, {id: X, run: b}]'),
    /^error 3:\d+ Two steps .*"X"/,
  ],
  ['secrets without uses', jobWith('secrets: inherit'), /^error 3:\d+ Only a job that calls a workflow/],
  ['a call with an environment', job('uses: ./.hearth/workflows/b.yml, env: {A: b}'), /^error 3:\d+ .* has no "env"/],
  ['a function', jobWith('if: frobnicate()'), /^error 3:\d+ There is no function frobnicate/],
  ['a misspelled function', jobWith('if: "startWith(github.ref, \'a\')"'), /^error 3:\d+ .*mean "startsWith"\?$/],
  ['arguments', jobWith('if: contains(github.ref)'), /^error 3:\d+ The expression .* cannot be read/],
  ['grammar', jobWith('if: github.ref ==='), /^error 3:\d+ The expression .* cannot be read/],
  ['double quotes', jobWith(`if: 'github.ref == "a"'`), /^error 3:\d+ A text in an expression stands in single/],
  ['an expression without an end', step('run: "${{ github.ref"'), /^error 3:\d+ .* has no end/],
  ['an empty expression', step('run: "${{ }}"'), /^error 3:\d+ An expression .* is empty/],
  ['a context', step('run: "${{ githb.ref }}"'), /^error 3:\d+ There is no context githb. Did you mean "github"\?$/],
  [
    'secrets in the condition of a job',
    jobWith('if: secrets.A'),
    /^error 3:\d+ The context "secrets" is not available/,
  ],
  ['secrets in the condition of a step', step('run: x, if: secrets.A'), /^error 3:\d+ The context "secrets"/],
  ['env in the condition of a job', jobWith("if: env.A == 'b'"), /^error 3:\d+ The context "env"/],
  ['env in runs-on', job('runs-on: "${{ env.A }}", steps: [{run: x}]'), /^error 3:\d+ The context "env"/],
  ['steps in the env of a job', jobWith('env: {A: "${{ steps.b.outputs.c }}"}'), /^error 3:\d+ The context "steps"/],
  ['runner in the env of a job', jobWith('env: {A: "${{ runner.os }}"}'), /^error 3:\d+ The context "runner"/],
  ['matrix in the condition of a job', jobWith('if: matrix.a'), /^error 3:\d+ The context "matrix"/],
  ['needs in the name of a run', top('on: push\nrun-name: "${{ needs.a }}"'), /^error 2:16 The context "needs"/],
  ['env in the env of the file', top('on: push\nenv: {A: "${{ env.B }}"}'), /^error 2:\d+ The context "env"/],
  [
    'secrets in with of a call',
    job('uses: ./.hearth/workflows/b.yml, with: {a: "${{ secrets.b }}"}'),
    /"secrets" is not/,
  ],
  ['hashFiles in a job', jobWith('if: "hashFiles(\'a\')"'), /^error 3:\d+ "hashFiles" needs the files of a step/],
  [
    'a status outside of a condition',
    step('run: "${{ failure() }}"'),
    /^error 3:\d+ The function "failure" is available/,
  ],
];

t.test('what GitHub refuses is an error at its line and column, with the nearest known name', async (t) => {
  for (const [name, file, finding] of refused) {
    const [first, ...others] = check(file).filter(({ severity }) => severity === 'error');
    t.match(first === undefined ? 'fine' : shown(first), finding, name);
    t.ok(others.length <= 1, `${name}: ${others.map(shown).join('\n')}`);
  }
});

t.test('a line inside of a long command is named', async (t) => {
  const text =
    'on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: |\n          echo\n          echo ${{ foo.bar }}\n';
  t.strictSame(check(text).map(shown), ['error 8:20 There is no context foo.']);
});

/** What GitHub takes, and what it means here where it means less. */
const taken: [name: string, file: string, findings: RegExp[]][] = [
  ['a small file', top('on: push'), []],
  ['anchors', top('on: push\nx-a: &a {b: c}\nenv: *a'), []],
  ['a description', top('on: push\ndescription: x'), []],
  ['event that starts nothing', top('on: [push, pull_request_target]'), [/^warning 1:12 The event .* starts nothing/]],
  ['an event of Forgejo', top('on: [push, issue_label]'), [/^warning 1:12 The event .* starts nothing/]],
  ['a permission of Gitea', top('on: push\npermissions: {wiki: read}'), [/^warning 2:15 "wiki" has no effect/]],
  ['all permissions', top('on: push\npermissions: read-all'), []],
  [
    'branches of a manual start',
    top('on: {push: , workflow_dispatch: {branches: [a]}}'),
    [/^warning .*no effect under/],
  ],
  ['a type that never happens', top('on: {issues: {types: [openedd]}}'), [/^warning 1:23 .*mean "opened"\?$/]],
  ['a snapshot', jobWith('snapshot: a'), [/^warning 3:\d+ "snapshot" has no effect/]],
  ['steps at the same time', step('parallel: [{run: a}, {run: b}]'), [/^warning 3:\d+ "parallel": Runners run these/]],
  ['a step in the background', step('run: a, id: b, background: true'), [/^warning 3:\d+ "background": Neither/]],
  ['waiting for it', job('runs-on: a, steps: [{run: a}, {wait-all: }]'), [/^warning 3:\d+ "wait-all": Neither/]],
  ['a quoted number', jobWith('timeout-minutes: "5"'), []],
  ['an expression for a number', jobWith('timeout-minutes: "${{ fromJSON(vars.A) }}"'), []],
  ['an expression for a strategy', jobWith('strategy: "${{ fromJSON(vars.A) }}"'), []],
  ['an expression for env', jobWith('env: "${{ fromJSON(vars.A) }}"'), []],
  ['functions in any case', jobWith(`if: "STARTSWITH(github.ref, 'a') && !Cancelled()"`), []],
  ['case()', jobWith(`if: "case(github.ref == 'a', true, false)"`), []],
  ['status of named jobs', jobWith("if: failure('a')"), []],
  ['a filter over objects', jobWith(`if: "contains(github.event.*.name, 'a')"`), []],
  ['braces in a text', step(`run: "\${{ '}}' }}"`), []],
  [
    'a condition that is always true',
    jobWith('if: "${{ github.ref }} == 1"'),
    [/^warning 3:\d+ This condition is always/],
  ],
  ['a name of an environment', jobWith('environment: "${{ github.ref_name }}"'), []],
  ['the names of other forges', jobWith('if: gitea.ref == forgejo.ref'), []],
];

t.test('what GitHub takes is taken; a key that has no effect here is a warning that names it', async (t) => {
  for (const [name, file, findings] of taken) {
    const found = check(file);
    t.equal(found.length, findings.length, `${name}: ${found.map(shown).join('\n')}`);
    for (const [at, one] of found.entries()) t.match(shown(one), findings[at]!, name);
  }
});

t.test('a called file is checked with the file that calls it, also by $/', async (t) => {
  const called = new Map([
    ['.hearth/workflows/b.yml', `on: {workflow_call: }\njobs:\n  a: {${steps}, need: b}\n`],
    ['.hearth/workflows/c.yml', `on: {workflow_call: }\njobs:\n  a: {${steps}}\n`],
  ]);
  const calling = (uses: string): string => job(`uses: ${uses}`);
  t.match(check(calling('./.hearth/workflows/b.yml'), called).map(shown), [
    /^error 1:1 .hearth\/workflows\/b.yml, line 3, column \d+: "need" is not a key under "job"/,
  ]);
  t.strictSame(check(calling('./.hearth/workflows/c.yml'), called), []);
  t.strictSame(check(calling('$/.hearth/workflows/c.yml'), called), []);
  t.match(check(calling('$/.hearth/workflows/d.yml'), called).map(shown), [/^error 3:\d+ Workflow .* was not found/]);
});

t.test('hostile files: findings are bounded, and so is the time', async (t) => {
  const many = `on: push\njobs:\n  a: {${steps}, ${Array.from({ length: 3000 }, (_, at) => `k${at}: 1`).join(', ')}}\n`;
  t.equal(check(many).length, 100);
  const long = step(`run: "\${{ ${'('.repeat(20_000)} }}"`);
  t.match(check(long).map(shown), [/^error 3:\d+ The expression/]);
  t.match(check(' '.repeat(1024 * 1024)).map(shown), ['error 1:1 A workflow file has at most 128 KiB.']);
});

// Folders with workflows of other projects, as `name/.github/workflows/*.yml`: every one of them is taken.
const others = process.env['HEARTH_WORKFLOWS'];
t.test(
  'workflows of other projects',
  { skip: others === undefined && 'HEARTH_WORKFLOWS names no folder' },
  async (t) => {
    let count = 0;
    for (const project of readdirSync(others!)) {
      const folder = path.join(others!, project, '.github/workflows');
      const names = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));
      const files = new Map(
        names.map((name) => [`.github/workflows/${name}`, readFileSync(path.join(folder, name), 'utf8')]),
      );
      for (const name of names) {
        const text = files.get(`.github/workflows/${name}`)!;
        const errors = check(text, files).filter(({ severity }) => severity === 'error');
        t.strictSame(errors.map(shown), [], `${project}/${name}`);
        count += 1;
      }
    }
    t.ok(count >= 200, `${count} files`);
  },
);

t.test('a file of 200 lines takes some milliseconds of CPU', async (t) => {
  const text = `on: push\njobs:\n${Array.from(
    { length: 20 },
    (_, at) =>
      `  job${at}:\n    runs-on: linux\n    if: github.ref == 'refs/heads/main'\n    steps:\n      - uses: actions/checkout@v4\n      - name: step ${at}\n        run: |\n          echo \${{ github.sha }}\n          echo \${{ matrix.a || 'b' }}\n        env: {A: "\${{ secrets.B }}"}\n`,
  ).join('')}`;
  t.strictSame(check(text), []);
  const before = process.cpuUsage();
  const rounds = 10;
  for (let round = 0; round < rounds; round += 1) check(text);
  const { user, system } = process.cpuUsage(before);
  const each = (user + system) / 1000 / rounds;
  t.comment(`${text.split('\n').length} lines: ${each.toFixed(1)} ms`);
  // The goal is 20 ms; threads that share a core take two to three times the CPU time.
  t.ok(each <= 60, `${each} ms`);
});
