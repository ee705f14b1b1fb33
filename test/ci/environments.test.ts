// Environments: who lets a job in, from where, with what; and what happens to those that nobody lets in.
import t from 'tap';
import { personViewer } from '../../src/access/index.ts';
import type { PersonViewer, Viewer } from '../../src/access/index.ts';
import type { EnvironmentChange } from '../../src/ci/index.ts';
import { openCi, reasonOf, settle, workflow } from './ci-fixture.ts';

const deploys = (more = '', on = 'push') =>
  workflow(
    `on: [${on}]\njobs:\n  deploy:\n    runs-on: linux\n    environment: production\n${more}    steps: [{ run: ls }]\n  plain:\n    runs-on: linux\n    steps: [{ run: ls }]\n`,
  );

async function openWorld() {
  const fixture = await openCi(t);
  const { modules, viewer, found } = fixture;
  const { accounts, repositories, ci } = modules;
  const person = async (username: string): Promise<PersonViewer> => {
    const { id } = await accounts.addPerson({ username });
    return { ...personViewer(id, 'admin'), username };
  };
  const [bob, carol, dave] = [await person('bob'), await person('carol'), await person('dave')];
  const at = { owner: 'alice', name: 'work' };
  await repositories.collaborators.add(viewer, at.owner, at.name, { username: 'bob', role: 'write' });
  await repositories.collaborators.add(viewer, at.owner, at.name, { username: 'carol', role: 'read' });
  const foundFor = (one: Viewer) => repositories.find(one, at.owner, at.name);
  const number = async () => (await ci.runs.list(found, {}, { limit: 1 })).runs[0]!.number;
  return {
    ...fixture,
    bob,
    carol,
    dave,
    foundFor,
    set: (change: EnvironmentChange, name = 'production') => ci.environments.set(viewer, found, name, change),
    number,
    /** A push, and the run that it starts. */
    async start(files: Record<string, string>, options = {}) {
      await fixture.push(files, options);
      return number();
    },
    decide: async (by: Viewer, run: number, verdict: 'approved' | 'rejected' = 'approved') =>
      ci.environments.review(by, await foundFor(by), run, { verdict, environments: ['production'], comment: '' }),
    pending: async (by: Viewer, run: number) => {
      const there = await foundFor(by);
      return ci.environments.pending(by, there, (await ci.runs.find(there, run)).run);
    },
    async end(run: number) {
      await ci.runs.cancel(viewer, found, run, { force: true }).catch(() => null);
    },
  };
}

let opened: ReturnType<typeof openWorld> | null = null;
const world = () => (opened ??= openWorld());

t.test('a job waits for one of two reviewers, and gets the values of its environment after that', async (t) => {
  const w = await world();
  const { ci, found, viewer } = w;
  await w.set({ reviewers: ['bob', 'carol'] });
  await ci.environments.secrets.set(found, 'Production', { name: 'KEY', value: 'of production' });
  await ci.environments.variables.set(found, 'production', { name: 'PLACE', value: 'of production' });
  const scope = { kind: 'repository' as const, id: found.repository.id };
  await ci.secrets.set(scope, { name: 'KEY', value: 'of the repository' });
  await ci.variables.set(scope, { name: 'PLACE', value: 'of the repository' });
  const run = await w.start(deploys());
  const runner = await w.addRunner(['linux']);
  t.strictSame((await w.state(run)).jobs, { deploy: 'blocked', plain: 'waiting' });
  const plain = (await runner.fetch())!;
  t.equal(plain.secrets.get('KEY'), 'of the repository', 'a job without the environment');
  t.equal(plain.variables.get('PLACE'), 'of the repository');
  await runner.finish(plain.taskId);
  t.equal(await runner.fetch(), null, 'nothing before the approval');
  const [pending] = await w.pending(w.carol, run);
  t.match(pending, { mayDecide: true, isApproved: false, jobs: { length: 1 } });
  t.equal((await w.pending(w.dave, run).catch(() => [{ mayDecide: 'hidden' }]))[0]!.mayDecide, 'hidden');
  t.match(await w.decide(w.carol, run), [{ verdict: 'approved', reviewerId: w.carol.id, isBypass: false }]);
  const deploy = (await runner.fetch())!;
  t.equal(deploy.secrets.get('KEY'), 'of production');
  t.equal(deploy.variables.get('PLACE'), 'of production');
  t.notMatch(deploy.payload, 'environment:');
  const states = async () => {
    const { deployments } = await ci.environments.deployments.list(found, {}, { limit: 10, skip: 0 });
    return (await ci.environments.deployments.statuses(found, deployments[0]!.id)).map(({ state }) => state).reverse();
  };
  t.strictSame(await states(), ['waiting', 'queued', 'in_progress']);
  await runner.finish(deploy.taskId, 'success', { HEARTH_ENVIRONMENT_URL: 'https://shop.example.org/' });
  t.strictSame(await states(), ['waiting', 'queued', 'in_progress', 'success']);
  const { environmentId } = (await w.state(run)).rows.find(({ name }) => name === 'deploy')!;
  const present = await ci.environments.present([environmentId!]);
  t.match(present.get(environmentId!), { state: 'success', runId: Number, creatorId: viewer.id });
  const again = await w.start(deploys());
  await w.decide(viewer, again);
  for (let task = await runner.fetch(); task !== null; task = await runner.fetch()) await runner.finish(task.taskId);
  const { deployments, total } = await ci.environments.deployments.list(
    found,
    { environment: 'PRODUCTION' },
    { limit: 10, skip: 0 },
  );
  t.strictSame([total, deployments.map(({ state }) => state)], [2, ['success', 'inactive']]);
});

