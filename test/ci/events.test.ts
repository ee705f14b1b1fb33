// Workflows started by create, delete, release, repository_dispatch and workflow_run, and the switches.
import t from 'tap';
import { openCi, reasonOf, workflow } from './ci-fixture.ts';

const on = (trigger: string, name = 'CI') =>
  `name: ${name}\non:\n  ${trigger}\njobs:\n  a: {runs-on: linux, steps: [{run: x}]}\n`;

type World = Awaited<ReturnType<typeof openCi>>;

const runsOf = async ({ ci, found }: World) =>
  (await ci.runs.list(found, {}, { limit: 50 })).runs.map((run) => ({
    workflow: run.workflowPath,
    event: run.event,
    ref: run.ref,
    trusted: Boolean(run.isTrusted),
    payload: run.eventPayload,
  }));

t.test('a new branch or tag starts `create`, a deleted one `delete` of the default branch', async (t) => {
  const fixture = await openCi(t);
  const { push, ci, found, db, clock, viewer } = fixture;
  await push({ ...workflow(on('create:'), 'new.yml'), ...workflow(on('delete:'), 'gone.yml') });
  t.match(await runsOf(fixture), [
    { workflow: 'new.yml', event: 'create', payload: { ref: 'main', ref_type: 'branch' } },
  ]);
  await push({ a: '1' });
  t.equal((await runsOf(fixture)).length, 1, 'no further push of it');
  const sha = await push({ b: '1' }, { tag: 'v1' });
  t.match(await runsOf(fixture), [
    { workflow: 'new.yml', event: 'create', ref: 'refs/tags/v1', payload: { ref: 'v1', ref_type: 'tag' } },
    {},
  ]);
  const deletion = {
    id: 'push deletion',
    repository: found.repository,
    pusherId: viewer.id,
    via: 'http' as const,
    credential: null,
    options: [],
    updates: [{ ref: 'refs/tags/v1', oldId: sha, newId: '0'.repeat(40) }],
    deployKey: null,
    arrivedAt: clock.now(),
  };
  const prepared = (await ci.onPush.prepare!(deletion))!;
  await db.write((tx) => ci.onPush.record!(tx, deletion, prepared));
  t.match(await runsOf(fixture), [
    { workflow: 'gone.yml', event: 'delete', ref: 'refs/heads/main', payload: { ref: 'v1', ref_type: 'tag' } },
    {},
    {},
  ]);
});

t.test('`repository_dispatch` starts the workflows of its type, with the payload', async (t) => {
  const fixture = await openCi(t);
  const { push, ci, found, viewer } = fixture;
  const send = (type: string, payload = {}) => ci.workflows.dispatchEvent(viewer, found, { type, payload });
  t.equal(await reasonOf(send('deploy')), 'revision_not_found');
  await push({
    ...workflow(on('repository_dispatch: {types: [deploy]}'), 'one.yml'),
    ...workflow(on('repository_dispatch:'), 'any.yml'),
  });
  t.equal((await send('deploy', { target: { port: 8080 } })).length, 2);
  t.equal((await send('other')).length, 1);
  t.match(await runsOf(fixture), [
    { workflow: 'any.yml', payload: { action: 'other' } },
    { workflow: 'one.yml', payload: { action: 'deploy', client_payload: { target: { port: 8080 } } } },
    { workflow: 'any.yml', event: 'repository_dispatch', ref: 'refs/heads/main' },
  ]);
  t.equal(await reasonOf(send('')), 'invalid_event_type');
  t.equal(await reasonOf(send('x', { text: 'x'.repeat(70_000) })), 'payload_too_large');
});

t.test('`workflow_run` follows the runs of named workflows, and ends after five in a row', async (t) => {
  const fixture = await openCi(t);
  const { push, ci, addRunner } = fixture;
  await push({
    ...workflow(on('push:', 'Build'), 'build.yml'),
    ...workflow(on('workflow_run: {workflows: [Build], types: [completed], branches: [main]}', 'After'), 'after.yml'),
    ...workflow(on('workflow_run: {workflows: [Build], types: [rerequested]}'), 'never.yml'),
    ...workflow(on('workflow_run: {workflows: [Build], branches-ignore: [main]}'), 'elsewhere.yml'),
    ...workflow(on('workflow_run: {workflows: [Loop, After]}', 'Loop'), 'loop.yml'),
  });
  const runner = await addRunner(['linux']);
  await runner.finish((await runner.fetch())!.taskId, 'failure');
  await ci.sweep();
  t.match(await runsOf(fixture), [
    {
      workflow: 'after.yml',
      event: 'workflow_run',
      ref: 'refs/heads/main',
      trusted: true,
      payload: { action: 'completed', workflow_run: { name: 'Build', conclusion: 'failure', head_branch: 'main' } },
    },
    { workflow: 'build.yml' },
  ]);
  await ci.sweep();
  t.equal((await runsOf(fixture)).length, 2, 'once');
  for (let task = await runner.fetch(); task !== null; task = await runner.fetch()) {
    await runner.finish(task.taskId);
    await ci.sweep();
  }
  const chain = (await runsOf(fixture)).filter(({ event }) => event === 'workflow_run');
  t.same(
    chain.map(({ workflow: path, payload }) => `${path} ${String(payload['depth'])}`),
    ['loop.yml 5', 'loop.yml 4', 'loop.yml 3', 'loop.yml 2', 'after.yml 1'],
  );
});

