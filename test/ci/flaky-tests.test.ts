// Tests that failed and later passed at the same commit: between attempts, between runs, and within one report.
import { Readable } from 'node:stream';
import t from 'tap';
import { openCi, reasonOf, workflow } from './ci-fixture.ts';

t.setTimeout(240_000);

const file = `on: {push: , workflow_dispatch: }
jobs:
  unit: {runs-on: linux, steps: [{run: make}]}
`;

const one = (name: string, content = '') => `<testcase name="${name}" classname="Bed">${content}</testcase>`;
const failed = '<failure message="x"/>';

t.test('flaky tests of a run', async (t) => {
  const { push, addRunner, ci, found, viewer, modules, clock } = await openCi(t);
  const bob = await modules.accounts.addPerson({ username: 'bob' });
  const foreign = { ...viewer, id: bob.id, username: 'bob' };
  await modules.repositories.create(foreign, { name: 'secret', visibility: 'PRIVATE' });
  const secret = await modules.repositories.find(foreign, 'bob', 'secret');
  const runner = await addRunner(['linux']);

  /** Does the job that waits, with a report in each of some artifacts. */
  async function work(reports: Record<string, string>, result: 'success' | 'failure' = 'success') {
    const { taskId, context } = (await runner.fetch())!;
    await runner.report(taskId);
    const task = await ci.artifacts.authoriseTask(context['gitea_runtime_token'] as string);
    for (const [name, cases] of Object.entries(reports)) {
      const { id } = await ci.artifacts.openFileArtifact(task, { name, ttlMs: null });
      const body = Buffer.from(`<testsuite name="all">${cases}</testsuite>`);
      await ci.artifacts.receiveFile(task, id, {
        itemPath: `${name}/junit.xml`,
        start: 0,
        end: body.length,
        total: body.length,
        isGzipped: false,
        sizeBytes: body.length,
        body: Readable.from([body]),
      });
      await ci.artifacts.finishFileArtifact(task, name);
    }
    await runner.finish(taskId, result);
    clock.advance(1_000);
  }

  const shown = async (number: number, of = found) =>
    (await ci.flakyTests(of, number)).map(
      ({ artifact, suite, group, name, failed: first, passed }) =>
        `${artifact} ${suite} ${group} ${name} ${first.run}.${first.attempt} ${passed.run}.${passed.attempt}`,
    );

  await push(workflow(file));
  await push(workflow(file), { to: secret, by: bob.id });
  const broken = one('waters', failed) + one('digs', failed) + one('weeds') + one('rakes', '<error/>') + one('sows');
  await work({ linux: broken, mac: one('waters') }, 'failure');
  await work({ linux: one('digs') });
  t.strictSame(await shown(1), [], 'one attempt; a job of another name, and another repository, are no retry');

  await ci.runs.rerun(viewer, found, 1, 'failed');
  const again = one('waters') + one('digs', failed) + one('weeds', failed) + one('rakes') + one('sows', '<skipped/>');
  await work({ linux: again }, 'failure');
  const attempts = ['linux all Bed waters 1.1 1.2', 'linux all Bed rakes 1.1 1.2'];
  t.strictSame((await shown(1)).sort(), [...attempts].sort(), 'what fails after it has passed may be broken for good');

  await ci.workflows.dispatch(viewer, found, { path: 'ci.yml', ref: '', inputs: new Map() });
  await work({ linux: one('digs') + one('mows', '<flakyFailure message="x"/>') + one('hoes', failed) + one('hoes') });
  const within = ['linux all Bed mows 2.1 2.1', 'linux all Bed hoes 2.1 2.1'];
  t.strictSame((await shown(2)).sort(), ['linux all Bed digs 1.1 2.1', ...within].sort());
  t.strictSame((await shown(1)).sort(), [...attempts, 'linux all Bed digs 1.1 2.1'].sort(), 'from the other side too');

  await push({ a: '2' });
  await work({ linux: one('weeds') });
  t.strictSame(await shown(3), [], 'another commit is no retry');
  t.strictSame(await shown(1, secret), []);
  t.equal(await reasonOf(ci.flakyTests(secret, 2)), 'run_not_found');
});