t.test('who may let a job in', async (t) => {
  const w = await world();
  const as = (viewer: PersonViewer, changes: Partial<PersonViewer>): PersonViewer => ({ ...viewer, ...changes });
  const repositoryId = w.found.repository.id;
  const key: Viewer = { kind: 'deployKey', id: 'k', title: 'key', repositoryId, scope: 'write' };
  const task: Viewer = { kind: 'task', taskId: 1, repositoryId, scope: 'write' };
  const cases: [what: string, rule: EnvironmentChange, by: Viewer, expected: string][] = [
    ['a reviewer', { reviewers: ['bob'] }, w.bob, 'nothing'],
    ['a reviewer who only reads', { reviewers: ['carol'] }, w.carol, 'nothing'],
    ['the same where reviewers must write', { reviewers: ['carol'], needsWrite: true }, w.carol, 'not_a_reviewer'],
    ['somebody who may push and is none', { reviewers: ['carol'] }, w.bob, 'not_a_reviewer'],
    ['somebody who may not read', { reviewers: ['bob'] }, w.dave, 'repository_not_found'],
    [
      'a reviewer with a token that reads',
      { reviewers: ['bob'] },
      as(w.bob, { via: 'token', scope: 'read' }),
      'not_a_reviewer',
    ],
    [
      'a reviewer with a token of another repository',
      { reviewers: ['bob'] },
      as(w.bob, { via: 'token', repositoryIds: ['x'] }),
      'repository_not_found',
    ],
    ['a deploy key', { reviewers: ['bob'] }, key, 'not_a_reviewer'],
    ['the token of a job', { reviewers: ['bob'] }, task, 'not_a_reviewer'],
    ['an administrator', { reviewers: ['bob'] }, w.viewer, 'nothing'],
    [
      'an administrator where they may not pass over it',
      { reviewers: ['bob'], adminsBypass: false },
      w.viewer,
      'not_a_reviewer',
    ],
    ['who started it', { reviewers: ['alice'] }, w.viewer, 'nothing'],
    [
      'the same where that is forbidden',
      { reviewers: ['alice'], preventsSelfReview: true },
      w.viewer,
      'not_a_reviewer',
    ],
    ['another one then', { reviewers: ['alice', 'bob'], preventsSelfReview: true }, w.bob, 'nothing'],
  ];
  const usual = { needsWrite: false, adminsBypass: true, preventsSelfReview: false };
  for (const [what, rule, by, expected] of cases) {
    await w.set({ ...usual, ...rule });
    const run = await w.start(deploys());
    const before = JSON.stringify(await w.state(run));
    t.equal(await reasonOf(w.decide(by, run)), expected, what);
    const after = await w.state(run);
    t.equal(after.jobs['deploy'], expected === 'nothing' ? 'waiting' : 'blocked', what);
    if (expected !== 'nothing') t.equal(JSON.stringify(after), before, `${what}: nothing changed`);
    await w.end(run);
  }
  await w.set({ ...usual, reviewers: ['bob'] });
});