t.test(
  '`workflow_run` of the types `requested` and `in_progress` starts before the run has ended, once each',
  async (t) => {
    const fixture = await openCi(t);
    const { push, ci, addRunner, state, found, viewer } = fixture;
    await push({
      ...workflow(on('push:', 'Build'), 'build.yml'),
      ...workflow(on('workflow_run: {workflows: [Build], types: [requested]}', 'Asked'), 'asked.yml'),
      ...workflow(on('workflow_run: {workflows: [Build], types: [in_progress, completed]}', 'Begun'), 'begun.yml'),
      ...workflow(on('workflow_run: {workflows: [Asked], types: [requested, in_progress]}'), 'chain.yml'),
    });
    const seen = async () =>
      (await runsOf(fixture)).map(({ workflow: path, payload }) => {
        const run = payload['workflow_run'] as { status: string; conclusion: string | null } | undefined;
        return run === undefined
          ? path
          : `${path} ${String(payload['action'])} ${run.status} ${String(run.conclusion)}`;
      });
    await ci.sweep();
    t.same(await seen(), ['asked.yml requested queued null', 'build.yml']);
    const runner = await addRunner(['linux']);
    const build = (await runner.fetch())!;
    await ci.sweep();
    t.same((await seen()).slice(0, 2), ['begun.yml in_progress in_progress null', 'chain.yml requested queued null']);
    await runner.finish(build.taskId);
    await ci.runs.rerun(viewer, found, 1, 'all');
    await ci.sweep();
    const of = async (file: string) => (await seen()).filter((one) => one.startsWith(file)).length;
    t.equal(await of('begun.yml'), 2);
    t.ok((await seen()).includes('begun.yml completed completed success'));
    t.equal((await state(1)).run, 'waiting');
    t.equal(await of('asked.yml'), 2, 'each attempt is requested');
    for (let task = await runner.fetch(); task !== null; task = await runner.fetch()) await runner.finish(task.taskId);
    await ci.sweep();
    t.equal(await of('begun.yml'), 4, 'begins, and ends');
    const { run } = await ci.runs.find(found, 1);
    t.match(run, { attempt: 2, status: 'success' });
  },
);

t.test('a published release starts its workflows at the tag, an edited one those of that type', async (t) => {
  const fixture = await openCi(t);
  const { push, ci, modules, viewer } = fixture;
  await push({
    ...workflow(on('release: {types: [published]}'), 'publish.yml'),
    ...workflow(on('release: {types: [edited, deleted]}'), 'edit.yml'),
  });
  const at = { owner: 'alice', name: 'work' };
  const release = await modules.releases.create(viewer, at, { tag: 'v1', target: 'main', title: 'One', body: '' });
  await ci.sweep();
  t.match(await runsOf(fixture), [
    {
      workflow: 'publish.yml',
      event: 'release',
      ref: 'refs/tags/v1',
      payload: { action: 'published', release: { tag_name: 'v1', name: 'One', draft: false } },
    },
  ]);
  await modules.releases.delete(viewer, at, { id: release.id });
  await ci.sweep();
  t.match(await runsOf(fixture), [
    { workflow: 'edit.yml', ref: 'refs/heads/main', payload: { action: 'deleted' } },
    { workflow: 'publish.yml' },
  ]);
});

t.test('a workflow, a repository and the server are switched off', async (t) => {
  const fixture = await openCi(t);
  const { push, ci, found, viewer } = fixture;
  const start = () => ci.workflows.dispatch(viewer, found, { path: 'a.yml', ref: '', inputs: new Map() });
  await push({
    ...workflow(on('push:\n  workflow_dispatch:'), 'a.yml'),
    ...workflow(on('push:'), 'b.yml'),
  });
  t.equal((await runsOf(fixture)).length, 2);
  await ci.settings.switchWorkflow(viewer, found, { path: 'a.yml', isEnabled: false });
  await push({ x: '1' });
  t.strictSame((await runsOf(fixture)).map(({ workflow }) => workflow).sort(), ['a.yml', 'b.yml', 'b.yml']);
  t.equal(await reasonOf(start()), 'workflow_disabled');
  t.equal(await reasonOf(ci.runs.rerun(viewer, found, 1, 'all')), 'workflow_disabled');
  await ci.settings.switchWorkflow(viewer, found, { path: 'a.yml', isEnabled: true });
  await start();
  await ci.settings.change(viewer, found, { isEnabled: false });
  const before = (await runsOf(fixture)).length;
  await push({ x: '2' });
  t.equal((await runsOf(fixture)).length, before);
  t.equal(await reasonOf(start()), 'ci_disabled');
  t.equal(await reasonOf(ci.settings.change(viewer, { ...found, level: 'write' }, {})), 'repository_not_found');
  const off = await openCi(t, { env: { SERVICE_CI_ENABLED: 'false' } });
  await off.push(workflow(on('push:'), 'a.yml'));
  t.same(await runsOf(off), []);
});
