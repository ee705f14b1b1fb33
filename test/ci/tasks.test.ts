import { Readable } from 'node:stream';
import t from 'tap';
import { instanceScope } from '../../src/ci/index.ts';
import type { CiScope, TaskContent } from '../../src/ci/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { driveRunner, openCi, reasonOf, settle, workflow } from './ci-fixture.ts';

const simple = (labels = 'linux'): Record<string, string> =>
  workflow(`on: push\njobs:\n  a:\n    runs-on: ${labels}\n    steps: [{run: one}, {name: Second, run: two}]\n`);

t.setTimeout(120_000);

t.test('registration by scoped tokens, reusable until reset, and offline; wrong tokens are refused', async (t) => {
  const { ci, alice, found, modules, clock } = await openCi(t);
  const instance = { kind: 'instance' } as const;
  const input = {
    name: 'builder',
    version: 'v1',
    labels: ['linux:host', 'docker:docker://node:20', 'linux'],
    ephemeral: false,
    capabilities: ['cancelling'],
  };
  const token = await ci.runners.resetRegistrationToken(instance, alice.id);
  t.match(token, /^[0-9a-f]{40}$/);
  const one = await ci.runners.register(token, input);
  const two = await ci.runners.register(token, { ...input, name: '🔥'.repeat(100) });
  t.match(one.runner, {
    name: 'builder',
    labels: ['linux', 'docker'],
    capabilities: ['cancelling'],
    status: 'unspecified',
    scope: instance,
  });
  t.equal(Buffer.byteLength(two.runner.name), 252, 'cut between characters');
  t.not(one.token, two.token);
  const next = await ci.runners.resetRegistrationToken(instance, null);
  t.equal(await reasonOf(ci.runners.register(token, input)), 'replaced_registration_token');
  t.equal(await reasonOf(ci.runners.register('0'.repeat(40), input)), 'unknown_registration_token');
  t.equal(await reasonOf(ci.runners.register('', input)), 'incomplete_registration');
  t.equal(await reasonOf(ci.runners.register(next, { ...input, name: ' ' })), 'incomplete_registration');

  const [once, unused] = [
    await ci.runners.makeSingleUseToken(instance, null),
    await ci.runners.makeSingleUseToken(instance, null),
  ];
  const racing = await Promise.all(
    [1, 2, 3].map((number) =>
      ci.runners.register(once, { ...input, name: `once-${number}` }).then(
        () => 'registered',
        () => 'refused',
      ),
    ),
  );
  t.same(racing.sort(), ['refused', 'refused', 'registered'], 'a token for one runner is for one');
  t.ok(await ci.runners.register(next, input), 'and the other token goes on working beside it');
  clock.advance(86_400_001);
  t.equal(
    await reasonOf(ci.runners.register(unused, input)),
    'replaced_registration_token',
    'nor is it there for ever',
  );

  const rows = JSON.stringify(await modules.db.read.query('SELECT * FROM ci_runners, ci_registration_tokens'));
  for (const secret of [token, next, one.token, two.token]) t.notOk(rows.includes(secret), 'only hashes are stored');

  const secret = 'f'.repeat(40);
  const offline = await ci.runners.registerOffline(
    { kind: 'user', id: alice.id },
    { name: 'offline', secret, labels: ['arm'] },
    { mayMove: false },
  );
  t.equal(offline.uuid, '66666666-6666-6666-6666-666666666666');
  const other = { name: 'renamed', secret: `${'f'.repeat(39)}0`, labels: [] };
  t.equal(
    await reasonOf(
      ci.runners.registerOffline({ kind: 'repository', id: found.repository.id }, other, { mayMove: false }),
    ),
    'runner_elsewhere',
    'nobody takes a runner whose uuid they have seen',
  );
  t.equal((await ci.runners.authenticate({ uuid: offline.uuid, token: secret }, { isActive: false })).id, offline.id);
  t.match(
    await ci.runners.registerOffline(
      { kind: 'user', id: alice.id },
      { name: 'offline', secret, labels: [] },
      { mayMove: false },
    ),
    { id: offline.id, labels: ['arm'] },
    'the same once more',
  );
  const again = await ci.runners.registerOffline(instance, other, { mayMove: true });
  t.match(again, { id: offline.id, name: 'renamed', scope: instance, labels: ['arm'] });
  t.equal(
    await reasonOf(ci.runners.authenticate({ uuid: offline.uuid, token: secret }, { isActive: false })),
    'unregistered_runner',
  );
  t.equal(
    (await ci.runners.authenticate({ uuid: offline.uuid, token: `${'f'.repeat(39)}0` }, { isActive: false })).id,
    offline.id,
  );
  t.equal(
    await reasonOf(ci.runners.registerOffline(instance, { name: 'x', secret: 'short', labels: [] }, { mayMove: true })),
    'invalid_runner_secret',
  );
  for (const wrong of [
    { uuid: one.runner.uuid, token: two.token },
    { uuid: one.runner.uuid, token: '' },
    { uuid: 'x', token: one.token },
    { uuid: '', token: '' },
  ]) {
    t.equal(await reasonOf(ci.runners.authenticate(wrong, { isActive: false })), 'unregistered_runner');
  }
});

