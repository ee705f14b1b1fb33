import t from 'tap';
import { anonymous, personViewer } from '../../src/access/index.ts';
import { bundle } from '../../src/ci/workflows/bundle.ts';
import { parseWorkflow } from '../../src/ci/workflows/parse-workflow.ts';
import { gitSync } from '../git/git-fixture.ts';
import { openCi, workflow } from './ci-fixture.ts';

const called = `on:
  workflow_call:
    inputs:
      target: {required: true, type: string}
      fast: {type: boolean, default: false}
    secrets: {TOKEN: {required: true}}
    outputs:
      file: {value: "\${{ jobs.pack.outputs.name }}"}
permissions: {contents: read}
jobs:
  compile: {runs-on: linux, steps: [{run: "make \${{ inputs.target }}"}]}
  pack:
    name: Pack \${{ inputs.target }}
    needs: compile
    if: inputs.fast && needs.compile.result == 'success'
    runs-on: "\${{ inputs.target }}"
    outputs: {name: "\${{ steps.x.outputs.name }}"}
    steps: [{run: tar}]
`;
const calling = `on: push
jobs:
  before: {runs-on: linux, steps: [{run: x}]}
  build:
    needs: before
    uses: ./.hearth/workflows/build.yml
    with: {target: "\${{ needs.before.outputs.what }}", fast: true}
    secrets: {TOKEN: "\${{ secrets.DEPLOY }}"}
  after:
    needs: build
    if: needs.build.outputs.file == 'site.tar'
    runs-on: linux
    steps: [{run: x}]
`;

t.test('the jobs of a called workflow replace the calling job', async (t) => {
  const { push, state, addRunner, ci, found, viewer } = await openCi(t);
  await ci.secrets.set({ kind: 'instance' }, { name: 'DEPLOY', value: 'tell nobody' });
  await ci.secrets.set({ kind: 'instance' }, { name: 'OTHER', value: 'not handed on' });
  await push({ ...workflow(calling), ...workflow(called, 'build.yml') });
  t.same((await state(1)).jobs, {
    before: 'waiting',
    'build / compile': 'blocked',
    'build / pack': 'blocked',
    after: 'blocked',
  });
  const runner = await addRunner(['linux', 'arm']);
  await runner.finish((await runner.fetch())!.taskId, 'success', { what: 'arm' });
  const compile = (await runner.fetch())!;
  t.match(compile.context, {
    job: 'compile',
    event_name: 'push',
  });
  t.match(compile.payload, /workflow_call:[^]*compile:/);
  t.same(
    [...compile.secrets.keys()].sort(),
    ['FORGEJO_TOKEN', 'GITEA_TOKEN', 'GITHUB_TOKEN', 'TOKEN'],
    'only what was handed on',
  );
  t.equal(compile.secrets.get('TOKEN'), 'tell nobody');
  t.same([...compile.needs], [], 'it does not see what its caller needs');
  t.match(await ci.tasks.viewerOfToken(String(compile.context.token)), { scope: 'read' });
  await runner.finish(compile.taskId);
  t.match((await state(1)).jobs, { 'build / Pack arm': 'waiting', after: 'blocked' });
  const pack = (await runner.fetch())!;
  t.match(pack.needs.get('compile'), { result: 'success' });
  await runner.finish(pack.taskId, 'success', { name: 'site.tar' });
  const after = (await runner.fetch())!;
  t.same(after.needs.get('build'), { result: 'success', outputs: new Map([['file', 'site.tar']]) });
  await runner.finish(after.taskId, 'failure');
  await ci.runs.rerun(viewer, found, 1, {
    jobId: (await state(1)).rows.find((job) => job.jobKey === 'build.pack')!.id,
  });
  t.match((await state(1)).jobs, {
    before: 'success',
    'build / compile': 'success',
    'build / Pack arm': 'waiting',
    after: 'blocked',
  });
});

