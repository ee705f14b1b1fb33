// Workflows of pull requests by people who may not write, and of forks: what waits for whom, what runs, with what.
import t from 'tap';
import { personViewer } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { concurrencyGroupOf } from '../../src/ci/runs/claim-concurrency-group.ts';
import { openCi, reasonOf } from './ci-fixture.ts';
import { announced, pushTo } from './pulls-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const at = { owner: 'alice', name: 'work' };
const file = (more = '') =>
  `name: Checks\non: [push, pull_request]\n${more}jobs:\n  test:\n    runs-on: linux\n    steps: [{ run: ls }]\n`;
const notAllowed = 'not_allowed_on_issue';
const check = 'Checks / test (pull_request)';

interface RunFacts {
  number: number;
  status: string;
  approval: string | null;
  trusted: number;
  reason: string | null;
}

/** A public repository of alice with a workflow; bob has a fork, and may only read. */
async function openWorld(t: Owner) {
  const fixture = await openCi(t);
  const { modules, viewer, found } = fixture;
  const { accounts, repositories, db, pulls, issues, ci } = modules;
  const first = await fixture.push({ '.github/workflows/checks.yml': file(), 'a.txt': 'a\n' });
  await pushTo(fixture, 'main', { 'a.txt': 'b\n' }, first);
  await repositories.changeVisibility(viewer, 'alice', 'work', 'PUBLIC');
  const person = async (username: string): Promise<PersonViewer> => {
    const { id } = await accounts.addPerson({ username });
    return { ...personViewer(id, 'admin'), username };
  };
  const bob = await person('bob');
  await repositories.forks.create(bob, 'alice', 'work', {});
  const fork = { ...fixture, viewer: bob, found: await repositories.find(bob, 'bob', 'work') };
  /** Of one pull request, or of all, the oldest first. */
  const runs = async (number?: number): Promise<RunFacts[]> => {
    await announced(fixture);
    return db.read.query(
      `SELECT number, status, approval, is_trusted AS trusted, reason FROM ci_runs WHERE ref LIKE ? ORDER BY number`,
      [`refs/pull/${number ?? '%'}/merge`],
    );
  };
  return {
    ...fixture,
    fork,
    bob,
    carol: await person('carol'),
    first,
    runs,
    newest: async () => (await runs()).at(-1)!,
    /** Bob's branch, and a pull request of it. */
    async contribute(branch: string, files: Record<string, string>, base?: string) {
      const head = await pushTo(fork, branch, files, first);
      const asked = { title: branch, head: `bob:${branch}`, ...(base === undefined ? {} : { base }) };
      const { issue } = await pulls.open(bob, at, asked);
      await announced(fixture);
      return { head, number: issue.number };
    },
    /** The fork has runs of its own. */
    runnerHere: () => fixture.addRunner(['linux'], { scope: { kind: 'repository', id: found.repository.id } }),
    statuses: (sha: string) => repositories.statuses.ofCommit(db.read, found.repository.id, sha),
    approvalFrom: (approval: 'everyone' | 'first_time') => issues.changeSettings(viewer, at, { ciApproval: approval }),
    async quiet() {
      await announced(fixture);
      const open: { number: number }[] = await db.read.query(
        'SELECT number FROM ci_runs WHERE finished_at IS NULL AND repository_id = ?',
        [found.repository.id],
      );
      for (const { number } of open) await ci.runs.cancel(viewer, found, number, { force: true }).catch(() => {});
    },
  };
}

const deploying = `name: Ship
on: pull_request
jobs:
  reviewed: { runs-on: linux, environment: reviewed, steps: [{ run: ls }] }
  timed: { runs-on: linux, environment: TIMED, steps: [{ run: ls }] }
  branched: { runs-on: linux, environment: branched, steps: [{ run: ls }] }
  open: { runs-on: linux, environment: open, steps: [{ run: ls }] }
  fresh: { runs-on: linux, environment: "pr-\${{ github.head_ref }}", steps: [{ run: ls }] }
`;