t.test(
  'a runner that declares no labels has those of its registration by shared secret, until it declares some',
  async (t) => {
    const { ci, push, state } = await openCi(t);
    const scope = { kind: 'instance' } as const;
    const secret = 'e'.repeat(40);
    const input = { name: 'builder', secret, labels: ['linux:host', 'arm'] };
    const { id, uuid } = await ci.runners.registerOffline(scope, input, { mayMove: true });
    const row = () => ci.runners.authenticate({ uuid, token: secret }, { isActive: false });
    const declare = async (...labels: string[]) =>
      (await ci.runners.declare(await row(), { version: 'v1', labels, capabilities: [] })).labels;
    const listed = async () => (await ci.runners.find(null, id)).labels;

    t.strictSame(await declare(), ['linux', 'arm']);
    t.strictSame(await listed(), ['linux', 'arm']);
    await push(simple());
    const signal = new AbortController().signal;
    const task = await ci.tasks.fetch(await row(), { deadlineMs: 0, requestKey: null, origin: null, signal });
    t.equal(task?.context['job'], 'a', 'it gets the jobs of these labels');
    t.match(await state(1), { run: 'running' });

    t.strictSame(await declare('linux:host', 'big:docker://node:22-bookworm'), ['linux', 'big'], 'its own words win');
    t.strictSame(await declare(), ['linux', 'arm'], 'what it once declared is not kept');
    await ci.runners.registerOffline(scope, { ...input, labels: [] }, { mayMove: true });
    t.strictSame(await declare(), ['linux', 'arm'], 'nor is a registration without labels one that takes them away');
    await ci.runners.registerOffline(scope, { ...input, labels: ['riscv'] }, { mayMove: true });
    t.strictSame(await listed(), ['riscv']);
    t.strictSame(await declare(), ['riscv']);

    const { runner, token } = await ci.runners.register(await ci.runners.resetRegistrationToken(scope, null), {
      name: 'online',
      version: 'v1',
      labels: ['linux'],
      ephemeral: false,
      capabilities: [],
    });
    const online = await ci.runners.authenticate({ uuid: runner.uuid, token }, { isActive: false });
    const declaration = { version: 'v1', labels: [], capabilities: [] };
    t.strictSame(
      (await ci.runners.declare(online, declaration)).labels,
      [],
      'what a runner said itself it can take back',
    );
  },
);

t.test('a task that a repeated call gets again is not taken back, whichever call is processed first', async (t) => {
  const { ci, push, addRunner, state } = await openCi(t);
  await push(simple());
  const runner = await addRunner(['linux']);
  const first = (await runner.fetch(0, { requestKey: 'k' }))!;
  const again = (await runner.fetch(0, { requestKey: 'k' }))!;
  t.equal(again.taskId, first.taskId);
  await ci.tasks.return(first.taskId);
  t.match(await runner.report(again.taskId), { result: null }, 'the second answer has arrived');

  await push(simple());
  const lost = (await runner.fetch(0, { requestKey: 'l' }))!;
  const [, other] = await Promise.all([ci.tasks.return(lost.taskId), runner.fetch(5_000, { requestKey: 'l' })]);
  t.match(await runner.report(other!.taskId), { result: null }, 'what is being taken back does not go out');
  t.equal((await state(2)).run, 'running');
});

t.test('SPEC §3 the status of a runner follows from its last calls', async (t) => {
  const { ci, clock, addRunner, push } = await openCi(t);
  await push(simple());
  const runner = await addRunner(['linux']);
  const status = async () => (await ci.runners.find(null, runner.id)).status;
  t.equal(await status(), 'idle', 'asking who it is was its first call');
  const task = (await runner.fetch())!;
  await ci.runners.authenticate(runner.credentials, { isActive: true });
  await runner.report(task.taskId);
  t.equal(await status(), 'active');
  clock.advance(59_000);
  t.equal(await status(), 'active', 'a long step reports rarely');
  clock.advance(2_000);
  t.equal(await status(), 'offline');
  await runner.row();
  t.equal(await status(), 'active');
  await runner.finish(task.taskId);
  t.equal(await status(), 'idle', 'as soon as its task is over');
  await ci.sweep();
  t.match(await ci.runners.list({ kind: 'instance' }), [{ id: runner.id, status: 'idle' }]);
});

t.test('a job goes to a runner whose scope and labels fit, and to exactly one', async (t) => {
  const { ci, push, addRunner, alice, found, modules, viewer } = await openCi(t);
  const bob = await modules.accounts.addPerson({ username: 'bob' });
  await push(simple('[linux, Big]'));
  const others = [
    await addRunner(['linux']),
    await addRunner(['linux', 'bigger']),
    await addRunner(['linux', 'Big'], { scope: { kind: 'user', id: bob.id } }),
    await addRunner(['linux', 'Big'], {
      scope: {
        kind: 'repository',
        id: (await modules.repositories.create(viewer, { name: 'other', visibility: 'PRIVATE' })).id,
      },
    }),
  ];
  for (const runner of others) t.equal(await runner.fetch(), null);
  const fitting = [
    await addRunner(['linux', 'Big', 'more']),
    await addRunner(['linux', 'Big'], { scope: { kind: 'user', id: alice.id } }),
    await addRunner(['linux', 'Big'], { scope: { kind: 'repository', id: found.repository.id } }),
  ];
  const given = await Promise.all(fitting.flatMap((runner) => [runner.fetch(), runner.fetch()]));
  t.equal(given.filter((task) => task !== null).length, 1);
  await push({ a: '2' });
  await ci.runners.setDisabled(null, fitting[0]!.id, true);
  t.equal(await fitting[0]!.fetch(), null, 'a disabled runner gets nothing');
  await ci.runners.remove(null, fitting[1]!.id);
  t.equal(await reasonOf(fitting[1]!.fetch()), 'unregistered_runner');
  t.ok(await fitting[2]!.fetch());
});