t.test('an invalid call fails the run with its position; one whose condition is false is skipped', async (t) => {
  const { push, state } = await openCi(t);
  const problems: [file: string, words: RegExp][] = [
    [
      calling.replace('./.hearth/workflows/build.yml', './.hearth/workflows/none.yml'),
      /line 6, column 11: Workflow \.hearth\/workflows\/none\.yml was not found in this commit/,
    ],
    [
      calling.replace('./.hearth/workflows/build.yml', 'bob/tools/.github/workflows/x.yml@v1'),
      /line 6, column 11: Workflow bob\/tools\/\.github\/workflows\/x\.yml@v1 was not found on this server/,
    ],
    [
      calling.replace('./.hearth/workflows/build.yml', 'bob/tools/build.yml@v1'),
      /line 6, column 11: A job calls a workflow as "\.\/\.hearth/,
    ],
    [calling.replace('fast: true', 'slow: true'), /line 7, column 11: .* has no input slow/],
    [calling.replace('target:', 'fast:').replace(', fast: true', ''), /needs the input target/],
    [
      calling.replace('build.yml', 'bad.yml'),
      /line 6, column 11: \.hearth\/workflows\/bad\.yml, line 1, column 80: The job a needs "steps"/,
    ],
    [calling.replace('build.yml', 'plain.yml'), /plain\.yml cannot be called/],
    [
      calling.replace('build.yml', 'nested.yml'),
      /nested\.yml, line 3, column 13: \.hearth\/workflows\/build\.yml needs the input target/,
    ],
  ];
  let number = 0;
  for (const [file, words] of problems) {
    await push({
      ...workflow(file),
      ...workflow(called, 'build.yml'),
      ...workflow('on: issues\njobs: {a: {runs-on: x, steps: [{run: x}]}}', 'plain.yml'),
      ...workflow(
        'on: {workflow_call: {inputs: {target: , fast: }, secrets: {TOKEN: }}}\njobs:\n  a: {uses: ./.hearth/workflows/build.yml}\n',
        'nested.yml',
      ),
      ...workflow(
        '{on: {workflow_call: {inputs: {target: , fast: }, secrets: {TOKEN: }}}, jobs: {a: {runs-on: x}}}',
        'bad.yml',
      ),
    });
    number += 1;
    t.match(await state(number), { run: 'failure', reason: words });
  }
  await push({
    ...workflow(
      calling
        .replace('    needs: before\n    uses', "    if: github.ref == 'no'\n    uses")
        .replace('${{ needs.before.outputs.what }}', 'linux'),
    ),
    '.hearth/workflows/bad.yml': null,
    '.hearth/workflows/nested.yml': null,
  });
  t.match((await state(number + 1)).jobs, {
    'build / compile': 'skipped',
    'build / pack': 'skipped',
    after: 'skipped',
  });
});

const middle = `on:
  workflow_call:
    inputs: {os: {type: string}}
    secrets: {DEPLOY: {}}
    outputs: {file: {value: "\${{ jobs.inner.outputs.file }}"}}
jobs:
  lint: {runs-on: linux, steps: [{run: "lint \${{ inputs.os }}"}]}
  inner:
    needs: lint
    uses: ./.hearth/workflows/leaf.yml
    with: {target: "\${{ inputs.os }}-64"}
    secrets: inherit
`;
/** The input that the server has written into the command of a job. */
const inputIn = (payload: string): string => /run: .*\$\{\{ '([^']*)' \}\}/.exec(payload)?.[1] ?? '';

const leaf = `on:
  workflow_call:
    inputs: {target: {type: string, required: true}}
    outputs: {file: {value: "\${{ jobs.pack.outputs.name }}"}}
jobs:
  pack:
    runs-on: linux
    outputs: {name: x}
    steps: [{run: "tar \${{ inputs.target }}"}]
`;