/** One server for all; each test ends the runs that others have left. */
let opened: ReturnType<typeof openWorld> | null = null;
async function openQuiet() {
  const fixture = await (opened ??= openWorld(t));
  await fixture.quiet();
  return fixture;
}

t.test(
  'a run of an outside contributor waits, is approved by a person with write, and gets neither secrets nor writing',
  async (t) => {
    const fixture = await openQuiet();
    const { ci, modules, viewer, bob, found } = fixture;
    await ci.secrets.set({ kind: 'instance' }, { name: 'WIDE', value: 'widewidewide' });
    await ci.secrets.set({ kind: 'repository', id: found.repository.id }, { name: 'KEY', value: 'hunter2hunter2' });
    await ci.variables.set({ kind: 'instance' }, { name: 'COLOUR', value: 'blue' });
    const { head, number } = await fixture.contribute('wait', { 'wait.txt': 'b\n' });
    const waiting = await fixture.newest();
    t.match(waiting, { status: 'blocked', approval: 'waiting', trusted: 0 });
    t.match(await fixture.statuses(head), [{ context: check, state: 'pending', description: 'Waiting for approval' }]);
    const runner = await fixture.runnerHere();
    t.equal(await runner.fetch(), null, 'no runner gets it');
    await ci.advanceRuns();
    await ci.sweep();
    t.equal(await runner.fetch(), null, 'nor after a restart, nor by the sweep');
    t.match(await ci.tasks.explainQueue(found), [{ reason: 'It waits for approval by a person with write access.' }]);

    const all = { number, headOid: head };
    t.equal(await reasonOf(ci.pulls.approveAll(bob, found, all)), notAllowed, 'not by its author');
    t.equal(await reasonOf(ci.pulls.approve(bob, found, waiting.number)), notAllowed);
    await modules.repositories.collaborators.add(viewer, 'alice', 'work', { username: 'carol', role: 'read' });
    t.equal(await reasonOf(ci.pulls.approveAll(fixture.carol, found, all)), notAllowed, 'not by a reader');
    await modules.repositories.collaborators.remove(viewer, 'alice', 'work', 'carol');
    const token = { ...viewer, via: 'token', scope: 'read' } as const;
    t.equal(await reasonOf(ci.pulls.approve(token, found, waiting.number)), 'token_may_not_write');
    t.equal(await reasonOf(ci.runs.rerun(viewer, found, waiting.number, 'failed')), 'run_not_approved');
    const { rows } = await fixture.state(waiting.number);
    t.equal(await reasonOf(ci.runs.rerun(viewer, found, waiting.number, { jobId: rows[0]!.id })), 'run_not_approved');

    await ci.pulls.approveAll(viewer, found, all);
    t.match(await ci.runs.find(found, waiting.number), { run: { approval: 'approved', approvedBy: viewer.id } });
    const task = (await runner.fetch())!;
    t.same([...task.secrets.keys()].sort(), ['FORGEJO_TOKEN', 'GITEA_TOKEN', 'GITHUB_TOKEN']);
    t.same([...task.variables], [['COLOUR', 'blue']], 'variables are no secrets');
    t.notMatch(JSON.stringify([task, [...task.secrets]]), /hunter2|widewide/);
    const asTask = (await ci.tasks.viewerOfToken(String(task.context.token)))!;
    t.match(asTask, { kind: 'task', scope: 'read', repositoryId: found.repository.id });
    t.equal(await reasonOf(ci.pulls.approve(asTask, found, waiting.number)), 'token_may_not_write');
    // What runners keep caches apart by: an event and a ref that no branch has.
    t.match(task.context, { event_name: 'pull_request', ref: `refs/pull/${number}/merge`, head_ref: 'wait' });
    await runner.finish(task.taskId);
    t.match(await fixture.statuses(head), [{ context: check, state: 'success' }]);

    await ci.runs.rerun(viewer, found, waiting.number, 'all');
    const again = (await runner.fetch())!;
    t.same(
      [...again.secrets.keys()].sort(),
      ['FORGEJO_TOKEN', 'GITEA_TOKEN', 'GITHUB_TOKEN'],
      'nor when it runs again',
    );
    await runner.finish(again.taskId);

    // The same head is let run once.
    await modules.issues.close(bob, { ...at, number }, 'not_planned');
    await modules.issues.reopen(bob, { ...at, number });
    t.match(await fixture.newest(), { status: 'waiting', approval: null, trusted: 0 });
    t.match(
      fixture.log.find(({ event }) => event === 'ci.run_approved'),
      { by: viewer.id },
    );
  },
);

