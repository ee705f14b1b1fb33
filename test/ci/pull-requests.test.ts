// Workflows with `on: pull_request`: what starts them, what they test, and where their statuses show.
import t from 'tap';
import { runGit } from '../fixtures/git-repositories.ts';
import { openCi } from './ci-fixture.ts';
import type { CiFixture } from './ci-fixture.ts';
import { announced, pushTo } from './pulls-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const workflow = (on: string) =>
  `name: Checks\non:\n${on}\njobs:\n  test:\n    runs-on: linux\n    steps: [{ run: ls }]\n`;
const usual = workflow('  pull_request:\n');
const at = { owner: 'alice', name: 'work' };

/** Runs of pull requests, the oldest first. */
const runsOf = async ({
  modules: { db },
}: CiFixture): Promise<{ number: number; event: string; sha: string; ref: string }[]> =>
  db.read.query("SELECT number, event, sha, ref, is_trusted FROM ci_runs WHERE event = 'pull_request' ORDER BY number");

const runCount = (fixture: CiFixture, count: number) =>
  waitUntil(async () => {
    const runs = await runsOf(fixture);
    return runs.length >= count ? runs : null;
  });

t.test('a pull request is tested as it would be merged; its statuses show at the head', async (t) => {
  const fixture = await openCi(t);
  const { modules, found, viewer } = fixture;
  const file = `${usual}    permissions: { id-token: write }\n`;
  const first = await fixture.push({ '.github/workflows/checks.yml': file, 'a.txt': 'a\n' });
  const head = await pushTo(fixture, 'topic', { 'b.txt': 'b\n' }, first);
  const base = await pushTo(fixture, 'main', { 'c.txt': 'c\n' }, first);
  const { issue } = await modules.pulls.open(viewer, at, { title: 'Add b', body: 'Please.', head: 'topic' });
  const [run] = await runCount(fixture, 1);
  t.match(run, { event: 'pull_request', ref: 'refs/pull/1/merge', is_trusted: 1 });
  const parents = (await runGit(['rev-list', '--parents', '-1', run!.sha], { cwd: found.path })).trim().split(' ');
  t.same(parents, [run!.sha, base, head]);
  t.equal((await modules.git.refs.list(found.path)).get('refs/pull/1/merge'), run!.sha);
  const statuses = () => modules.repositories.statuses.ofCommit(modules.db.read, found.repository.id, head);
  t.match(await statuses(), [{ context: 'Checks / test (pull_request)', state: 'pending' }]);
  t.same(await modules.repositories.statuses.ofCommit(modules.db.read, found.repository.id, run!.sha), []);

  const runner = await fixture.addRunner(['linux']);
  const task = await runner.fetch();
  t.match(task?.context, {
    event_name: 'pull_request',
    sha: run!.sha,
    ref: 'refs/pull/1/merge',
    ref_name: '1/merge',
    head_ref: 'topic',
    base_ref: 'main',
    event: {
      action: 'opened',
      number: 1,
      pull_request: {
        title: 'Add b',
        body: 'Please.',
        draft: false,
        user: { login: 'alice' },
        merge_commit_sha: run!.sha,
        head: { ref: 'topic', sha: head },
        base: { ref: 'main', sha: base },
        html_url: 'https://git.example.org/repos/alice/work/pulls/1',
      },
    },
  });
  const token = await modules.ci.identity.token(String(task!.context['gitea_runtime_token']), null);
  t.match(
    JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()),
    { sub: 'repo:alice/work:pull_request', ref: 'refs/pull/1/merge', event_name: 'pull_request' },
    'who trusts the subject of a branch does not trust this',
  );
  await runner.finish(task!.taskId);
  t.match(await statuses(), [{ state: 'success' }]);

  const next = await pushTo(fixture, 'topic', { 'b.txt': 'b2\n' }, head);
  const runs = await runCount(fixture, 2);
  t.match(runs[1], { ref: 'refs/pull/1/merge' });
  t.match(await modules.repositories.statuses.ofCommit(modules.db.read, found.repository.id, next), [
    { context: 'Checks / test (pull_request)', state: 'pending' },
  ]);
  const { run: second } = await modules.ci.runs.find(found, runs[1]!.number);
  t.match(second.eventPayload, { action: 'synchronize', before: head, after: next });

  await modules.issues.close(viewer, { ...at, number: issue.number }, 'not_planned');
  await modules.issues.reopen(viewer, { ...at, number: issue.number });
  const third = (await runCount(fixture, 3))[2]!;
  t.match((await modules.ci.runs.find(found, third.number)).run.eventPayload, { action: 'reopened' });
});