t.test('calls nest and have a matrix, with names in the order of the file', async (t) => {
  const { push, state, addRunner, ci } = await openCi(t);
  await ci.secrets.set({ kind: 'instance' }, { name: 'DEPLOY', value: 'tell nobody' });
  const top = `on: push
jobs:
  build:
    strategy: {matrix: {os: [ubuntu, debian]}}
    uses: ./.hearth/workflows/middle.yml
    with: {os: "\${{ matrix.os }}"}
    secrets: {DEPLOY: "\${{ secrets.DEPLOY }}"}
  named:
    name: Named \${{ matrix.os }}
    strategy: {matrix: {os: [arch]}}
    uses: ./.hearth/workflows/leaf.yml
    with: {target: "\${{ matrix.os }}"}
  after: {needs: build, if: "needs.build.outputs.file == 'debian.tar'", runs-on: linux, steps: [{run: x}]}
`;
  await push({ ...workflow(top), ...workflow(middle, 'middle.yml'), ...workflow(leaf, 'leaf.yml') });
  t.same(Object.entries((await state(1)).jobs), [
    ['build (ubuntu) / lint', 'waiting'],
    ['build (ubuntu) / inner / pack', 'blocked'],
    ['build (debian) / lint', 'waiting'],
    ['build (debian) / inner / pack', 'blocked'],
    ['Named arch / pack', 'waiting'],
    ['after', 'blocked'],
  ]);
  const runner = await addRunner(['linux']);
  const seen: Record<string, unknown> = {};
  for (let task = await runner.fetch(); task !== null; task = await runner.fetch()) {
    const name = `${String(task.context['job'])} ${inputIn(task.payload)}`.trim();
    seen[name] = task.secrets.get('DEPLOY') ?? null;
    if (name === 'after')
      t.same(task.needs.get('build'), { result: 'success', outputs: new Map([['file', 'debian.tar']]) });
    await runner.finish(task.taskId, 'success', name.startsWith('pack') ? { name: `${name.slice(5, -3)}.tar` } : {});
  }
  t.same(seen, {
    'lint ubuntu': 'tell nobody',
    'lint debian': 'tell nobody',
    'pack arch': null,
    'pack ubuntu-64': 'tell nobody',
    'pack debian-64': 'tell nobody',
    after: 'tell nobody',
  });
  t.equal((await state(1)).run, 'success');
});

t.test('a failure in a nested call skips what needs it; calls end after nine', async (t) => {
  const { push, state, addRunner } = await openCi(t);
  const top = `on: push
jobs:
  build: {uses: ./.hearth/workflows/middle.yml, with: {os: linux}}
  never: {if: github.ref == 'no', uses: ./.hearth/workflows/middle.yml}
  after: {needs: build, runs-on: linux, steps: [{run: x}]}
  mend: {needs: build, if: failure(), runs-on: linux, steps: [{run: x}]}
`;
  await push({ ...workflow(top), ...workflow(middle, 'middle.yml'), ...workflow(leaf, 'leaf.yml') });
  const runner = await addRunner(['linux']);
  await runner.finish((await runner.fetch())!.taskId, 'failure');
  t.same((await state(1)).jobs, {
    'build / lint': 'failure',
    'build / inner / pack': 'skipped',
    'never / lint': 'skipped',
    'never / inner / pack': 'skipped',
    after: 'skipped',
    mend: 'waiting',
  });
  const self = 'on: [push, workflow_call]\njobs: {again: {uses: ./.hearth/workflows/self.yml}}\n';
  await push({ ...workflow(top.replace('on: push', 'on: issues')), ...workflow(self, 'self.yml') });
  t.match(await state(2), { run: 'failure', reason: /at most 9 deep/ });
});

