// The merge queue of a branch: one pull request at a time is merged onto the tip, tested as that commit, and the branch
// moves to the very commit; what is red, changed or closed leaves with an entry.
import t from 'tap';
import { personViewer } from '../../src/access/index.ts';
import { limits } from '../../src/pulls/limits.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { openCi, reasonOf } from './ci-fixture.ts';
import { announced, pushTo } from './pulls-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const at = { owner: 'alice', name: 'work' };
const workflow = 'name: Queue\non: [merge_group]\njobs:\n  test:\n    runs-on: linux\n    steps: [{ run: ls }]\n';

/** alice/work with a queue on main, bob who may write, and a runner. */
async function openQueue(t: Parameters<typeof openCi>[0], more: Parameters<typeof openCi>[1] = {}) {
  const fixture = await openCi(t, more);
  const { modules, viewer } = fixture;
  const first = await fixture.push({ '.github/workflows/queue.yml': workflow, 'a.txt': 'a\n' });
  await modules.repositories.rules.add(viewer, at.owner, at.name, {
    pattern: 'main',
    target: 'BRANCH',
    merging: { upToDate: 'queue', adminsToo: false },
  });
  await modules.accounts.addPerson({ username: 'bob' });
  await modules.repositories.collaborators.add(viewer, at.owner, at.name, { username: 'bob', role: 'write' });
  const bob = personViewer((await modules.accounts.personByUsername('bob')).id, 'admin');
  const runner = await fixture.addRunner(['linux']);
  const { queue } = modules.pulls;
  const place = (number: number) => ({ ...at, number });
  return {
    ...fixture,
    bob,
    runner,
    queue,
    first,
    /** A pull request of a branch that adds a file of its name. */
    async open(name: string, on = first): Promise<number> {
      await pushTo(fixture, name, { [`${name}.txt`]: `${name}\n` }, on);
      return (await modules.pulls.open(viewer, at, { title: `Add ${name}`, body: '', head: name })).issue.number;
    },
    enter: (number: number, by = viewer, style = 'merge', round = 1) =>
      queue.enter(by, place(number), { style, round }),
    placeOf: (number: number) => queue.placeOf(viewer, place(number)),
    stateOf: async (number: number) => (await modules.pulls.find(viewer, place(number))).issue.state,
    pull: async (number: number) => (await modules.pulls.find(viewer, place(number))).pull,
    tip: async () => (await runGit(['rev-parse', 'refs/heads/main'], { cwd: fixture.found.path })).trim(),
    /** What the log says of the queue, and of the merge. */
    async entries(number: number) {
      await announced(fixture);
      const { entries } = await modules.issues.listEntries(viewer, place(number));
      return entries
        .filter(({ kind }) => ['queued', 'unqueued', 'merged'].includes(kind))
        .map(({ kind, authorId, details }) => ({ kind, authorId, ...details }));
    },
    /** The next task, once there is one. */
    async task() {
      const waiting = "SELECT count(*) AS n FROM ci_jobs WHERE status = 'waiting'";
      await waitUntil(async () => Number((await fixture.db.read.query(waiting))[0].n) > 0);
      return (await runner.fetch())!;
    },
  };
}

const merged = (fixture: { stateOf(number: number): Promise<string> }, number: number) =>
  waitUntil(async () => (await fixture.stateOf(number)) === 'MERGED');

