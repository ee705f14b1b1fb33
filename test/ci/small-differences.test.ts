// Where a workflow of GitHub would otherwise mean something else: case, trailers, fields of a push, attempts.
import t from 'tap';
import { hasLabels } from '../../src/ci/runner-model/runner.ts';
import { concurrencyGroupOf } from '../../src/ci/runs/claim-concurrency-group.ts';
import { asksForNoRun } from '../../src/ci/runs/push-event.ts';
import { openCi, workflow } from './ci-fixture.ts';

t.test('labels and names of concurrency groups ignore case', async (t) => {
  t.ok(hasLabels({ labels: ['linux', 'GPU'] }, ['LINUX', 'gpu']));
  t.notOk(hasLabels({ labels: ['linux'] }, ['linux', 'gpu']));
  const trusted = { isTrusted: true, ref: 'refs/heads/main' };
  t.equal(concurrencyGroupOf(trusted, 'Prod'), concurrencyGroupOf(trusted, 'prod'));
  t.not(concurrencyGroupOf({ ...trusted, isTrusted: false }, 'prod'), concurrencyGroupOf(trusted, 'prod'));
});

t.test('words and trailers of a commit message that start nothing', async (t) => {
  for (const [message, skips] of [
    ['x [skip ci]', true],
    ['x\n\n\nskip-checks: true', true],
    ['x\n\nskip-checks:true\n', true],
    ['x\n\nbody\n\nSigned-off-by: a\nskip-checks: true\n', true],
    ['x\n\nskip-checks: true\n\nbody', false],
    ['skip-checks: true', false],
    ['x\n\nskip-checks: false', false],
    ['x\n\nwe set skip-checks: true here', false],
  ] as const)
    t.equal(asksForNoRun(message), skips, JSON.stringify(message));
});

t.test('a push says whether it was forced, and which branch a new one is made of', async (t) => {
  const { push, ci, found } = await openCi(t);
  const file = workflow('on: push\njobs: {a: {runs-on: linux, steps: [{run: x}]}}\n');
  await push(file);
  await push({ a: 'b' });
  await push({}, { branch: 'topic' });
  const { runs } = await ci.runs.list(found, {}, { limit: 10 });
  t.match(
    runs.map(({ ref, eventPayload }) => [ref, eventPayload['forced'], eventPayload['created']]),
    [
      ['refs/heads/topic', false, true],
      ['refs/heads/main', false, false],
      ['refs/heads/main', false, true],
    ],
  );
  t.ok(runs.every(({ eventPayload }) => 'base_ref' in eventPayload));
});

t.test('of more than three tags in a push none starts a run, and the default branch always does', async (t) => {
  const { push, ci, found, viewer, clock } = await openCi(t);
  const sha = await push(workflow('on: [push, create]\njobs: {a: {runs-on: linux, steps: [{run: x}]}}\n'));
  const refs = (kind: string, count: number) =>
    Array.from({ length: count }, (_, at) => `refs/${kind}/${kind[0]}${at}`);
  const started = async (...names: string[]): Promise<string[]> => {
    const prepared = await ci.onPush.prepare!({
      id: 'a push',
      repository: found.repository,
      pusherId: viewer.id,
      via: 'http',
      credential: null,
      options: [],
      updates: names.map((ref) => ({ ref, oldId: '0'.repeat(40), newId: sha })),
      deployKey: null,
      arrivedAt: clock.now(),
    });
    const { runs } = prepared as { runs: { ref: string; event: string }[] };
    return runs.filter(({ event }) => event === 'push').map(({ ref }) => ref);
  };
  const main = 'refs/heads/main';
  t.same(await started(...refs('tags', 3)), refs('tags', 3));
  t.same(await started(...refs('tags', 4), 'refs/heads/topic'), ['refs/heads/topic']);
  t.same(await started(...refs('heads', 25), ...refs('tags', 2), main), [main, ...refs('heads', 19)]);
});

t.test('a job that a later attempt does not repeat keeps the attempt in which it ran', async (t) => {
  const { push, ci, found, viewer, addRunner } = await openCi(t);
  await push(
    workflow('on: push\njobs: {a: {runs-on: linux, steps: [{run: x}]}, b: {runs-on: linux, steps: [{run: x}]}}\n'),
  );
  const runner = await addRunner(['LINUX']);
  await runner.finish((await runner.fetch())!.taskId, 'success');
  await runner.finish((await runner.fetch())!.taskId, 'failure');
  await ci.runs.rerun(viewer, found, 1, 'failed');
  const { jobs } = await ci.runs.find(found, 1);
  const attempts = await ci.runs.firstAttemptsOf(jobs);
  t.strictSame(jobs.map(({ id, status }) => [status, attempts.get(id)]).sort(), [
    ['success', 1],
    ['waiting', 2],
  ]);
});