t.test('a reviewer who left is no reviewer, and the environment stays protected', async (t) => {
  const w = await world();
  await w.set({ reviewers: ['bob'], adminsBypass: true });
  const run = await w.start(deploys());
  await w.modules.repositories.collaborators.remove(w.viewer, 'alice', 'work', 'bob');
  t.equal(await reasonOf(w.decide(w.bob, run)), 'repository_not_found', 'no right any more');
  const eve = await w.modules.accounts.addPerson({ username: 'eve' });
  await w.modules.repositories.collaborators.add(w.viewer, 'alice', 'work', { username: 'eve', role: 'write' });
  await w.set({ reviewers: ['eve'] });
  await w.db.write(({ manager }) => manager.query('DELETE FROM ci_environment_reviewers WHERE user_id = ?', [eve.id]));
  const later = await w.start(deploys());
  t.equal((await w.state(later)).jobs['deploy'], 'blocked', 'its only reviewer is gone');
  t.match(await w.decide(w.viewer, later), [{ isBypass: true }]);
  for (const one of [run, later]) await w.end(one);
  await w.modules.repositories.collaborators.add(w.viewer, 'alice', 'work', { username: 'bob', role: 'write' });
});

t.test('two decisions at one moment, and decisions that come late', async (t) => {
  const w = await world();
  await w.set({ reviewers: ['bob', 'carol'] });
  const run = await w.start(deploys());
  const both = await Promise.all([reasonOf(w.decide(w.bob, run)), reasonOf(w.decide(w.carol, run, 'rejected'))]);
  t.strictSame(both.sort(), ['deployment_not_waiting', 'nothing']);
  t.equal((await w.ci.environments.reviewsOfRun((await w.ci.runs.find(w.found, run)).run.id)).length, 1);
  await w.end(run);
  const cancelled = await w.start(deploys());
  await w.end(cancelled);
  t.equal(await reasonOf(w.decide(w.bob, cancelled)), 'deployment_not_waiting', 'after the cancellation');
  t.equal((await w.state(cancelled)).jobs['deploy'], 'cancelled');
  const rejected = await w.start(deploys());
  await w.decide(w.bob, rejected, 'rejected');
  const { rows } = await w.state(rejected);
  t.match(rows[0], { status: 'failure', reason: 'bob rejected the deployment to production.' });
  t.equal(await reasonOf(w.decide(w.carol, rejected)), 'deployment_not_waiting');
  t.equal(
    await reasonOf(
      w.ci.environments.review(w.bob, w.found, rejected, { verdict: 'approved', environments: ['other'], comment: '' }),
    ),
    'deployment_not_waiting',
  );
  await w.end(rejected);
});

t.test('which branches and tags may deploy', async (t) => {
  const w = await world();
  const refs = [
    { kind: 'branch' as const, pattern: 'release/*' },
    { kind: 'tag' as const, pattern: 'v*' },
  ];
  const cases: [policy: EnvironmentChange, where: object, isLetIn: boolean][] = [
    [{ refPolicy: 'all' }, { branch: 'main' }, true],
    [{ refPolicy: 'custom', refs }, { branch: 'main' }, false],
    [{ refPolicy: 'custom', refs }, { branch: 'release/1' }, true],
    [{ refPolicy: 'custom', refs }, { branch: 'release/2/x' }, false],
    [{ refPolicy: 'custom', refs }, { branch: 'v1' }, false],
    [{ refPolicy: 'custom', refs }, { tag: 'v1-tag' }, true],
    [{ refPolicy: 'custom', refs }, { tag: 'nightly' }, false],
    [{ refPolicy: 'protected' }, { branch: 'topic' }, false],
  ];
  for (const [policy, where, isLetIn] of cases) {
    await w.set({ ...policy, reviewers: [] });
    const run = await w.start(deploys(), where);
    const { rows } = await w.state(run);
    t.equal(rows[0]!.status, isLetIn ? 'waiting' : 'failure', JSON.stringify([policy.refPolicy, where]));
    if (!isLetIn) t.match(rows[0]!.reason, 'may not deploy to production');
    await w.end(run);
  }
  await w.set({ refPolicy: 'all', refs: [] });
});