t.test('the tested commit becomes the tip, one after the other', async (t) => {
  const fixture = await openQueue(t);
  const { modules, viewer, bob, runner, first } = fixture;
  const [one, two] = [await fixture.open('one'), await fixture.open('two')];
  const refused = modules.pulls.merge(viewer, { ...at, number: one }, { style: 'merge', round: 1 });
  t.equal(await reasonOf(refused), 'merge_blocked', 'a merge past the queue');
  t.equal(
    await reasonOf(fixture.enter(one, undefined, 'merge', 2)),
    'round_changed',
    'a round that is not the last one',
  );
  await fixture.enter(one);
  t.equal(await reasonOf(fixture.enter(one)), 'in_queue');
  const most = limits.queued;
  t.teardown(() => Object.assign(limits, { queued: most }));
  Object.assign(limits, { queued: 1 });
  t.equal(await reasonOf(fixture.enter(two, bob, 'squash')), 'queue_full');
  Object.assign(limits, { queued: 2 });
  await fixture.enter(two, bob, 'squash');
  Object.assign(limits, { queued: most });
  const task = await fixture.task();
  const tested = await fixture.placeOf(one);
  t.match(tested, { state: 'TESTING', place: 1, length: 2, candidateOid: /^[0-9a-f]{40}$/ });
  t.match(await fixture.placeOf(two), { state: 'WAITING', place: 2, length: 2, candidateOid: null });
  t.match(task.context, {
    event_name: 'merge_group',
    sha: tested!.candidateOid,
    ref: `refs/pull/${one}/merge`,
    event: {
      action: 'checks_requested',
      merge_group: { head_sha: tested!.candidateOid, base_sha: first, base_ref: 'refs/heads/main' },
    },
  });
  t.equal(await runner.fetch(), null, 'the second waits for the first');
  t.equal(await fixture.tip(), first, 'and the branch for the test');
  await runner.finish(task.taskId);
  await merged(fixture, one);
  t.equal(await fixture.tip(), tested!.candidateOid, 'the tested commit, bit for bit');
  const next = await fixture.task();
  t.match(next.context, { event: { merge_group: { base_sha: tested!.candidateOid } } });
  await runner.finish(next.taskId);
  await merged(fixture, two);
  t.equal(await fixture.tip(), next.context['sha']);
  t.match(await fixture.pull(two), { mergeStyle: 'SQUASH', mergedBy: bob.id, mergedOid: next.context['sha'] });
  t.same(await fixture.queue.list(viewer, at), []);
  t.match(
    await fixture.entries(one),
    [
      { kind: 'queued', authorId: viewer.id, round: 1, place: 1 },
      { kind: 'merged', authorId: null, queue: true, oid: tested!.candidateOid },
    ],
    'the server merges, so that the person who added it is told',
  );
});

t.test('what fails, changes or is taken out leaves, and the next is tested', async (t) => {
  const fixture = await openQueue(t);
  const { modules, viewer, bob, runner, first } = fixture;
  const [red, pushed, closed, left, green, last] = [
    await fixture.open('red'),
    await fixture.open('pushed'),
    await fixture.open('closed'),
    await fixture.open('left'),
    await fixture.open('green'),
    await fixture.open('last'),
  ];
  await fixture.enter(red);
  const task = await fixture.task();
  for (const number of [pushed, closed, left, green, last]) await fixture.enter(number);
  const next = await pushTo(fixture, 'pushed', { 'pushed.txt': 'otherwise\n' }, first);
  t.ok(await waitUntil(async () => (await fixture.pull(pushed)).headOid === next));
  await modules.issues.close(viewer, { ...at, number: closed }, 'not_planned');
  await fixture.queue.leave(bob, { ...at, number: left });
  t.equal(await reasonOf(fixture.queue.leave(bob, { ...at, number: left })), 'not_in_queue');
  t.equal(
    await reasonOf(fixture.queue.moveToFront(bob, { ...at, number: last })),
    'not_allowed_on_issue',
    'only administrators',
  );
  await fixture.queue.moveToFront(viewer, { ...at, number: last });
  t.match(await fixture.placeOf(last), { place: 2 });
  await runner.finish(task.taskId, 'failure');
  const second = await fixture.task();
  t.equal(second.context['ref'], `refs/pull/${last}/merge`, 'the one that was put first');
  await pushTo(fixture, 'main', { 'by-hand.txt': 'b\n' }, first);
  const again = await fixture.task();
  t.equal(again.context['ref'], `refs/pull/${last}/merge`, 'tested again on the new tip');
  t.not(again.context['sha'], second.context['sha']);
  await runner.finish(again.taskId);
  await merged(fixture, last);
  const third = await fixture.task();
  await runner.finish(third.taskId);
  await merged(fixture, green);
  t.equal(await fixture.tip(), third.context['sha']);
  t.same(await fixture.queue.list(viewer, at), []);
  const run = await fixture.entries(red);
  t.match(run, [
    { kind: 'queued' },
    { kind: 'unqueued', failed: true, reason: 'The test of the merge failed.', run: 1 },
  ]);
  t.match(await fixture.entries(pushed), [{ kind: 'queued' }, { failed: true, reason: 'A new round came.' }]);
  t.match(await fixture.entries(closed), [
    { kind: 'queued' },
    { failed: true, reason: 'The pull request was closed.' },
  ]);
  t.match(await fixture.entries(left), [{ kind: 'queued' }, { kind: 'unqueued', authorId: bob.id, failed: undefined }]);
  await fixture.enter(red);
  const fourth = await fixture.task();
  t.equal(fourth.context['ref'], `refs/pull/${red}/merge`, 'who left may enter again');
  await fixture.queue.leave(viewer, { ...at, number: red });
  await waitUntil(async () => (await fixture.ci.runs.find(fixture.found, 5)).run.status === 'cancelled');
});