t.test('a waiting runner gets a new job at once', async (t) => {
  const { push, addRunner } = await openCi(t);
  const runner = await addRunner(['linux']);
  const waiting = runner.fetch(20_000);
  await settle();
  const startedAt = performance.now();
  await push(simple());
  t.ok(await waiting);
  t.ok(performance.now() - startedAt < 10_000, 'not at the end of its wait');
  const empty = performance.now();
  t.equal(await runner.fetch(1_000), null);
  const took = performance.now() - empty;
  t.ok(took > 400 && took < 900, `answers half a second before the runner’s deadline: ${Math.round(took)} ms`);
});

t.test('a runner that disconnects while it waits loses no job, and its call ends', async (t) => {
  const { push, addRunner, state } = await openCi(t);
  const [gone, other] = [await addRunner(['linux']), await addRunner(['linux'])];
  const leaving = new AbortController();
  const waiting = gone.fetch(20_000, { signal: leaving.signal });
  await settle();
  leaving.abort();
  t.equal(await waiting, null);
  await push(simple());
  t.equal((await state(1)).run, 'waiting');
  t.ok(await other.fetch());
});

t.test('an unconfirmed task is assigned again under a new id, three times', async (t) => {
  const { push, addRunner, state, clock, ci } = await openCi(t);
  await push(simple());
  const runner = await addRunner(['linux']);
  const ids: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    ids.push((await runner.fetch())!.taskId);
    clock.advance(30_000);
    await ci.sweep();
    t.equal((await state(1)).run, 'running');
    clock.advance(31_000);
    await ci.sweep();
  }
  t.equal(new Set(ids).size, 3);
  t.match(await state(1), { run: 'failure' });
  t.match((await state(1)).rows[0]?.reason, /did not report again/);
  t.equal((await runner.report(ids[0]!, { result: 'success' })).result, 'cancelled', 'the old id is over');

  await push({ a: '2' });
  const task = (await runner.fetch())!;
  await runner.log(task.taskId, 0, ['hello']);
  clock.advance(61_000);
  await ci.sweep();
  t.equal((await state(2)).run, 'running', 'rows of its log confirm it as well');
});

t.test('when a response does not reach its runner, the job is queued again under a new task id', async (t) => {
  const { push, addRunner, state, ci } = await openCi(t);
  await push(simple());
  const runner = await addRunner(['linux'], { ephemeral: true });
  const task = (await runner.fetch())!;
  await ci.tasks.return(task.taskId);
  t.equal((await state(1)).run, 'waiting');
  const again = (await runner.fetch())!;
  t.ok(again.taskId > task.taskId, 'an ephemeral runner may try again, too');
  await runner.report(again.taskId);
  await ci.tasks.return(again.taskId);
  t.equal((await state(1)).run, 'running', 'what was confirmed is not taken back');
});

t.test('the same request key gets the same task; two at once are too many', async (t) => {
  const { push, addRunner } = await openCi(t);
  await push(simple());
  await push({ a: '2' });
  const [runner, other] = [await addRunner(['linux']), await addRunner(['linux'])];
  const first = (await runner.fetch(0, { requestKey: 'k' }))!;
  const again = (await runner.fetch(0, { requestKey: 'k' }))!;
  t.equal(again.taskId, first.taskId);
  t.equal(again.context.token, first.context.token);
  t.not((await other.fetch(0, { requestKey: 'k' }))?.taskId, first.taskId, 'keys belong to their runner');
  const held = runner.fetch(5_000, { requestKey: 'l' });
  await settle();
  t.equal(await reasonOf(runner.fetch(0, { requestKey: 'l' })), 'request_key_locked');
  await push({ a: '3' });
  t.ok(await held);
});

t.test('a runner that polls too often without result is asked to wait', async (t) => {
  const { addRunner } = await openCi(t);
  const runner = await addRunner(['linux']);
  const reasons: string[] = [];
  for (let count = 0; count < 7; count += 1) reasons.push(await reasonOf(runner.fetch()));
  t.same(reasons, ['nothing', 'nothing', 'nothing', 'nothing', 'nothing', 'too_many_polls', 'too_many_polls']);
});