t.test('a wait, a rule that became stricter, and a wait that nobody ends', async (t) => {
  const w = await world();
  await w.set({ reviewers: ['bob'], waitMinutes: 10 });
  const run = await w.start(deploys());
  await w.decide(w.bob, run);
  const state = async () => (await w.state(run)).jobs['deploy'];
  t.equal(await state(), 'blocked', 'approved, and the time has not come');
  w.clock.advance(9 * 60_000);
  await w.ci.sweep();
  t.equal(await state(), 'blocked');
  w.clock.advance(2 * 60_000);
  await w.ci.sweep();
  t.equal(await state(), 'waiting');
  await w.end(run);
  await w.set({ reviewers: [], waitMinutes: 10 });
  const stricter = await w.start(deploys());
  await w.set({ reviewers: ['bob'] });
  w.clock.advance(11 * 60_000);
  await w.ci.sweep();
  t.equal((await w.state(stricter)).jobs['deploy'], 'blocked', 'a reviewer is asked now');
  w.clock.advance(31 * 24 * 3_600_000);
  await w.ci.sweep();
  t.match((await w.state(stricter)).rows[0], { status: 'failure', reason: /30 days/ });
  const passedOver = await w.start(deploys());
  await w.decide(w.viewer, passedOver);
  t.equal((await w.state(passedOver)).jobs['deploy'], 'waiting', 'an administrator passes over the time');
  await w.end(passedOver);
  await w.end(stricter);
  const gone = await w.start(deploys());
  await w.ci.environments.remove(w.viewer, w.found, 'production');
  await settle();
  t.match((await w.state(gone)).rows[0], { status: 'failure', reason: 'The environment production was deleted.' });
  await w.end(gone);
  t.equal(
    (await w.ci.environments.list(w.found)).some(({ name }) => name === 'production'),
    false,
  );
});

t.test('one job at a time deploys, and a job that waits for a reviewer holds no place', async (t) => {
  const w = await world();
  const file = workflow(
    'on: push\njobs:\n  deploy:\n    runs-on: linux\n    environment: live\n    concurrency: live\n    steps: [{ run: ls }]\n',
  );
  const decide = (run: number) =>
    w.ci.environments.review(w.viewer, w.found, run, { verdict: 'approved', environments: ['live'], comment: '' });
  await w.set({ reviewers: ['alice'] }, 'live');
  const [first, second, third] = [await w.start(file), await w.start(file), await w.start(file)];
  const states = async () =>
    Promise.all([first, second, third].map(async (run) => (await w.state(run)).jobs['deploy']));
  t.strictSame(await states(), ['blocked', 'blocked', 'blocked'], 'all wait, and none is cancelled by a later one');
  await decide(second);
  await decide(first);
  t.strictSame(await states(), ['blocked', 'waiting', 'blocked'], 'the first that was approved has the place');
  const runner = await w.addRunner(['linux']);
  const task = (await runner.fetch())!;
  t.equal(await runner.fetch(), null);
  await runner.finish(task.taskId);
  t.strictSame(await states(), ['waiting', 'success', 'blocked'], 'who waits for a reviewer is passed over');
  await decide(third);
  t.strictSame(await states(), ['waiting', 'success', 'blocked']);
  for (const run of [first, third]) await w.end(run);
  await w.ci.runners.remove({ kind: 'instance' }, runner.id);
});

t.test('names, by matrix and by expression', async (t) => {
  const w = await world();
  const named = (name: string, matrix = 'a') =>
    workflow(
      `on: push\njobs:\n  d:\n    runs-on: linux\n    strategy: { matrix: { to: [${matrix}] } }\n    environment: { name: "${name}", deployment: "\${{ matrix.to != 'b' }}" }\n    steps: [{ run: ls }]\n`,
    );
  const refused = ['..', '.', 'a/../b', 'a//b', 'x\\\\y', "it's", 'a,b', 'a'.repeat(256)];
  for (const name of refused) {
    const run = await w.start(named(name));
    t.match((await w.state(run)).rows[0], { status: 'failure', reason: /name of (the|an) environment/ }, name);
    t.equal(await reasonOf(w.set({}, name.replaceAll('\\\\', '\\'))), 'invalid_environment_name', name);
  }
  const run = await w.start(named('review/${{ matrix.to }}', 'a, b'));
  const { rows } = await w.state(run);
  t.strictSame(
    rows.map(({ environment, status, deploymentId }) => [environment, status, deploymentId !== null]),
    [
      ['review/a', 'waiting', true],
      ['review/b', 'waiting', false],
    ],
  );
  const none = await w.start(named('${{ matrix.to }}', '""'));
  t.match((await w.state(none)).rows[0], { environment: null, status: 'waiting' }, 'an empty name is none');
  for (const one of [run, none]) await w.end(one);
});