t.test('a token of such a task writes nothing', async (t) => {
  const fixture = await openQuiet();
  const { ci, modules, viewer, found } = fixture;
  const { head, number } = await fixture.contribute('token', {
    '.github/workflows/checks.yml': file('permissions: write-all\n'),
  });
  await ci.pulls.approveAll(viewer, found, { number, headOid: head });
  const runner = await fixture.runnerHere();
  const task = (await runner.fetch())!;
  const asTask = (await ci.tasks.viewerOfToken(String(task.context.token)))!;
  t.equal(asTask.scope, 'read', 'whatever the workflow asks for');
  const { pulls, issues, repositories } = modules;
  const issueAt = { ...at, number };
  const acts: Record<string, () => Promise<unknown>> = {
    comment: () => issues.comment(asTask, issueAt, { body: 'Hello' }),
    issue: () => issues.open(asTask, at, { title: 'Hello' }),
    close: () => issues.close(asTask, issueAt, 'completed'),
    review: () => pulls.reviews.submit(asTask, issueAt, { verdict: 'APPROVE', body: '', round: 1 }),
    merge: () => pulls.merge(asTask, issueAt, { style: 'merge', round: 1 }),
    push: () => repositories.openForPush(asTask, 'alice', 'work'),
    settings: () => issues.changeSettings(asTask, at, { ciApproval: 'first_time' }),
    approve: () => ci.pulls.approveAll(asTask, found, { number, headOid: head }),
    cancel: async () => ci.runs.cancel(asTask, await repositories.find(asTask, 'alice', 'work'), 2, { force: true }),
  };
  const reasons = await Promise.all(Object.entries(acts).map(async ([what, act]) => [what, await reasonOf(act())]));
  t.same(Object.fromEntries(reasons), {
    comment: 'token_may_not_write',
    issue: 'token_may_not_write',
    close: 'token_may_not_write',
    review: 'token_may_not_write',
    merge: 'token_may_not_write',
    push: 'read_only_access',
    settings: 'token_may_not_write',
    approve: 'token_may_not_write',
    cancel: 'repository_not_found',
  });
});

t.test('who has had a pull request merged need not wait where the setting says so, but for workflows', async (t) => {
  const fixture = await openQuiet();
  const { modules, viewer } = fixture;
  await fixture.approvalFrom('first_time');
  const one = await fixture.contribute('one', { 'one.txt': '1\n' });
  t.match(await fixture.newest(), { approval: 'waiting' }, 'nothing of bob was merged');
  await modules.pulls.merge(viewer, { ...at, number: one.number }, { style: 'merge', round: 1 });
  await fixture.contribute('two', { 'two.txt': '2\n' });
  t.match(await fixture.newest(), { status: 'waiting', approval: null, trusted: 0 });
  const ways = {
    'its workflow': { '.github/workflows/checks.yml': `${file()}# changed\n` },
    'an action': { '.github/actions/set-up/action.yml': 'name: Set up\n' },
    'a folder that goes first': { '.hearth/workflows/checks.yml': file() },
  };
  for (const [what, files] of Object.entries(ways)) {
    await fixture.contribute(what.replaceAll(' ', '-'), files as Record<string, string>);
    t.match(await fixture.newest(), { status: 'blocked', approval: 'waiting', trusted: 0 }, what);
  }
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, nth) => [`many/${nth}.txt`, '']));
  await fixture.contribute('many', many(3_000));
  t.match(await fixture.newest(), { status: 'waiting', approval: null }, 'as many as are listed');
  await fixture.contribute('too-many', many(3_001));
  t.match(await fixture.newest(), { status: 'blocked', approval: 'waiting' }, 'one of the rest may be a workflow');
  await fixture.approvalFrom('everyone');
  await fixture.contribute('seven', { 'seven.txt': '7\n' });
  t.match(await fixture.newest(), { approval: 'waiting' });
  t.equal(
    await reasonOf(modules.issues.changeSettings(viewer, at, { ciApproval: 'nobody' as 'everyone' })),
    'invalid_ci_approval',
  );
});