t.test('types, branches and paths decide; conflicts start nothing', async (t) => {
  const fixture = await openCi(t);
  const { modules, viewer } = fixture;
  const first = await fixture.push({
    '.github/workflows/ready.yml': workflow('  pull_request:\n    types: [ready_for_review]\n').replace(
      'Checks',
      'Ready',
    ),
    '.github/workflows/docs.yml': workflow('  pull_request:\n    paths: [docs/**]\n').replace('Checks', 'Docs'),
    '.github/workflows/release.yml': workflow('  pull_request:\n    branches: [release/**]\n').replace(
      'Checks',
      'Release',
    ),
    '.github/workflows/target.yml': workflow('  pull_request_target:\n').replace('Checks', 'Target'),
    'a.txt': 'a\n',
  });
  const names = async () => {
    await announced(fixture);
    const rows: { name: string }[] = await modules.db.read.query(
      "SELECT workflow_name AS name FROM ci_runs WHERE event <> 'push' ORDER BY number",
    );
    return rows.map(({ name }) => name);
  };
  await pushTo(fixture, 'plain', { 'x.txt': 'x\n' }, first);
  await modules.pulls.open(viewer, at, { title: 'Plain', head: 'plain', isDraft: true });
  t.same(await names(), []);
  await modules.pulls.edit(viewer, { ...at, number: 1 }, { isDraft: false });
  t.same(await names(), ['Ready']);
  await pushTo(fixture, 'docs', { 'docs/one.md': '1\n' }, first);
  await modules.pulls.open(viewer, at, { title: 'Docs', head: 'docs' });
  t.same(await names(), ['Ready', 'Docs']);

  await pushTo(fixture, 'release/1', { 'r.txt': 'r\n' }, first);
  await pushTo(fixture, 'fix', { 'y.txt': 'y\n' }, first);
  await modules.pulls.open(viewer, at, { title: 'Fix', head: 'fix', base: 'release/1' });
  t.same(await names(), ['Ready', 'Docs', 'Release']);

  await pushTo(fixture, 'left', { 'docs/same.md': 'left\n' }, first);
  await pushTo(fixture, 'main', { 'docs/same.md': 'right\n' }, first);
  await modules.pulls.open(viewer, at, { title: 'Left', head: 'left' });
  t.same(await names(), ['Ready', 'Docs', 'Release'], 'there is no merge to test');
});

t.test('a pull request that waits for a check is merged when the run succeeds', async (t) => {
  const fixture = await openCi(t);
  const { modules, viewer } = fixture;
  const first = await fixture.push({ '.github/workflows/checks.yml': usual, 'a.txt': 'a\n' });
  await modules.repositories.rules.add(viewer, 'alice', 'work', { pattern: 'main', target: 'BRANCH' });
  await modules.db.write(({ manager }) =>
    manager.query("UPDATE branch_rules SET checks = ? WHERE pattern = 'main'", ['["Checks / test (pull_request)"]']),
  );
  await pushTo(fixture, 'topic', { 'b.txt': 'b\n' }, first);
  await modules.pulls.open(viewer, at, { title: 'Add b', head: 'topic' });
  await modules.pulls.mergeWhenReady(viewer, { ...at, number: 1 }, { style: 'merge', round: 1 });
  await runCount(fixture, 1);
  const state = async () => (await modules.pulls.find(viewer, { ...at, number: 1 })).issue.state;
  t.equal(await state(), 'OPEN');
  const runner = await fixture.addRunner(['linux']);
  await runner.finish((await runner.fetch())!.taskId);
  await waitUntil(async () => (await state()) === 'MERGED');
});