t.test('a deployment whose runner is lost waits for a new approval', async (t) => {
  const w = await world();
  await w.set({ reviewers: ['bob'], waitMinutes: 0, refPolicy: 'all' });
  for (const isConfirmed of [true, false]) {
    const run = await w.start(deploys());
    await w.decide(w.bob, run);
    const runner = await w.addRunner(['linux']);
    const tasks = [await runner.fetch(), await runner.fetch()];
    if (isConfirmed) for (const task of tasks) await runner.report(task!.taskId);
    w.clock.advance(11 * 60_000);
    await w.ci.sweep();
    const { jobs } = await w.state(run);
    t.strictSame(jobs, { deploy: 'failure', plain: 'waiting' }, 'only the other job is queued again');
    await w.ci.runs.cancel(w.viewer, w.found, run, { force: true });
    await w.ci.runs.rerun(w.viewer, w.found, run, 'all');
    t.equal((await w.state(run)).jobs['deploy'], 'blocked', 'the approval of the first attempt counts no more');
    const again = await w.addRunner(['linux']);
    t.notMatch((await again.fetch())?.payload, 'deploy', 'only the other job');
    t.match(await w.decide(w.bob, run), [{ verdict: 'approved' }]);
    t.equal((await w.state(run)).jobs['deploy'], 'waiting');
    await w.end(run);
    for (const { id } of [runner, again]) await w.ci.runners.remove({ kind: 'instance' }, id);
  }
});

t.test('settings are for administrators, and refuse what they do not understand', async (t) => {
  const w = await world();
  const cases: [change: EnvironmentChange, reason: string][] = [
    [{ waitMinutes: -1 }, 'invalid_wait'],
    [{ waitMinutes: 43_201 }, 'invalid_wait'],
    [{ waitMinutes: 1.5 }, 'invalid_wait'],
    [{ reviewers: ['nobody'] }, 'no_such_reviewer'],
    [{ reviewers: ['dave'] }, 'no_such_reviewer'],
    [{ reviewers: ['acme/ops'] }, 'no_such_reviewer'],
    [{ reviewers: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }, 'too_many_reviewers'],
    [{ refPolicy: 'some' as never }, 'invalid_ref_policy'],
    [{ refs: [{ kind: 'branch', pattern: 'a..b' }] }, 'invalid_ref_pattern'],
    [
      {
        refs: [
          { kind: 'tag', pattern: 'v*' },
          { kind: 'tag', pattern: 'v*' },
        ],
      },
      'invalid_ref_pattern',
    ],
  ];
  const before = JSON.stringify(await w.ci.environments.find(w.found, 'production'));
  for (const [change, reason] of cases) t.equal(await reasonOf(w.set(change)), reason, JSON.stringify(change));
  t.equal(JSON.stringify(await w.ci.environments.find(w.found, 'production')), before, 'nothing changed');
  const foundByBob = await w.foundFor(w.bob);
  const { environments } = w.ci;
  t.equal(await reasonOf(environments.set(w.bob, foundByBob, 'production', {})), 'repository_not_found');
  t.equal(await reasonOf(environments.remove(w.bob, foundByBob, 'production')), 'repository_not_found');
  t.equal(await reasonOf(environments.secrets.list(foundByBob, 'production')), 'repository_not_found');
  t.equal(await reasonOf(environments.secrets.list(w.found, 'absent')), 'environment_not_found');
  t.equal(
    await reasonOf(environments.secrets.set(w.found, 'production', { name: 'GITHUB_X', value: 'x' })),
    'invalid_secret_name',
  );
});