t.test('the matrix of a call may be an expression, also over jobs before it and in a nested call', async (t) => {
  const { push, state, addRunner, ci, found, viewer } = await openCi(t);
  const outer = `on: {workflow_call: {inputs: {list: {type: string}}, outputs: {file: {value: "\${{ jobs.inner.outputs.file }}"}}}}
jobs:
  inner:
    strategy: {matrix: {part: "\${{ fromJSON(inputs.list) }}"}}
    uses: ./.hearth/workflows/leaf.yml
    with: {target: "\${{ matrix.part }}"}
`;
  const top = `on: push
jobs:
  plan: {runs-on: linux, outputs: {os: x}, steps: [{run: x}]}
  build:
    needs: plan
    name: For \${{ matrix.os }}
    strategy: {matrix: {os: "\${{ fromJSON(needs.plan.outputs.os) }}"}, fail-fast: "\${{ github.ref == 'x' }}"}
    uses: ./.hearth/workflows/outer.yml
    with: {list: '\${{ format(''["{0}", "b"]'', matrix.os) }}'}
  after: {needs: build, if: "needs.build.outputs.file == 'last'", runs-on: linux, steps: [{run: x}]}
`;
  await push({ ...workflow(top), ...workflow(outer, 'outer.yml'), ...workflow(leaf, 'leaf.yml') });
  t.same(
    Object.values((await state(1)).jobs),
    ['waiting', 'blocked', 'blocked'],
    'one place for what is not known yet',
  );
  const runner = await addRunner(['linux']);
  await runner.finish((await runner.fetch())!.taskId, 'success', { os: '["arch", "debian"]' });
  t.same(Object.entries((await state(1)).jobs), [
    ['plan', 'success'],
    ['For arch / inner (arch) / pack', 'waiting'],
    ['For arch / inner (b) / pack', 'waiting'],
    ['For debian / inner (debian) / pack', 'waiting'],
    ['For debian / inner (b) / pack', 'waiting'],
    ['after', 'blocked'],
  ]);
  const targets: unknown[] = [];
  for (let at = 0; at < 4; at += 1) {
    const task = (await runner.fetch())!;
    targets.push(inputIn(task.payload));
    await runner.finish(task.taskId, at === 2 ? 'failure' : 'success', { name: at === 3 ? 'last' : '' });
  }
  t.same(targets, ['arch', 'debian', 'b', 'b']);
  t.match(await state(1), { run: 'failure', jobs: { after: 'skipped' } }, 'fail-fast was switched off');
  await ci.runs.rerun(viewer, found, 1, 'failed');
  const again = (await runner.fetch())!;
  t.equal(inputIn(again.payload), 'b');
  await runner.finish(again.taskId, 'success');
  const after = (await runner.fetch())!;
  t.same(after.needs.get('build'), { result: 'success', outputs: new Map([['file', 'last']]) });
  await runner.finish(after.taskId);
  t.equal((await state(1)).run, 'success');
});

t.test('a strategy of a call that gives no matrix fails its jobs with a message', async (t) => {
  const { push, state } = await openCi(t);
  const top = (matrix: string, more = '') => `on: push
jobs:
  build: {strategy: {matrix: {os: "\${{ ${matrix} }}"}}, ${more}uses: ./.hearth/workflows/middle.yml}
  mend: {needs: build, if: failure(), runs-on: linux, steps: [{run: x}]}
`;
  const others = { ...workflow(middle, 'middle.yml'), ...workflow(leaf, 'leaf.yml') };
  await push({ ...workflow(top('vars.NONE')), ...others });
  const failed = await state(1);
  t.same(failed.jobs, { 'build / lint': 'failure', 'build / inner / pack': 'failure', mend: 'waiting' });
  t.match(failed.rows[0]!.reason, /matrix axis os has to be a list/);
  await push(workflow(top('vars.NONE', "if: github.ref == 'no', ")));
  t.match((await state(2)).jobs, { 'build / lint': 'skipped', mend: 'skipped' });
});

t.test('`fail-fast` and `max-parallel` hold for the matrix of a call', async (t) => {
  const { push, state, addRunner } = await openCi(t);
  const top = (strategy: string) => `on: push
jobs:
  build: {strategy: {matrix: {os: [a, b, c]}, ${strategy}}, uses: ./.hearth/workflows/middle.yml, with: {os: x}}
`;
  const others = { ...workflow(middle, 'middle.yml'), ...workflow(leaf, 'leaf.yml') };
  const states = async (number: number) => Object.values((await state(number)).jobs).join(' ');
  await push({ ...workflow(top('max-parallel: 1')), ...others });
  t.equal(await states(1), 'waiting blocked blocked blocked blocked blocked');
  const runner = await addRunner(['linux']);
  await runner.finish((await runner.fetch())!.taskId);
  t.equal(await states(1), 'success waiting blocked blocked blocked blocked', 'the call goes on');
  await runner.finish((await runner.fetch())!.taskId);
  t.equal(await states(1), 'success success waiting blocked blocked blocked');
  await runner.finish((await runner.fetch())!.taskId, 'failure');
  t.equal(await states(1), 'success success failure skipped cancelled cancelled');
  t.match((await state(1)).rows.at(-1)!.reason, /Cancelled because build \(b\) \/ lint failed/);
  await push(workflow(top("max-parallel: '${{ 2 }}', fail-fast: false")));
  t.equal(await states(2), 'waiting blocked waiting blocked blocked blocked');
  await runner.finish((await runner.fetch())!.taskId, 'failure');
  t.equal(await states(2), 'failure skipped waiting blocked waiting blocked');
});