t.test('an ephemeral runner takes one task and is removed when its log is complete', async (t) => {
  const { push, addRunner, ci, clock, state } = await openCi(t);
  await push(simple());
  await push({ a: '2' });
  const runner = await addRunner(['linux'], { ephemeral: true });
  const reason = async () => (await ci.tasks.explainQueue(null)).map((one) => one.reason);
  const polls = [runner.fetch(0, { requestKey: 'one' }), runner.fetch(0, { requestKey: 'two' })];
  const [task, ...others] = (await Promise.all(polls)).filter((got) => got !== null) as [TaskContent, ...TaskContent[]];
  t.strictSame(others, [], 'two polls at once get one task');
  t.equal(await runner.fetch(), null, 'no second task');
  t.strictSame(await reason(), ['All runners for linux are busy.']);
  await runner.report(task.taskId, { result: 'success' });
  t.strictSame(await reason(), ['No runner here has the label linux.'], 'it takes no further job');
  t.equal((await ci.runners.list(null)).length, 1);
  t.equal(await runner.fetch(), null, 'its log is still open');
  t.equal(await runner.log(task.taskId, 0, ['late'], true), 1, 'rows after the end are taken');
  t.equal(await reasonOf(runner.fetch()), 'unregistered_runner');
  t.same(await ci.runners.list(null), [], 'and is in no list');
  clock.advance(11 * 60_000);
  await ci.sweep();
  t.equal(await reasonOf(ci.runners.find(null, runner.id)), 'runner_not_found');
  t.equal((await state(2)).run, 'waiting', 'the next job goes on waiting for another runner');
});

t.test('reports: steps, outputs once each, repeats, and a final end', async (t) => {
  const { push, addRunner, state, ci, found, clock } = await openCi(t);
  await push(simple());
  const runner = await addRunner(['linux']);
  const other = await addRunner(['linux']);
  const { taskId } = (await runner.fetch())!;
  const job = (await state(1)).rows[0]!;
  const step = (id: number, more: object = {}) => ({
    id,
    result: null,
    startedAt: null,
    stoppedAt: null,
    logIndex: 0,
    logLength: 0,
    ...more,
  });
  t.equal(await reasonOf(other.report(taskId)), 'task_not_found');
  t.equal(await reasonOf(runner.report(taskId + 100)), 'task_not_found');
  t.equal(await reasonOf(ci.tasks.report(await runner.row(), null)), 'no_task_state');
  t.match(await runner.report(taskId, { steps: [step(0, { startedAt: clock.now() }), step(7), step(-1)] }), {
    result: null,
    sentOutputs: [],
  });
  t.match((await ci.runs.findJob(found, 1, job.id)).steps, [
    { name: 'Run one', status: 'running' },
    { name: 'Second', status: 'waiting' },
  ]);
  const outputs = new Map([
    ['a', '1'],
    ['__proto__', 'p'],
    ['bad name', 'x'],
    ['huge', 'x'.repeat(1024 * 1024 + 1)],
  ]);
  t.same((await runner.report(taskId, { outputs })).sentOutputs.sort(), ['__proto__', 'a', 'bad name', 'huge']);
  t.same(
    (
      await runner.report(taskId, {
        outputs: new Map([
          ['a', '2'],
          ['b', '3'],
        ]),
      })
    ).sentOutputs.sort(),
    ['__proto__', 'a', 'b'],
  );
  const end = {
    result: 'success' as const,
    stoppedAt: clock.now(),
    steps: [
      step(0, { result: 'success', startedAt: 1, stoppedAt: 2, logIndex: 3, logLength: 4 }),
      step(1, { result: 'skipped' }),
    ],
  };
  t.match(await runner.report(taskId, end), { result: 'success' });
  t.match(
    await runner.report(taskId, { result: 'failure' }),
    { result: 'success', sentOutputs: ['__proto__', 'a', 'b'] },
    'the end is final',
  );
  const { steps, task } = await ci.runs.findJob(found, 1, job.id);
  t.match(steps, [{ status: 'success', logIndex: 3, logLength: 4 }, { status: 'skipped' }]);
  t.same(task?.notices, [
    'The output bad name was not kept: its name is not one.',
    'The output huge was not kept: it is larger than 1 MiB.',
  ]);
});

t.test('timeouts end lost runners, long jobs and jobs that no runner can take', async (t) => {
  const { push, addRunner, state, ci, clock } = await openCi(t, { env: { SERVICE_CI_MAX_JOB_TIME: '1h' } });
  await push(simple());
  const runner = await addRunner(['linux']);
  const lost = (await runner.fetch())!;
  await runner.report(lost.taskId);
  clock.advance(119_000);
  await ci.sweep();
  t.equal((await state(1)).run, 'running');
  clock.advance(2_000);
  await ci.sweep();
  t.match(await state(1), { run: 'waiting', rows: [{ reason: null, lostRunner: 'builder' }] });
  const again = (await runner.fetch())!;
  await runner.report(again.taskId);
  clock.advance(121_000);
  await ci.sweep();
  t.match(await state(1), { run: 'failure', rows: [{ reason: 'The runner was lost.' }] }, 'not a third time');

  await push({ a: '2' });
  const long = (await runner.fetch())!;
  for (let count = 0; count < 61; count += 1) {
    clock.advance(60_000);
    await runner.report(long.taskId);
    await ci.sweep();
  }
  t.match(await state(2), { run: 'cancelled', rows: [{ reason: 'The job ran longer than 60 minutes.' }] });
  t.equal((await runner.report(long.taskId)).result, 'cancelled');

  await push(simple('[linux, absent]'));
  clock.advance(59 * 60_000);
  await ci.sweep();
  t.equal((await state(3)).run, 'waiting');
  clock.advance(2 * 60_000);
  await ci.sweep();
  t.match(await state(3), { run: 'failure', rows: [{ reason: 'No runner has the labels linux, absent.' }] });

  await push(simple());
  clock.advance(25 * 3_600_000);
  await ci.sweep();
  t.match(await state(4), { run: 'cancelled', rows: [{ reason: 'No runner was free in time.' }] });
});