t.test('a new round replaces what waits; closing and merging end it', async (t) => {
  const fixture = await openQuiet();
  const { ci, modules, viewer, bob, fork, found, first } = fixture;
  const { head, number } = await fixture.contribute('round', { 'round.txt': 'b\n' });
  const before = await fixture.newest();
  const second = await pushTo(fork, 'round', { 'round.txt': 'c\n' }, head);
  t.match(await fixture.runs(number), [
    { number: before.number, status: 'cancelled', approval: 'waiting', reason: 'The pull request has new commits.' },
    { status: 'blocked', approval: 'waiting' },
  ]);
  t.equal(await reasonOf(ci.pulls.approveAll(viewer, found, { number, headOid: head })), 'pull_updated');
  t.equal(await reasonOf(ci.pulls.approve(viewer, found, before.number)), 'pull_updated');
  t.equal(await reasonOf(ci.runs.rerun(viewer, found, before.number, 'all')), 'run_not_approved');

  // An approval does not hold for the next round.
  await ci.pulls.approveAll(viewer, found, { number, headOid: second });
  t.equal(
    await reasonOf(ci.pulls.approveAll(viewer, found, { number, headOid: second })),
    'run_not_waiting',
    'a second press of the button',
  );
  const third = await pushTo(fork, 'round', { 'round.txt': 'd\n' }, second);
  t.match(await fixture.newest(), { status: 'blocked', approval: 'waiting' });

  // Conflicts: nothing takes the place of what is replaced.
  await pushTo(fixture, 'main', { 'round.txt': 'other\n' }, first);
  await pushTo(fork, 'round', { 'round.txt': 'e\n' }, third);
  const conflicting = await fixture.runs(number);
  t.equal(conflicting.length, 3);
  t.match(conflicting[2], { status: 'cancelled' });
  t.ok(await ci.pulls.hasWorkflows(found, 'main'));
  t.notOk(await ci.pulls.hasWorkflows(found, 'gone'));

  const other = await fixture.contribute('other', { 'c.txt': 'c\n' });
  await modules.issues.close(bob, { ...at, number: other.number }, 'not_planned');
  t.match(await fixture.newest(), { status: 'cancelled', reason: 'The pull request was closed.' });
  t.match(await fixture.statuses(other.head), [{ state: 'error', description: 'The pull request was closed.' }]);
  t.equal(
    await reasonOf(ci.pulls.approveAll(viewer, found, { number: other.number, headOid: other.head })),
    'pull_closed',
  );
  await modules.issues.reopen(bob, { ...at, number: other.number });
  t.match(await fixture.newest(), { status: 'blocked', approval: 'waiting' });
  await modules.pulls.merge(viewer, { ...at, number: other.number }, { style: 'merge', round: 1 });
  t.match(await fixture.newest(), { status: 'cancelled', reason: 'The pull request was merged.' });
});

