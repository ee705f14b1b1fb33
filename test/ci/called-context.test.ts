// What a job of a called workflow knows: the event of its caller, and its own inputs in every expression. Where a job
// stands in its matrix. Runners evaluate these, and know neither.
import t from 'tap';
import { parse } from 'yaml';
import { evaluateValue } from '../../src/ci/workflows/evaluate.ts';
import { substituteContexts, substituteInCondition } from '../../src/ci/workflows/substitute-contexts.ts';
import type { Json } from '../../src/ci/workflows/json-value.ts';
import { openCi, workflow } from './ci-fixture.ts';

const inputs = {
  target: 'arm',
  'dry-run': false,
  on: true,
  count: 3,
  below: -1.5,
  quote: "it's",
  braces: 'a }} ${{ b {0}',
  lines: 'one\ntwo',
  back: 'a\\n"b"',
  empty: '',
};
const known = new Map<string, { readonly [name: string]: Json }>([
  ['inputs', inputs],
  ['strategy', { 'job-index': 2, 'job-total': 5, 'fail-fast': true, 'max-parallel': 5 }],
]);
const outcome = { success: true, failure: false, cancelled: false };
const contexts = {
  github: { inputs: 'own', event: { inputs: { target: 'x86' } } },
  matrix: { which: 'target' },
  inputs,
};

t.test('the values of known contexts are written into expressions, which mean the same', async (t) => {
  const rows: [text: string, written: string | null][] = [
    ['make ${{ inputs.target }}', "make ${{ 'arm' }}"],
    ['${{inputs.target}}-${{ inputs.count }}', "${{ 'arm' }}-${{ 3 }}"],
    ['${{ inputs.on && 1 || 2 }}', '${{ true && 1 || 2 }}'],
    ["${{ inputs['dry-run'] }}", '${{ false }}'],
    ['${{ INPUTS.Target }}', "${{ 'arm' }}"],
    ['${{ inputs.quote }}', "${{ 'it''s' }}"],
    ['${{ inputs . target }}', "${{ 'arm' }}"],
    ['${{ inputs.absent }}', '${{ null }}'],
    ['${{ inputs.empty }}', "${{ '' }}"],
    ['${{ inputs.below < 0 }}', null],
    ['${{ inputs.braces }}', null],
    ['${{ inputs.lines }}', null],
    ['${{ inputs.back }}', '${{ \'a\\n"b"\' }}'],
    ['${{ inputs[matrix.which] }}', null],
    ['${{ inputs.target.more }}', null],
    ['${{ toJSON(inputs) }}', null],
    ["${{ format('{0} inputs.target', inputs.target) }}", "${{ format('{0} inputs.target', 'arm') }}"],
    ['${{ github.inputs }}', '${{ github.inputs }}'],
    ['${{ github.event.inputs.target }}', '${{ github.event.inputs.target }}'],
    ["${{ github['inputs'] }}", "${{ github['inputs'] }}"],
    ['inputs.target outside', 'inputs.target outside'],
    ['${{ inputs.target', '${{ inputs.target'],
    ['${{ strategy.job-index }}/${{ strategy.job-total }}', '${{ 2 }}/${{ 5 }}'],
    ['${{ my-inputs.target }}', '${{ my-inputs.target }}'],
  ];
  for (const [text, written] of rows) {
    const result = substituteContexts(text, known);
    if (written !== null) t.equal(result, written, text);
    if (/\}\}/.test(text) && !text.includes('strategy') && !text.includes('my-')) {
      const value = (one: string) => evaluateValue(one, { contexts, outcome });
      t.strictSame(value(result), value(text), `${text} means the same as ${result}`);
    }
  }
  t.equal(substituteInCondition("inputs.on && github.ref == 'x'", known), "true && github.ref == 'x'");
  t.equal(substituteInCondition('${{ inputs.on }}', known), '${{ true }}');
});

const called = `on:
  workflow_call:
    inputs:
      target: {type: string, required: true}
      publish: {type: boolean, default: false}
      count: {type: number, default: 2}
env: {TARGET: "\${{ inputs.target }}"}
jobs:
  image:
    runs-on: linux
    if: github.event_name == 'push'
    strategy: {matrix: {n: [a, b, c]}, max-parallel: 2}
    steps:
      - {uses: docker/build-push-action@v6, with: {push: "\${{ github.event_name != 'pull_request' && inputs.publish }}"}}
      - {if: inputs.publish, run: "echo \${{ inputs.target }} \${{ strategy.job-index }}/\${{ strategy.job-total }}"}
      - {if: "\${{ inputs.count > 1 }}", run: "x"}
`;