t.test('a silent job is not lost while its runner polls, for ten minutes', async (t) => {
  const { push, addRunner, state, ci, clock } = await openCi(t);
  await push(simple());
  const runner = await addRunner(['linux']);
  const { taskId } = (await runner.fetch())!;
  await runner.report(taskId);
  for (let minute = 1; minute <= 10; minute += 1) {
    clock.advance(60_000);
    await runner.row();
    await ci.sweep();
    t.equal((await state(1)).run, 'running', `after ${minute} minutes`);
  }
  clock.advance(1_000);
  await runner.row();
  await ci.sweep();
  t.match(await state(1), { run: 'waiting', rows: [{ lostRunner: 'builder' }] });
});

t.test(
  'the job of a runner that starts again is lost after two minutes; one that declares and reports keeps it',
  async (t) => {
    const { ci, clock, push, state, addRunner } = await openCi(t);
    await push(simple());
    const runner = await addRunner(['linux'], { capabilities: [] });
    const { taskId } = (await runner.fetch())!;
    await runner.report(taskId);
    const declare = async () =>
      ci.runners.declare(await runner.row(), { version: 'v2', labels: ['linux', 'more'], capabilities: [] });
    const pollFor = async (seconds: number) => {
      for (let passed = 0; passed < seconds; passed += 15) {
        clock.advance(15_000);
        await runner.row();
        await ci.sweep();
      }
    };
    // Labels changed in the middle of a job: it goes on reporting.
    await declare();
    for (let minute = 0; minute < 5; minute += 1) {
      await pollFor(60);
      if (minute % 2 === 0) await runner.report(taskId);
      else await runner.log(taskId, minute, ['row']);
    }
    t.match(await state(1), { run: 'running', rows: [{ lostRunner: null }] });
    // Silent, but the same process: ten minutes, as before.
    await pollFor(300);
    t.match(await state(1), { run: 'running' });
    await runner.report(taskId);
    clock.advance(1_000);
    // A new process knows nothing of the job, and polls.
    await declare();
    await pollFor(105);
    t.match(await state(1), { run: 'running' });
    await pollFor(30);
    t.match(await state(1), { rows: [{ lostRunner: 'builder' }] });
  },
);

t.test('after a downtime runners have the usual time to report before their jobs are lost', async (t) => {
  const first = await openCi(t);
  await first.push(simple());
  const runner = await first.addRunner(['linux']);
  const { taskId } = (await runner.fetch())!;
  await runner.report(taskId);
  await first.close();
  const { ci, clock, state } = await openCi(t, {
    folder: first.folder,
    clock: fixedClock(first.clock.now() + 600_000),
  });
  await ci.sweep();
  t.equal((await state(1)).run, 'running', 'nothing could be heard while the server was down');
  clock.advance(119_000);
  await ci.sweep();
  t.equal((await state(1)).run, 'running');
  clock.advance(2_000);
  await ci.sweep();
  t.match(await state(1), { run: 'waiting', rows: [{ lostRunner: 'builder' }] });
});

t.test('a runner that asks for one job gets that one now, or nothing', async (t) => {
  const { push, addRunner, ci, found, alice, state, modules, viewer } = await openCi(t);
  const bob = await modules.accounts.addPerson({ username: 'bob' });
  const foreign = { ...viewer, id: bob.id, username: 'bob' };
  await modules.repositories.create(foreign, { name: 'secret', visibility: 'PRIVATE' });
  const secret = await modules.repositories.find(foreign, 'bob', 'secret');
  const each = (name: string, more = '') => `  ${name}: {runs-on: linux, steps: [{run: x}]${more}}\n`;
  await push(workflow(`on: push\njobs:\n${each('a')}${each('b')}${each('c', ', needs: a')}`));
  await push(workflow(`on: push\njobs:\n${each('theirs')}`), { to: secret, by: bob.id });
  const idOf = async (name: string) => (await state(1)).rows.find((job) => job.name === name)!.id;
  const { jobs } = await ci.runs.find(secret, 1);
  const runner = await addRunner(['linux'], { scope: { kind: 'user', id: alice.id } });
  const other = await addRunner(['windows']);
  const ask = async (by: typeof runner, jobId: number, requestKey?: string) =>
    (await by.fetch(10_000, { jobId, ...(requestKey !== undefined && { requestKey }) }))?.taskId ?? null;

  for (const [name, id] of [
    ['of another owner', jobs[0]!.id],
    ['that needs another', await idOf('c')],
    ['that is none', 0],
    ['that is none yet', 1_000_000],
  ] as const)
    t.equal(await ask(runner, id), null, `a job ${name}`);
  t.equal(await ask(other, await idOf('b')), null, 'a job of other labels');
  const taken = await ask(runner, await idOf('b'), 'key');
  t.equal(await ask(runner, await idOf('b'), 'key'), taken, 'a repeated call gets the same task');
  t.match((await state(1)).jobs, { a: 'waiting', b: 'running' }, 'not the one that has waited longest');
  t.equal(await ask(runner, await idOf('b')), null, 'it is taken');
  t.match(await ci.runs.list(found, {}, { limit: 5 }), { runs: { length: 1 } });
});