t.test('races: a round that is not announced yet, a right that is lost', async (t) => {
  const fixture = await openQuiet();
  const { ci, modules, viewer, carol, db, found } = fixture;
  const { head, number } = await fixture.contribute('race', { 'race.txt': 'b\n' });
  const waiting = await fixture.newest();
  const moved = 'f'.repeat(40);
  const setHead = (oid: string) =>
    db.write(
      ({ manager }) =>
        manager.query('UPDATE pulls SET head_oid = ? WHERE issue_id = (SELECT id FROM issues WHERE number = ?)', [
          oid,
          number,
        ]) as Promise<unknown>,
    );
  await setHead(moved);
  t.equal(await reasonOf(ci.pulls.approve(viewer, found, waiting.number)), 'pull_updated');
  t.equal(await reasonOf(ci.pulls.approveAll(viewer, found, { number, headOid: head })), 'pull_updated');
  t.equal(
    await reasonOf(ci.pulls.approveAll(viewer, found, { number, headOid: moved })),
    'pull_updated',
    'the head was seen, its runs are not there yet',
  );
  await setHead(head);

  const { collaborators } = modules.repositories;
  await collaborators.add(viewer, 'alice', 'work', { username: 'carol', role: 'write' });
  const seenByCarol = await modules.repositories.find(carol, 'alice', 'work');
  await collaborators.remove(viewer, 'alice', 'work', 'carol');
  t.equal(await reasonOf(ci.pulls.approve(carol, seenByCarol, waiting.number)), notAllowed, 'judged in the write');
  await collaborators.add(viewer, 'alice', 'work', { username: 'carol', role: 'write' });
  await modules.repositories.setArchived(viewer, 'alice', 'work', true);
  t.equal(await reasonOf(ci.pulls.approve(carol, found, waiting.number)), 'repository_archived');
  await modules.repositories.setArchived(viewer, 'alice', 'work', false);
  const both = await Promise.all([1, 2].map(() => reasonOf(ci.pulls.approve(carol, found, waiting.number))));
  t.same(both.sort(), ['nothing', 'run_not_waiting'], 'two at once');
});

t.test('forks of writers are restricted, and do not wait; a writer who has become a reader waits', async (t) => {
  const fixture = await openQuiet();
  const { modules, viewer, fork } = fixture;
  await modules.repositories.collaborators.add(viewer, 'alice', 'work', { username: 'bob', role: 'write' });
  const { head } = await fixture.contribute('writer', { 'writer.txt': 'b\n' });
  t.match(await fixture.newest(), { status: 'waiting', approval: null, trusted: 0 });
  await modules.repositories.collaborators.remove(viewer, 'alice', 'work', 'bob');
  await pushTo(fork, 'writer', { 'writer.txt': 'c\n' }, head);
  t.match(await fixture.newest(), { status: 'blocked', approval: 'waiting', trusted: 0 });
});

t.test('names of concurrency groups ignore case, and those of code that is not trusted are of its ref', (t) => {
  const trusted = (group: string) => concurrencyGroupOf({ isTrusted: true, ref: 'refs/heads/main' }, group);
  const untrusted = (number: number, group: string) =>
    concurrencyGroupOf({ isTrusted: false, ref: `refs/pull/${number}/merge` }, group);
  t.equal(trusted('Deploy'), trusted('dEPLOY'));
  t.equal(untrusted(1, 'Deploy'), untrusted(1, 'deploy'));
  const apart = [trusted('deploy'), trusted('deploy 2'), untrusted(1, 'deploy'), untrusted(2, 'deploy')];
  t.equal(new Set(apart).size, apart.length);
  t.end();
});