t.test('steps of a called workflow see the event of the caller, and the inputs of the call', async (t) => {
  const { push, addRunner, state } = await openCi(t);
  await push({
    ...workflow(
      'on: push\njobs: {ship: {uses: ./.hearth/workflows/build.yml, with: {target: "it\'s", publish: true}}, index: {name: "shard ${{ strategy.job-index }} of ${{ strategy.job-total }}", strategy: {matrix: {s: [x, y]}}, runs-on: linux, steps: [{run: x}]}, alone: {name: "${{ strategy.job-index }} ${{ strategy.job-total }} ${{ strategy.max-parallel }} ${{ strategy.fail-fast }}", runs-on: linux, steps: [{run: x}]}}',
    ),
    ...workflow(called, 'build.yml'),
  });
  t.match(Object.keys((await state(1)).jobs).slice(3), ['shard 0 of 2', 'shard 1 of 2', '0 1 1 true']);
  const runner = await addRunner(['linux']);
  const first = (await runner.fetch())!;
  const second = (await runner.fetch())!;
  t.match(first.context, { event_name: 'push', event: { ref: 'refs/heads/main' } });
  t.equal((first.context['event'] as { inputs?: unknown }).inputs, undefined);
  const steps = (payload: string) => parse(payload).jobs.image.steps;
  t.strictSame(steps(second.payload), [
    { uses: 'docker/build-push-action@v6', with: { push: "${{ github.event_name != 'pull_request' && true }}" } },
    { if: 'true', run: "echo ${{ 'it''s' }} ${{ 1 }}/${{ 3 }}" },
    { if: '${{ 2 > 1 }}', run: 'x' },
  ]);
  t.match(parse(first.payload), { name: '.hearth/workflows/ci.yml', env: { TARGET: "${{ 'it''s' }}" } });
});

t.test('github.workflow and workflow_ref name the file from the root of the repository', async (t) => {
  const { push, addRunner } = await openCi(t);
  const file = (name: string) =>
    `${name}on: push\njobs: {a: {runs-on: linux, name: "\${{ github.workflow }}", steps: [{run: x}]}}`;
  await push({
    '.github/workflows/deep/plain.yml': file(''),
    '.github/workflows/named.yml': file('name: Named\n'),
  });
  const runner = await addRunner(['linux']);
  for (const [name, path] of [
    ['.github/workflows/deep/plain.yml', '.github/workflows/deep/plain.yml'],
    ['Named', '.github/workflows/named.yml'],
  ]) {
    const { payload, context } = (await runner.fetch())!;
    t.match(parse(payload), { name, jobs: { a: { name } } });
    t.match(context, { workflow: name, workflow_ref: `alice/work/${path}@refs/heads/main` });
  }
});

t.test('the folder of a run of an earlier version is looked up in its commit', async (t) => {
  const { push, addRunner, db } = await openCi(t);
  await push({ '.forgejo/workflows/ci.yml': 'on: push\njobs: {a: {runs-on: linux, steps: [{run: x}]}}' });
  await db.write(({ manager }) => manager.query("UPDATE ci_runs SET workflow_folder = ''"));
  const task = (await (await addRunner(['linux'])).fetch())!;
  t.equal(task.context['workflow_ref'], 'alice/work/.forgejo/workflows/ci.yml@refs/heads/main');
});

t.test('inputs of a start by hand have the types of the file in conditions of jobs', async (t) => {
  const { ci, push, viewer, found, state } = await openCi(t);
  await push(
    workflow(`on: {workflow_dispatch: {inputs: {go: {type: boolean}, n: {type: number, default: "10"}}}}
jobs:
  a: {if: inputs.go, runs-on: linux, steps: [{run: x}]}
  b: {if: inputs.n > 9, runs-on: linux, steps: [{run: x}]}
  c: {if: inputs.n == 10 && inputs.go == true, runs-on: linux, steps: [{run: x}]}
`),
  );
  const start = (inputs: [string, string][]) =>
    ci.workflows.dispatch(viewer, found, { path: 'ci.yml', ref: '', inputs: new Map(inputs) });
  await start([['go', 'false']]);
  t.strictSame((await state(1)).jobs, { a: 'skipped', b: 'waiting', c: 'skipped' });
  await start([
    ['go', 'true'],
    ['n', '9'],
  ]);
  t.strictSame((await state(2)).jobs, { a: 'waiting', b: 'skipped', c: 'skipped' });
});