t.test('a job of a lost runner is tried once more, and says so', async (t) => {
  const { push, addRunner, state, ci, clock, found, db } = await openCi(t);
  await push(simple());
  const runner = await addRunner(['linux']);
  const first = (await runner.fetch())!;
  await runner.report(first.taskId);
  const task = await ci.artifacts.authoriseTask(first.context.gitea_runtime_token as string);
  const upload = async (from: typeof task, content: string) => {
    const query = await ci.artifacts.create(from, { name: 'site', expiresAt: null });
    await ci.artifacts.receive(query, { kind: 'whole' }, Readable.from([Buffer.from(content)]));
    await ci.artifacts.finish(from, { name: 'site', sizeBytes: null, digest: null });
  };
  await upload(task, 'first');
  const reasonOfFirst = async (viewed = found) => (await ci.tasks.explainQueue(viewed))[0]?.reason;
  clock.advance(121_000);
  await ci.sweep();
  t.match(await reasonOfFirst(), /^The runner builder was lost; the job is tried again\. /);
  t.match(await runner.report(first.taskId), { result: 'failure' }, 'the first runner is told to stop');
  t.match((await ci.runs.findJob(found, 1, (await state(1)).rows[0]!.id)).task, null);

  const second = (await runner.fetch())!;
  t.not(second.taskId, first.taskId);
  await runner.report(second.taskId);
  await upload(await ci.artifacts.authoriseTask(second.context.gitea_runtime_token as string), 'second');
  const artifacts = await ci.artifacts.list(found, 1);
  t.same(
    artifacts.map(({ state, taskId }) => [state, taskId]),
    [
      ['removed', first.taskId],
      ['ready', second.taskId],
    ],
    'the second try uploads under the same name',
  );
  const { job, task: shown } = await ci.runs.findJob(found, 1, (await state(1)).rows[0]!.id);
  t.same(shown?.notices, ['The runner builder was lost while it had this job. This is the second try.']);
  await runner.finish(second.taskId);
  t.match(await state(1), { run: 'success' });

  // A job that is being cancelled is not started again; nor is any, where the setting says so.
  await push({ a: '3' });
  const cancelled = (await runner.fetch())!;
  await runner.report(cancelled.taskId);
  await db.write(({ manager }) =>
    manager.query(`UPDATE ci_tasks SET status = 'cancelling' WHERE id = ${cancelled.taskId}`),
  );
  clock.advance(121_000);
  await ci.sweep();
  t.match(await state(2), { run: 'cancelled' });
  t.equal(job.lostRunner, 'builder');
  const once = await openCi(t, { env: { SERVICE_CI_RETRY_LOST_JOBS: 'false' } });
  await once.push(simple());
  const other = await once.addRunner(['linux']);
  await other.report((await other.fetch())!.taskId);
  once.clock.advance(121_000);
  await once.ci.sweep();
  t.match(await once.state(1), { run: 'failure', rows: [{ reason: 'The runner was lost.' }] });
});

t.test('chosen labels of a runner replace what it declares, until they are taken back', async (t) => {
  const { push, addRunner, ci, state } = await openCi(t);
  const runner = await addRunner(['linux']);
  const declare = async () =>
    ci.runners.declare(await runner.row(), { version: 'v2', labels: ['linux'], capabilities: [] });
  await declare();
  await push(simple('big'));
  const waiting = runner.fetch(2_000);
  await settle();
  t.match(await ci.runners.setLabels(null, runner.id, ['big', ' linux ', 'big']), {
    labels: ['big', 'linux'],
    declaredLabels: ['linux'],
    hasChosenLabels: true,
  });
  t.ok(await waiting, 'a runner that waits gets the job that fits now');
  t.match(await declare(), { labels: ['big', 'linux'] }, 'a start does not take them away');
  t.match(await ci.runners.setLabels(null, runner.id, null), { labels: ['linux'], hasChosenLabels: false });
  for (const [labels, reason] of [
    [['', ' '], 'no_labels'],
    [['a b'], 'invalid_label'],
    [['x'.repeat(101)], 'invalid_label'],
  ] as const)
    t.equal(await reasonOf(ci.runners.setLabels(null, runner.id, labels)), reason);
  t.equal(await reasonOf(ci.runners.setLabels({ kind: 'user', id: 'x' }, runner.id, ['a'])), 'runner_not_found');
  t.equal((await state(1)).run, 'running');
});

t.test('a label that no runner has: a writer is told which there are', async (t) => {
  const { push, addRunner, ci, found } = await openCi(t);
  const reason = async (level: typeof found.level = found.level) =>
    (await ci.tasks.explainQueue({ ...found, level })).at(-1)?.reason;
  await push(simple('ubuntu-latst'));
  t.match(await reason(), /No runner here has the label ubuntu-latst\.$/);
  await addRunner(['ubuntu-latest', 'big']);
  await addRunner(['linux']);
  await addRunner(['elsewhere'], { scope: { kind: 'repository', id: 'another' } }).catch(() => null);
  t.match(await reason(), / Did you mean ubuntu-latest\?$/);
  t.equal(await reason('read'), 'No runner here has the label ubuntu-latst.', 'readers are not told the labels');
  await push(simple('macos'));
  t.match(await reason(), / The labels of runners here: big, linux, ubuntu-latest\.$/);
  await push(simple('[big, linux]'));
  t.match(await reason(), / no runner has all of them: ubuntu-latest, big; linux\.$/);
});