t.test('a concurrency group of such a run is its own: it cancels nothing of a branch', async (t) => {
  const fixture = await openQuiet();
  const { ci, viewer, found, first } = fixture;
  const group = "concurrency:\n  group: ${{ github.head_ref || 'main' }}\n  cancel-in-progress: true\n";
  await pushTo(fixture, 'main', { '.github/workflows/checks.yml': file(group) }, first);
  await announced(fixture);
  const runner = await fixture.runnerHere();
  const pushed = async () => (await ci.runs.list(found, { event: 'push' }, { limit: 1 })).runs[0]!;
  t.equal((await pushed()).concurrencyGroup, 'main');
  // The branch has the name of the group; its own workflow and that of the job name it, too.
  const { head, number } = await fixture.contribute('main', { 'group.txt': 'b\n' });
  t.match(await fixture.newest(), { approval: 'waiting' });
  t.not((await pushed()).status, 'cancelled', 'one that waits claims nothing');
  await ci.pulls.approveAll(viewer, found, { number, headOid: head });
  t.not((await pushed()).status, 'cancelled');
  t.match((await ci.runs.find(found, (await fixture.newest()).number)).run, {
    concurrencyGroup: `untrusted refs/pull/${number}/merge: main`,
    concurrencyState: 'holding',
  });
  t.ok(await runner.fetch());
});
t.test('a runner for trusted code takes none of it; the queue says why, and the sweep ends only that', async (t) => {
  const fixture = await openQuiet();
  const { ci, viewer, found, clock } = fixture;
  const runner = await fixture.runnerHere();
  await ci.runners.setTrustedOnly(null, runner.id, true);
  for (const { id } of await ci.runners.list({ kind: 'repository', id: found.repository.id }))
    if (id !== runner.id) await ci.runners.remove(null, id);
  const { head, number } = await fixture.contribute('trusted', { 'trusted.txt': 'b\n' });
  await ci.pulls.approveAll(viewer, found, { number, headOid: head });
  t.equal(await runner.fetch(), null);
  t.match(await ci.tasks.explainQueue(found), [
    { reason: 'The runners for linux take no code of people without write access.' },
  ]);
  await pushTo(fixture, 'branch', { 'own.txt': 'own\n' }, fixture.first);
  await announced(fixture);
  const own = (await runner.fetch())!;
  t.equal(own.context['event_name'], 'push');
  await runner.finish(own.taskId);
  await pushTo(fixture, 'branch', { 'own.txt': 'again\n' }, fixture.first);
  await announced(fixture);
  clock.advance(2 * 60 * 60_000);
  await ci.sweep();
  t.match(await fixture.newest(), { status: 'failure' });
  t.match(
    (await fixture.state((await fixture.newest()).number)).rows[0]!.reason,
    'No runner for code of people without write access has the labels linux.',
  );
  t.match((await ci.runs.list(found, { event: 'push' }, { limit: 1 })).runs[0], { status: 'waiting' });
  t.equal((await runner.fetch())!.context['event_name'], 'push');
});

t.test('a required check is not fulfilled by what waits, and is by what was approved', async (t) => {
  const fixture = await openQuiet();
  const { ci, modules, viewer, db, found } = fixture;
  await modules.repositories.rules.add(viewer, 'alice', 'work', { pattern: 'main', target: 'BRANCH' });
  await db.write(({ manager }) => manager.query('UPDATE branch_rules SET checks = ?', [JSON.stringify([check])]));
  const { head, number } = await fixture.contribute('check', { '.github/workflows/checks.yml': `${file()}# easier\n` });
  const merge = () => modules.pulls.merge(viewer, { ...at, number }, { style: 'merge', round: 1 });
  t.equal(await reasonOf(merge()), 'merge_blocked');
  await ci.pulls.approveAll(viewer, found, { number, headOid: head });
  const runner = await fixture.runnerHere();
  await runner.finish((await runner.fetch())!.taskId);
  await merge();
  t.equal((await modules.pulls.find(viewer, { ...at, number })).issue.state, 'MERGED');
});

t.test('who may not write leaves no check out by changing the filters of its workflow', async () => {
  const fixture = await openQuiet();
  const skipped = async (number: number): Promise<string[]> => {
    const rows = await fixture.modules.db.read.query(
      'SELECT s.contexts FROM pull_skipped_checks s JOIN issues i ON i.id = s.issue_id WHERE i.number = ?',
      [number],
    );
    return rows.flatMap(({ contexts }: { contexts: string }) => JSON.parse(contexts) as string[]);
  };
  const filtered = file().replace('[push, pull_request]', '{push: , pull_request: {paths: ["src/**"]}}');
  t.match(filtered, /paths/);
  const { number } = await fixture.contribute('sneaky', { '.github/workflows/checks.yml': filtered });
  t.strictSame(await skipped(number), []);
  // The same file of the base branch leaves it out.
  const tip = await pushTo(fixture, 'filtered', { '.github/workflows/checks.yml': filtered }, fixture.first);
  t.type(tip, 'string');
  const honest = await fixture.contribute(
    'honest',
    { '.github/workflows/checks.yml': filtered, 'x.txt': 'x' },
    'filtered',
  );
  t.strictSame(await skipped(honest.number), [check]);
});