t.test(
  'merge when ready waits for what is missing, and then for the queue; conflicts and time are an end',
  async (t) => {
    const fixture = await openQueue(t, { env: { SERVICE_PULLS_QUEUE_TIMEOUT: '10m' } });
    const { modules, viewer, runner, first, clock } = fixture;
    const slow = await fixture.open('slow');
    await modules.pulls.edit(viewer, { ...at, number: slow }, { isDraft: true });
    t.equal(await reasonOf(fixture.enter(slow)), 'merge_blocked');
    await modules.pulls.mergeWhenReady(viewer, { ...at, number: slow }, { style: 'merge', round: 1 });
    await modules.pulls.edit(viewer, { ...at, number: slow }, { isDraft: false });
    const task = await fixture.task();
    t.equal(task.context['ref'], `refs/pull/${slow}/merge`);
    t.equal((await fixture.pull(slow)).mergeWhenReady, null);
    const [clash] = [await fixture.open('clash')];
    await fixture.enter(clash);
    await pushTo(fixture, 'main', { 'clash.txt': 'mine\n' }, first);
    await fixture.task();
    clock.advance(11 * 60_000);
    await fixture.queue.advanceAll();
    await waitUntil(async () => (await fixture.placeOf(slow)) === null);
    t.match((await fixture.entries(slow)).at(-1), { kind: 'unqueued', reason: 'The test of the merge took too long.' });
    await waitUntil(async () => (await fixture.placeOf(clash)) === null);
    t.match((await fixture.entries(clash)).at(-1), { kind: 'unqueued', failed: true, reason: /conflict/ });
    t.equal(await runner.fetch(), null);
  },
);

t.test('a workflow that is skipped holds nothing up; a disabled account merges nothing', async (t) => {
  const fixture = await openQueue(t);
  const { modules, viewer, bob, runner } = fixture;
  const never = workflow.replace('name: Queue', 'name: Never').replace('linux\n', "linux\n    if: github.ref == 'x'\n");
  const base = await fixture.push({ '.github/workflows/never.yml': never });
  const [one, two] = [await fixture.open('one', base), await fixture.open('two', base)];
  await fixture.enter(one);
  const task = await fixture.task();
  const skipped = "SELECT workflow_name AS name FROM ci_runs WHERE sha = ? AND status = 'skipped'";
  const [row] = await fixture.db.read.query(skipped, [task.context['sha']]);
  t.equal(row.name, 'Never');
  await runner.finish(task.taskId);
  await merged(fixture, one);
  t.equal(await fixture.tip(), task.context['sha']);

  await modules.repositories.rules.add(viewer, at.owner, at.name, { pattern: 'plain', target: 'BRANCH' });
  await pushTo(fixture, 'plain', { 'plain.txt': 'p\n' }, base);
  const { issue } = await modules.pulls.open(viewer, at, { title: 'Plain', head: 'two', base: 'plain' });
  t.equal(await reasonOf(fixture.enter(issue.number)), 'no_queue', 'a rule without a queue');

  await fixture.enter(two, bob);
  const second = await fixture.task();
  await modules.accounts.setDisabled(bob.id, true);
  await runner.finish(second.taskId);
  await waitUntil(async () => (await fixture.placeOf(two)) === null);
  t.equal(await fixture.stateOf(two), 'OPEN');
  t.match((await fixture.entries(two)).at(-1), { kind: 'unqueued', reason: 'The account that added it is gone.' });
});