t.test('a pull request that waits for a check is merged when filters leave the workflow out', async (t) => {
  const fixture = await openCi(t);
  const { modules, viewer } = fixture;
  const unit =
    "name: Unit\non:\n  pull_request:\n    paths: ['src/**']\njobs:\n  build:\n    name: Build ${{ matrix.os }} ${{ strategy.job-index }}\n    runs-on: linux\n    strategy: {matrix: {os: [a, b]}}\n    steps: [{ run: ls }]\n";
  const first = await fixture.push({ '.github/workflows/unit.yml': unit, 'a.txt': 'a\n' });
  const merging = { checks: ['Unit / Build*', 'Unit / Build b 1 (pull_request)'] };
  await modules.repositories.rules.add(viewer, 'alice', 'work', { pattern: 'main', target: 'BRANCH', merging });
  await pushTo(fixture, 'topic', { 'b.txt': 'b\n' }, first);
  await modules.pulls.open(viewer, at, { title: 'Add b', head: 'topic' });
  await modules.pulls.mergeWhenReady(viewer, { ...at, number: 1 }, { style: 'merge', round: 1 });
  await waitUntil(async () => (await modules.pulls.find(viewer, { ...at, number: 1 })).issue.state === 'MERGED');
  t.strictSame(await runsOf(fixture), []);
});

t.test(
  'a required check that the filters of its workflow leave out counts as successful, for this head and base',
  async (t) => {
    const fixture = await openCi(t);
    const { modules, viewer, ci } = fixture;
    const unit = (paths: string) =>
      `name: Unit tests\non:\n  pull_request:\n    ${paths}\njobs:\n  build:\n    name: Build\n    runs-on: linux\n    strategy: {matrix: {n: [1, 2]}}\n    steps: [{ run: ls }]\n`;
    const first = await fixture.push({ '.github/workflows/unit.yml': unit('paths: ["src/**"]'), 'a.txt': 'a\n' });
    await pushTo(fixture, 'other', { 'o.txt': 'o\n' }, first);
    const merging = { checks: ['Unit tests / Build*', 'Unit tests / Build (2) (pull_request)'] };
    for (const pattern of ['main', 'other'])
      await modules.repositories.rules.add(viewer, 'alice', 'work', { pattern, target: 'BRANCH', merging });
    const open = async (head: string, base = 'main') => {
      const { issue } = await modules.pulls.open(viewer, at, { title: head, body: '', head, base });
      await announced(fixture);
      return issue.number;
    };
    const missing = async (number: number) => {
      const { verdict, checks } = await modules.pulls.mergeBox(viewer, { ...at, number });
      const block = verdict.blocks.find(({ kind }) => kind === 'checks') as
        | { missing: { state: string }[] }
        | undefined;
      return { missing: block?.missing.map(({ state }) => state) ?? [], checks: checks.map(({ context }) => context) };
    };
    const inDocs = await pushTo(fixture, 'docs', { 'docs/a.md': 'a\n' }, first);
    const one = await open('docs');
    t.strictSame(await runsOf(fixture), []);
    t.strictSame(await missing(one), {
      missing: [],
      checks: ['Unit tests / Build (1) (pull_request)', 'Unit tests / Build (2) (pull_request)'],
    });
    // A later head has its own answer: now it runs.
    await pushTo(fixture, 'docs', { 'src/a.c': 'a\n' }, inDocs);
    await runCount(fixture, 1);
    t.strictSame((await missing(one)).missing, ['pending', 'pending', 'pending']);
    // What was left out for one base is missing for another.
    await pushTo(fixture, 'same', { 'docs/b.md': 'b\n' }, first);
    const two = await open('same');
    await modules.pulls.edit(viewer, { ...at, number: two }, { base: 'other' });
    t.strictSame((await missing(two)).missing, ['missing', 'missing']);
    // A message that asks for no run is not a filter.
    await fixture.push({ 'docs/c.md': 'c\n' }, { branch: 'silent', message: 'Quiet [skip ci]' });
    t.strictSame((await missing(await open('silent'))).missing, ['missing', 'missing']);
    t.equal((await ci.runs.list(fixture.found, {}, { limit: 10 })).runs.length, 1);
  },
);