t.test('a pull request that waits for a member starts nothing before it is let in', async (t) => {
  const fixture = await openQuiet();
  const { modules, viewer } = fixture;
  await modules.issues.changeSettings(viewer, at, { holdsNewcomers: true });
  const { id } = await modules.accounts.addPerson({ username: 'dora' });
  const dora = { ...personViewer(id, 'admin'), username: 'dora' };
  await modules.repositories.forks.create(dora, 'alice', 'work', {});
  const fork = { ...fixture, viewer: dora, found: await modules.repositories.find(dora, 'dora', 'work') };
  const opened: number[] = [];
  for (const branch of ['spam', 'more']) {
    await pushTo(fork, branch, { [`${branch}.txt`]: 'b\n' }, fixture.first);
    opened.push((await modules.pulls.open(dora, at, { title: branch, head: `dora:${branch}` })).issue.number);
  }
  // A push to it waits for nobody, and is announced.
  await pushTo(fork, 'more', { 'more.txt': 'c\n' }, fixture.first);
  const more = { ...at, number: opened[1]! };
  await waitUntil(async () => (await modules.pulls.find(dora, more)).pull.lastRound === 2);
  const counts = async () => {
    const found = [];
    for (const number of opened) found.push((await fixture.runs(number)).length);
    return found;
  };
  t.strictSame(await counts(), [0, 0]);
  await modules.issues.admit(viewer, at, id);
  t.strictSame((await counts())[0], 1, 'what is let in is tested');
  await modules.issues.changeSettings(viewer, at, { holdsNewcomers: false });
});

t.test('a pull request of a fork enters no protected environment, and gets no value of any', async (t) => {
  const fixture = await openQuiet();
  const { ci, viewer, found } = fixture;
  const { environments } = ci;
  await environments.set(viewer, found, 'reviewed', { reviewers: ['alice'] });
  await environments.set(viewer, found, 'timed', { waitMinutes: 1 });
  await environments.set(viewer, found, 'branched', { refPolicy: 'custom', refs: [{ kind: 'branch', pattern: '*' }] });
  await environments.set(viewer, found, 'open', {});
  for (const name of ['reviewed', 'timed', 'branched', 'open']) {
    await environments.secrets.set(found, name, { name: 'KEY', value: `secret of ${name}` });
    await environments.variables.set(found, name, { name: 'PLACE', value: `place of ${name}` });
  }
  const asked: string[] = [];
  ci.onReviewRequest(async (_, { environment }) => void asked.push(environment));
  const before = (await environments.list(found)).length;
  const { head, number } = await fixture.contribute('ship', { '.github/workflows/ship.yml': deploying });
  await ci.pulls.approveAll(viewer, found, { number, headOid: head });
  const { runs } = await ci.runs.list(found, {}, { limit: 20 });
  const { number: run } = runs.find(({ workflowName }) => workflowName === 'Ship')!;
  const check = async () => {
    const { jobs, rows } = await fixture.state(run);
    t.strictSame(jobs, {
      reviewed: 'failure',
      timed: 'failure',
      branched: 'failure',
      open: 'waiting',
      fresh: 'waiting',
    });
    t.match(rows[0]!.reason, /reviewed is protected: code of people without write access/);
    t.ok(rows.every(({ environmentId, deploymentId }) => environmentId === null && deploymentId === null));
  };
  await check();
  t.equal(
    await reasonOf(environments.review(viewer, found, run, { verdict: 'approved', environments: null, comment: '' })),
    'deployment_not_waiting',
    'nobody can approve it',
  );
  const runner = await fixture.runnerHere();
  for (let task = await runner.fetch(); task !== null; task = await runner.fetch()) {
    t.notMatch(JSON.stringify([task, [...task.secrets], [...task.variables]]), /(secret|place) of/);
    await runner.finish(task.taskId);
  }
  await ci.runs.rerun(viewer, found, run, 'all');
  await check();
  t.equal((await environments.list(found)).length, before, 'no environment was made');
  t.equal((await environments.deployments.list(found, {}, { limit: 5, skip: 0 })).total, 0);
  t.strictSame(asked, []);
});