t.test('a candidate waits for a required check that no run reports', async (t) => {
  const fixture = await openQueue(t, { env: { SERVICE_PULLS_QUEUE_TIMEOUT: '10m' } });
  const { modules, viewer, runner, clock, found } = fixture;
  const context = 'Signed off (merge_group)';
  await modules.db.write(({ manager }) =>
    manager.query("UPDATE branch_rules SET checks = ? WHERE pattern = 'main'", [JSON.stringify([context])]),
  );
  const one = await fixture.open('one');
  await fixture.enter(one);
  await runner.finish((await fixture.task()).taskId);
  clock.advance(11 * 60_000);
  await fixture.queue.advanceAll();
  await waitUntil(async () => (await fixture.placeOf(one)) === null);
  t.equal(await fixture.stateOf(one), 'OPEN');
  t.match((await fixture.entries(one)).at(-1), { kind: 'unqueued', reason: 'The test of the merge took too long.' });

  await fixture.enter(one);
  const { taskId, context: tested } = await fixture.task();
  const sha = String(tested['sha']);
  await modules.repositories.statuses.report(viewer, at.owner, at.name, { sha, context, state: 'success' });
  await runner.finish(taskId);
  await merged(fixture, one);
  t.equal(await fixture.tip(), sha);
  t.match(await modules.repositories.statuses.ofCommit(fixture.db.read, found.repository.id, sha), [
    {},
    { context, state: 'success' },
  ]);
});

t.test('a candidate whose run was deleted is tested again; the queue of an archived repository rests', async (t) => {
  const fixture = await openQueue(t);
  const { modules, viewer, runner, ci, found } = fixture;
  const one = await fixture.open('one');
  await fixture.enter(one);
  const { sha } = (await fixture.task()).context as { sha: string };
  const [run] = await fixture.db.read.query("SELECT number FROM ci_runs WHERE event = 'merge_group'");
  await ci.runs.cancel(viewer, found, run.number, { force: true });
  await modules.db.write(({ manager }) => manager.query("DELETE FROM ci_runs WHERE event = 'merge_group'"));
  await modules.db.write(({ manager }) => manager.query('DELETE FROM commit_statuses WHERE sha = ?', [sha]));
  if ((await fixture.placeOf(one)) === null) await fixture.enter(one);
  await fixture.queue.advanceAll();
  const { taskId } = await fixture.task();
  t.equal(await fixture.tip(), fixture.first, 'nothing untested is merged');
  await modules.repositories.setArchived(viewer, at.owner, at.name, true);
  await runner.finish(taskId);
  await fixture.queue.advanceAll();
  await announced(fixture);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const rows = 'SELECT count(*) AS n FROM pull_queue';
  t.equal(Number((await fixture.db.read.query(rows))[0].n), 1, 'it keeps its place');
  t.equal(await fixture.tip(), fixture.first);
  await modules.repositories.setArchived(viewer, at.owner, at.name, false);
  await fixture.queue.advanceAll();
  await merged(fixture, one);
});

t.test('a start takes the queue up from its rows', async (t) => {
  const fixture = await openQueue(t);
  const one = await fixture.open('one');
  await fixture.enter(one);
  const task = await fixture.task();
  const { sha } = task.context as { sha: string };
  await fixture.close();
  const again = await openCi(t, { folder: fixture.folder, clock: fixture.clock });
  await again.modules.pulls.queue.advanceAll();
  t.match(await again.modules.pulls.queue.placeOf(again.viewer, { ...at, number: one }), { candidateOid: sha });
  await again.ci.runs.cancel(again.viewer, again.found, 1, { force: true });
  const state = async () => (await again.modules.pulls.queue.placeOf(again.viewer, { ...at, number: one })) === null;
  await waitUntil(state);
  t.equal((await again.modules.pulls.find(again.viewer, { ...at, number: one })).issue.state, 'OPEN');
});