t.test('what a runner works on and has worked on, newest first', async (t) => {
  const { push, addRunner, ci, alice } = await openCi(t);
  const runner = await addRunner(['linux'], { scope: { kind: 'user', id: alice.id } });
  for (let count = 1; count <= 3; count += 1) {
    await push({ ...simple(), count: `${count}` });
    const { taskId } = (await runner.fetch())!;
    if (count < 3) await runner.finish(taskId);
    else await runner.report(taskId);
  }
  t.match(await ci.runners.runningTasks([runner.id]), [{ runNumber: 3, status: 'running', jobName: 'a' }]);
  const scope = { kind: 'user', id: alice.id } as const;
  const page = await ci.runners.tasksOf({ id: runner.id, scope }, { limit: 2, before: null });
  t.same(
    page.tasks.map(({ runNumber }) => runNumber),
    [3, 2],
  );
  const last = await ci.runners.tasksOf({ id: runner.id, scope }, { limit: 2, before: page.next });
  t.match(last, { tasks: [{ runNumber: 1, status: 'success' }], next: null });
  const others = { id: runner.id, scope: { kind: 'user', id: 'bob' } } as const;
  t.match(
    await ci.runners.tasksOf(others, { limit: 2, before: null }),
    { tasks: [], next: null },
    'a repository that was given away is not shown',
  );
});

t.test('an ephemeral runner that never got a job is removed a day after it was last seen', async (t) => {
  const { addRunner, ci, clock } = await openCi(t);
  const runner = await addRunner(['linux'], { ephemeral: true });
  await runner.row();
  await ci.sweep();
  clock.advance(23 * 3_600_000);
  await ci.sweep();
  t.match(await ci.runners.list(null), [{ status: 'offline', ephemeral: true }]);
  clock.advance(2 * 3_600_000);
  await ci.sweep();
  t.same(await ci.runners.list(null), []);
});

t.test('a runner that is disabled while it waits gets no job', async (t) => {
  const { push, addRunner, ci, state } = await openCi(t);
  const runner = await addRunner(['linux']);
  const waiting = runner.fetch(2_000);
  await settle();
  await ci.runners.setDisabled(instanceScope, runner.id, true);
  await push(simple());
  t.equal(await waiting, null);
  t.equal((await state(1)).run, 'waiting');
  await ci.runners.setDisabled(instanceScope, runner.id, false);
  t.ok(await runner.fetch(), 'enabled again it gets the job');
});

t.test('jobs of a repository in the trash wait until it comes back', async (t) => {
  const { push, addRunner, state, modules, viewer, found } = await openCi(t);
  await push(simple());
  await modules.repositories.trash.move(viewer, 'alice', 'work');
  const runner = await addRunner(['linux']);
  t.equal(await runner.fetch(), null);
  await modules.repositories.trash.restore(viewer, found.repository.id);
  t.ok(await runner.fetch());
  t.equal((await state(1)).run, 'running');
});

t.test('of secrets and variables with one name the nearest counts; removing ignores case', async (t) => {
  const { ci, push, addRunner, alice, found } = await openCi(t);
  const scopes = [
    instanceScope,
    { kind: 'user', id: alice.id },
    { kind: 'repository', id: found.repository.id },
  ] as const;
  for (const { kind, ...scope } of scopes) {
    await ci.secrets.set({ kind, ...scope } as CiScope, { name: 'DEPLOY_KEY', value: `secret of ${kind}` });
    await ci.variables.set({ kind, ...scope } as CiScope, { name: 'PLACE', value: `variable of ${kind}` });
  }
  const runner = await addRunner(['linux']);
  for (const scope of scopes.toReversed()) {
    await push(simple());
    const task = (await runner.fetch())!;
    t.equal(task.secrets.get('DEPLOY_KEY'), `secret of ${scope.kind}`);
    t.equal(task.variables.get('PLACE'), `variable of ${scope.kind}`);
    await runner.finish(task.taskId);
    await ci.secrets.remove(scope, 'deploy_key');
    await ci.variables.remove(scope, 'place');
    t.strictSame([await ci.secrets.list(scope), await ci.variables.list(scope)], [[], []]);
  }
});

t.test('the ciphertext of a secret opens in its own row only', async (t) => {
  const { ci, db, push, addRunner, alice, found } = await openCi(t);
  await ci.secrets.set({ kind: 'user', id: alice.id }, { name: 'DEPLOY_KEY', value: 'hunter2hunter2' });
  const runner = await addRunner(['linux']);
  const valuesAfter = async (change: string, ...values: unknown[]) => {
    await db.write(({ manager }) => manager.query(`UPDATE ci_secrets SET ${change}`, values));
    await push(simple());
    const task = await runner.fetch();
    if (task !== null) await runner.finish(task.taskId);
    return [...(task?.secrets.values() ?? [])];
  };
  const moved = await valuesAfter('user_id = NULL, repository_id = ?', found.repository.id);
  t.notOk(moved.includes('hunter2hunter2'), 'moved to a repository');
  const renamed = await valuesAfter("user_id = ?, repository_id = NULL, name = 'OTHER'", alice.id);
  t.notOk(renamed.includes('hunter2hunter2'), 'under another name');
  t.ok((await valuesAfter("name = 'DEPLOY_KEY'")).includes('hunter2hunter2'), 'back in its place');
});

