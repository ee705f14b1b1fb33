// A deployment with two reviewers, and the server, the runner or both are killed between each pair of its steps: no
// secret goes out before an approval, no step starts twice in an attempt, and a job whose runner is lost fails and is
// not queued again without another attempt, which needs an approval of its own.
//
// time limit: 600 s
import tap from 'tap';
import { personViewer } from '../../src/access/index.ts';
import type { TaskContent } from '../../src/ci/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { driveRunner, openCi, workflow } from './ci-fixture.ts';

tap.setTimeout(580_000);

const file = `on: workflow_dispatch
jobs:
  deploy:
    runs-on: linux
    environment: production
    steps: [{name: One, run: a}, {name: Two, run: b}]
`;
const moments = ['waits', 'approved', 'taken', 'first step', 'second step'] as const;
type Moment = (typeof moments)[number];
const victims = ['server', 'runner', 'both'] as const;

const folder = temporaryFolder(tap);
const clock = fixedClock();
let world = await openCi(tap, { folder, clock });

async function reopen() {
  await world.close();
  world = await openCi(tap, { folder, clock });
}

async function newRunner() {
  const { id: userId } = world.alice;
  const made = await world.ci.runners.create({ kind: 'user', id: userId }, { name: 'builder', ephemeral: false });
  const credentials = { uuid: made.runner.uuid, token: made.token };
  const declare = async () => {
    const row = await world.ci.runners.authenticate(credentials, { isActive: false });
    await world.ci.runners.declare(row, { version: 'v1', labels: ['linux'], capabilities: [] });
  };
  await declare();
  return { declare, driver: () => driveRunner(world.modules, credentials) };
}

const step = (id: number, isOver: boolean) => ({
  id,
  result: isOver ? ('success' as const) : null,
  startedAt: clock.now(),
  stoppedAt: isOver ? clock.now() : null,
  logIndex: 0,
  logLength: 0,
});

await world.push(workflow(file));
const people = await Promise.all(['bob', 'carol'].map((username) => world.modules.accounts.addPerson({ username })));
for (const username of ['bob', 'carol'])
  await world.modules.repositories.collaborators.add(world.viewer, 'alice', 'work', { username, role: 'write' });
await world.ci.environments.set(world.viewer, world.found, 'production', { reviewers: ['bob', 'carol'] });
await world.ci.environments.secrets.set(world.found, 'production', { name: 'KEY', value: 'hunter22' });

/** One deployment from its start to its end, with a kill at a moment. */
async function deploy(
  t: Pick<typeof tap, 'equal' | 'strictSame'>,
  victim: (typeof victims)[number],
  killAt: Moment,
  reviewer: number,
) {
  let runner = await newRunner();
  const given = new Map<number, TaskContent[]>();
  let attempt = 1;
  let isLost = false;
  const { number } = await world.ci.workflows.dispatch(world.viewer, world.found, {
    path: 'ci.yml',
    ref: '',
    inputs: new Map(),
  });
  const statusOf = async () => (await world.state(number)).jobs['deploy'];
  const fetch = async () => {
    const task = await (await runner.driver()).fetch();
    if (task !== null) given.set(attempt, [...(given.get(attempt) ?? []), task]);
    return task;
  };
  const approve = async () => {
    const viewer = { ...personViewer(people[reviewer]!.id, 'admin'), username: ['bob', 'carol'][reviewer]! };
    const found = await world.modules.repositories.find(viewer, 'alice', 'work');
    const decision = { verdict: 'approved', environments: ['production'], comment: '' } as const;
    await world.ci.environments.review(viewer, found, number, decision);
  };
  /** Does what is due at this moment: a kill, and for a lost runner what the server makes of it. */
  const pass = async (moment: Moment) => {
    if (moment !== killAt || attempt > 1) return;
    if (victim !== 'runner') await reopen();
    if (victim === 'server') return;
    if (!given.has(1)) return void (await runner.declare());
    runner = await newRunner();
    clock.advance(11 * 60_000);
    await world.ci.sweep();
    // The server counts from its own start what it could have heard.
    clock.advance(11 * 60_000);
    await world.ci.sweep();
    isLost = true;
  };

  for (;;) {
    isLost = false;
    t.equal(await fetch(), null, `attempt ${attempt}: nothing before the approval`);
    await pass('waits');
    t.equal(await fetch(), null);
    t.equal(await statusOf(), 'blocked');
    await approve();
    await pass('approved');
    const task = await fetch();
    t.equal(task?.secrets.get('KEY'), 'hunter22', 'after the approval it has the secret');
    if (task === null) return;
    await pass('taken');
    for (const [position, moment] of [
      [0, 'first step'],
      [1, 'second step'],
    ] as const) {
      if (isLost) break;
      const before = position === 0 ? [] : [step(0, true)];
      await (await runner.driver()).report(task.taskId, { steps: [...before, step(position, false)] });
      await pass(moment);
    }
    if (!isLost) {
      await (await runner.driver()).report(task.taskId, { steps: [step(0, true), step(1, true)] });
      await (await runner.driver()).finish(task.taskId);
      break;
    }
    t.equal(await statusOf(), 'failure', 'a lost runner fails the job');
    t.equal(await fetch(), null, 'which nobody gets again');
    await world.ci.runs.rerun(world.viewer, world.found, number, 'failed');
    attempt += 1;
  }
  t.equal(await statusOf(), 'success');
  t.strictSame(
    [...given.values()].map((tasks) => tasks.length),
    Array.from({ length: attempt }, () => 1),
    'one task in each attempt',
  );
  const isTaken = moments.indexOf(killAt) >= moments.indexOf('taken');
  t.equal(attempt, victim !== 'server' && isTaken ? 2 : 1);
}

let turn = 0;
for (const victim of victims)
  for (const moment of moments)
    await tap.test(`${victim} killed: ${moment}`, (t) => deploy(t, victim, moment, (turn += 1) % 2));