const tool = (more = '') => `on:
  workflow_call:
    inputs: {target: {type: string}}
    secrets: {TOKEN: {}}
    outputs: {file: {value: "\${{ jobs.pack.outputs.name }}"}}
jobs:
  pack:
    runs-on: linux
    permissions: {id-token: write}
    outputs: {name: x}
    steps: [{run: "${more}"}]
`;
const nesting = `on: {workflow_call: }
jobs:
  beside: {uses: ./.github/workflows/tool.yml, with: {target: inner}}
  lint: {runs-on: linux, steps: [{run: lint}]}
`;

/** Repositories of bob: public `tools`, and private `secret`, each with the branch main and the tag v1. */
async function addTools({ modules, push }: Awaited<ReturnType<typeof openCi>>) {
  const { id } = await modules.accounts.addPerson({ username: 'bob' });
  const bob = { ...personViewer(id, 'admin'), username: 'bob' };
  const files = { '.github/workflows/tool.yml': tool('one'), '.gitea/workflows/nesting.yml': nesting };
  for (const [name, visibility] of [
    ['tools', 'PUBLIC'],
    ['secret', 'PRIVATE'],
  ] as const) {
    await modules.repositories.create(bob, { name, visibility });
    const to = await modules.repositories.find(bob, 'bob', name);
    await push(files, { to, by: null });
    await push({}, { to, by: null, tag: `v1-${name}` });
  }
  const remove = Object.fromEntries(Object.keys(files).map((name) => [name, null]));
  return { bob, remove };
}

t.test('a tag or branch of another repository may be named in full, and a branch does not shadow a tag', async (t) => {
  const fixture = await openCi(t);
  const { push, addRunner, modules, state } = fixture;
  const { bob, remove } = await addTools(fixture);
  const to = await modules.repositories.find(bob, 'bob', 'tools');
  const pinned = await modules.git.refs.resolve(to.path, 'refs/tags/v1-tools');
  await push({ '.github/workflows/tool.yml': tool('two') }, { to, by: null, branch: 'v1-tools' });
  // As a server of before took it: what is pinned to a commit is not replaced by names.
  for (const kind of ['heads', 'tags'])
    gitSync(['-C', to.path, 'update-ref', `refs/${kind}/${pinned}`, 'refs/heads/v1-tools']);
  const runner = await addRunner(['linux']);
  const calls = [
    ['v1-tools', 'one'],
    ['tags/v1-tools', 'one'],
    ['refs/tags/v1-tools', 'one'],
    ['heads/v1-tools', 'two'],
    ['refs/heads/v1-tools', 'two'],
    ['refs/heads/main', 'one'],
    [pinned, 'one'],
    [`refs/tags/${pinned}`, 'two'],
  ] as const;
  for (const [at, [ref, run]] of calls.entries()) {
    await push({
      ...(at === 0 ? remove : {}),
      ...workflow(
        `on: push\njobs:\n  a:\n    uses: bob/tools/.github/workflows/tool.yml@${ref}\n    with: {target: arm}\n    secrets: {TOKEN: x}\n`,
      ),
    });
    const task = await runner.fetch();
    t.match(task?.payload, new RegExp(`run: "?${run}`), `${ref}: ${JSON.stringify(await state(at + 1))}`);
    if (task !== null) await runner.finish(task.taskId, 'success', {});
  }
  await push(workflow('on: push\njobs:\n  a: {uses: bob/tools/.github/workflows/tool.yml@refs/tags/main}\n'));
  t.match(
    await state(calls.length + 1),
    { run: 'failure', reason: /tool\.yml@refs\/tags\/main/ },
    'no tag with this name',
  );
});