t.test('jobs are scheduled fairly among owners and among the repositories of each', async (t) => {
  const { push, addRunner, modules, viewer, found } = await openCi(t);
  const bob = await modules.accounts.addPerson({ username: 'bob' });
  const make = async (of: typeof viewer, name: string) => {
    await modules.repositories.create(of, { name, visibility: 'PRIVATE' });
    return modules.repositories.find(of, of.username!, name);
  };
  const bobs = await make({ ...viewer, id: bob.id, username: 'bob' }, 'his');
  const second = await make(viewer, 'second');
  for (let count = 0; count < 6; count += 1) await push({ ...simple(), n: String(count) });
  for (let count = 0; count < 2; count += 1) await push({ n: `s${count}` }, { to: second });
  for (let count = 0; count < 2; count += 1) await push({ n: `b${count}` }, { to: bobs });
  const runner = await addRunner(['linux']);
  const order: string[] = [];
  for (let task = await runner.fetch(); task !== null; task = await runner.fetch())
    order.push(String(task.context.repository));
  t.same(order, [
    'alice/work',
    'bob/his',
    'alice/second',
    'bob/his',
    'alice/work',
    'alice/second',
    'alice/work',
    'alice/work',
    'alice/work',
    'alice/work',
  ]);
  t.ok(found);
});

t.test('the token of a task grants access to its repository while it runs, as its file permits', async (t) => {
  const { push, addRunner, ci, found, modules } = await openCi(t);
  await push(simple());
  await push(workflow('on: push\npermissions: {contents: read}\njobs:\n  a: {runs-on: linux, steps: [{run: x}]}\n'));
  await push(workflow('on: push\njobs:\n  a: {runs-on: linux, permissions: {}, steps: [{run: x}]}\n'));
  const runner = await addRunner(['linux']);
  const [writes, reads, none] = [(await runner.fetch())!, (await runner.fetch())!, (await runner.fetch())!];
  const viewerOf = (task: typeof writes) => ci.tasks.viewerOfToken(String(task.context.token));
  t.same(await viewerOf(writes), {
    kind: 'task',
    taskId: writes.taskId,
    repositoryId: found.repository.id,
    scope: 'write',
  });
  t.match(await viewerOf(reads), { scope: 'read' });
  t.equal(await viewerOf(none), null);
  t.equal(await ci.tasks.viewerOfToken('0'.repeat(40)), null);
  t.equal((await modules.repositories.openForRead((await viewerOf(writes))!, 'alice', 'work')).path, found.path);
  await runner.finish(writes.taskId);
  t.equal(await viewerOf(writes), null, 'it dies with its task');
  const dump = JSON.stringify(await modules.db.read.query('SELECT * FROM ci_tasks'));
  t.notOk(dump.includes(String(reads.context.token)));
});

t.test('a job whose content cannot be built fails alone, and the runner gets the next one', async (t) => {
  const { push, addRunner, state, db } = await openCi(t);
  await push(simple());
  await push({ a: '2' });
  // Only a damaged database could cause this.
  await db.write(({ manager }) => manager.query("UPDATE ci_jobs SET job_key = 'gone' WHERE run_id = 1"));
  const runner = await addRunner(['linux']);
  t.equal((await runner.fetch())?.context.run_number, '2');
  t.match(await state(1), {
    run: 'failure',
    rows: [{ reason: /could not be handed to a runner: the workflow has no job gone/ }],
  });
});

t.test('a restart loses no task: the runner continues where it was', async (t) => {
  const first = await openCi(t);
  await first.push(simple());
  const runner = await first.addRunner(['linux']);
  const task = (await runner.fetch())!;
  t.equal(await runner.log(task.taskId, 0, ['one', 'two']), 2);
  await first.close();
  const second = await openCi(t, { folder: first.folder });
  const again = await driveRunner(second.modules, runner.credentials);
  t.equal(await again.log(task.taskId, 1, ['two', 'three'], true), 3);
  t.match(await again.report(task.taskId, { result: 'success' }), { result: 'success' });
  t.equal((await second.state(1)).run, 'success');
});

t.test('of two reports at once that end a task one counts, and what comes later changes nothing', async (t) => {
  const { push, addRunner, state, modules } = await openCi(t);
  await push(simple());
  const runner = await addRunner(['linux']);
  const { taskId } = (await runner.fetch())!;
  await runner.report(taskId);
  // Both look at the task before either has written.
  const [one, other] = await Promise.all([
    runner.report(taskId, { result: 'success', outputs: new Map([['first', '1']]) }),
    runner.report(taskId, { result: 'failure', outputs: new Map([['second', '2']]) }),
  ]);
  t.equal(one.result, other.result);
  t.equal((await state(1)).rows[0]!.status, one.result);
  const kept = await modules.db.read.query('SELECT name FROM ci_outputs WHERE task_id = ?', [taskId]);
  t.equal(kept.length, 1, 'the outputs of one of them');
  const late = await runner.report(taskId, { result: 'cancelled', outputs: new Map([['late', '3']]) });
  t.strictSame(
    late,
    { result: one.result, sentOutputs: [kept[0].name] },
    'what was not taken is not said to have been',
  );
});