t.test('a workflow of another repository is called at its ref, and stays that commit when it runs again', async (t) => {
  const fixture = await openCi(t);
  const { push, state, addRunner, ci, found, viewer, modules } = fixture;
  const { bob, remove } = await addTools(fixture);
  await ci.secrets.set({ kind: 'instance' }, { name: 'DEPLOY', value: 'tell nobody' });
  await push({
    ...remove,
    ...workflow(`on: push
jobs:
  build:
    uses: Bob/tools/.github/workflows/tool.yml@v1-tools
    with: {target: arm}
    secrets: {TOKEN: "\${{ secrets.DEPLOY }}"}
    permissions: {id-token: write}
  all: {needs: build, uses: bob/tools/.gitea/workflows/nesting.yml@main, secrets: inherit}
  after: {needs: build, if: "needs.build.outputs.file == 'arm.tar'", runs-on: linux, steps: [{run: x}]}
`),
  });
  t.same((await state(1)).jobs, {
    'build / pack': 'waiting',
    'all / beside / pack': 'blocked',
    'all / lint': 'blocked',
    after: 'blocked',
  });
  const to = await modules.repositories.find(bob, 'bob', 'tools');
  const tip = await modules.git.refs.resolve(to.path, 'refs/tags/v1-tools');
  const runner = await addRunner(['linux']);
  const pack = (await runner.fetch())!;
  t.match(pack.payload, /run: "?one/);
  t.same([...pack.secrets.keys()].sort(), ['FORGEJO_TOKEN', 'GITEA_TOKEN', 'GITHUB_TOKEN', 'TOKEN']);
  t.match(pack.context, { repository: 'alice/work', event_name: 'push' });
  const token = await ci.identity.token(String(pack.context['gitea_runtime_token']), null);
  t.match(JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()), {
    repository: 'alice/work',
    job_workflow_ref: 'bob/tools/.github/workflows/tool.yml@refs/tags/v1-tools',
    job_workflow_sha: tip,
    environment: undefined,
  });
  await push({ '.github/workflows/tool.yml': tool('two') }, { to, by: null });
  await runner.finish(pack.taskId, 'success', { name: 'arm.tar' });
  const inner = (await runner.fetch())!;
  t.match(inner.payload, /run: "?one/, 'as it was when the run was made');
  t.equal(inner.secrets.get('DEPLOY'), undefined, 'not handed on by the file between');
  const lint = (await runner.fetch())!;
  t.equal(lint.secrets.get('DEPLOY'), 'tell nobody', 'inherited');
  await runner.finish(inner.taskId);
  await runner.finish(lint.taskId);
  await runner.finish((await runner.fetch())!.taskId);
  t.equal((await state(1)).run, 'success');
  await ci.runs.rerun(viewer, found, 1, 'all');
  t.match((await runner.fetch())!.payload, /run: "?one/, 'the same commit again');
  const { run } = await ci.runs.find(found, 1);
  t.match(await ci.runs.filesOf(anonymous, run), {
    called: [
      { path: '.github/workflows/tool.yml', commit: { repository: 'bob/tools', sha: tip } },
      { path: '.gitea/workflows/nesting.yml', commit: { ref: 'refs/heads/main' } },
      { path: '.github/workflows/tool.yml', commit: { ref: 'refs/heads/main' } },
    ],
  });
});

t.test('a workflow of a hidden repository is absent for those who cannot read it', async (t) => {
  const fixture = await openCi(t);
  const { push, state, ci, modules, viewer } = fixture;
  const { bob, remove } = await addTools(fixture);
  const secret = 'bob/secret/.github/workflows/tool.yml@main';
  const use = (uses: string) => ({ ...remove, ...workflow(`on: push\njobs:\n  build: {uses: ${uses}}\n`) });
  const reasonAfter = async (number: number, uses: string) => {
    const { reason } = await state(number);
    return reason?.replace(uses, 'USES');
  };
  await push(use(secret));
  const hidden = await reasonAfter(1, secret);
  t.match(
    hidden,
    /Workflow USES was not found on this server, is too large to be called, or the user who started the run cannot read it/,
  );
  const others = [
    secret.replace('secret/', 'absent/'),
    secret.replace('tool.yml', 'no.yml'),
    secret.replace('main', 'x'),
  ];
  for (const [at, uses] of others.entries()) {
    await push({ ...workflow(`on: push\njobs:\n  build: {uses: ${uses}}\n`) });
    t.equal(await reasonAfter(2 + at, uses), hidden, uses);
  }
  await push({ ...workflow(`on: push\njobs:\n  build: {uses: ${secret}}\n`) }, { by: bob.id });
  t.match(
    await state(5),
    { run: 'waiting', jobs: { 'build / pack': 'waiting' } },
    'by rights of the person, not of the owner',
  );
  const { run } = await ci.runs.find(fixture.found, 5);
  t.same((await ci.runs.filesOf(viewer, run)).called, [], 'not named to those who cannot read it');
  t.equal((await ci.runs.filesOf(bob, run)).called.length, 1);
  await modules.repositories.create(viewer, { name: 'own', visibility: 'PRIVATE' });
  const own = await modules.repositories.find(viewer, 'alice', 'own');
  await push({ '.forgejo/workflows/tool.yml': tool() }, { to: own, by: null });
  const before = (await ci.workflows.list(own)).length;
  await push({
    '.forgejo/workflows/tool.yml': null,
    ...workflow('on: push\njobs:\n  build: {uses: alice/own/.forgejo/workflows/tool.yml@main}\n'),
  });
  t.match(await state(6), { jobs: { 'build / pack': 'waiting' } }, 'a private repository of the same owner');
  t.equal(before, 1);
  t.match(
    await ci.workflows.list(fixture.found),
    [{ path: 'ci.yml', problem: null }],
    'lists read no other repository',
  );
});

t.test('calls over repositories end after nine, and a file cannot pretend to be of another repository', async (t) => {
  const fixture = await openCi(t);
  const { push, state, modules } = fixture;
  const { bob } = await addTools(fixture);
  const to = await modules.repositories.find(bob, 'bob', 'tools');
  const name = '.hearth/workflows/self.yml';
  const self = `on: [push, workflow_call]\njobs: {again: {uses: bob/tools/${name}@main}}\n`;
  await push({ [name]: self }, { to, by: null });
  await push({ [name]: self });
  t.match(await state(1), { run: 'failure', reason: /at most 9 deep/ });
  const forged = {
    main: 'on: push\njobs: {a: {uses: bob/tools/.github/workflows/x.yml@v1}}',
    called: { 'bob/tools@v1:.github/workflows/x.yml': tool() },
    commits: { 'bob/tools@v1': { repository: 'bob/tools', ref: 'refs/tags/v1', sha: 'a'.repeat(40) } },
  };
  await push({ [name]: `#!hearth-bundle\n${JSON.stringify(forged)}` });
  t.match(await state(2), { run: 'failure', reason: /"main" is not a key at the top of a workflow/ });
});

t.test(
  'security I08 many calls of large files are bounded in time, and a forged bundle is only an invalid file',
  async (t) => {
    const steps = Array.from({ length: 900 }, (_, at) => `      - run: ${'x'.repeat(100)} ${at}`).join('\n');
    const large = `on: workflow_call\njobs:\n  a:\n    runs-on: x\n    steps:\n${steps}\n`;
    const calls = Array.from({ length: 200 }, (_, at) => `  c${at}: {uses: ./.hearth/workflows/large.yml}`).join('\n');
    const content = bundle(`on: push\njobs:\n${calls}\n`, new Map([['.hearth/workflows/large.yml', large]]));
    const startedAt = performance.now();
    const parsed = parseWorkflow('ci.yml', content);
    t.ok(parsed.ok && parsed.workflow.jobs.size === 200);
    t.ok(performance.now() - startedAt < 20_000);
    for (const text of [
      '#!hearth-bundle\n',
      '#!hearth-bundle\n{}',
      '#!hearth-bundle\n{"main":1,"called":{"a":2}}',
      '#!hearth-bundle\nnull',
    ])
      t.notOk(parseWorkflow('ci.yml', text).ok, text);
  },
);
