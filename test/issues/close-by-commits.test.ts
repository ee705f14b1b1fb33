// Commits that close and mention issues: whose push counts, and what the limits of its credential are elsewhere.
import t from 'tap';
import type { Test } from 'tap';
import type { Viewer } from '../../src/access/index.ts';
import { toggleLine } from '../../src/issues/comments/toggle-task.ts';
import { shortenOwnUrls } from '../../src/issues/references/parse-issue-urls.ts';
import { at, openIssues, push, reasonOf, roof, sampleHistory, timeline, viewerOf } from './issues-fixture.ts';
import type { IssueModules } from './issues-fixture.ts';
import { makeCommit } from './make-commit.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const zero = '0'.repeat(40);
const garden = { owner: 'alice', name: 'garden' };
const inGarden = (number: number) => ({ ...garden, number });

/** alice/roof and alice/garden with three issues each; `say` pushes one more commit to roof's default branch. */
async function openTwo(t: Test, visibility: { roof?: 'PRIVATE'; garden?: 'PRIVATE' } = {}) {
  const modules = await openIssues(t, { settings: { baseUrl: 'https://git.example.org' } });
  const { issues, repositories, alice } = modules;
  repositories.pushes.onPush(issues.onPush);
  await repositories.create(alice, { ...garden, visibility: visibility.garden ?? 'PUBLIC' });
  if (visibility.roof) await repositories.changeVisibility(alice, 'alice', 'roof', 'PRIVATE');
  for (const place of [roof, garden])
    for (const title of ['one', 'two', 'three']) await issues.open(alice, place, { title });
  const { work, commits, pack } = sampleHistory(modules.folder);
  await push(modules, alice, 'alice/roof', [`${zero} ${commits[0]} refs/heads/main`], { pack });
  let tip = commits[0]!;
  const say = async (pusher: Viewer, message: string): Promise<string> => {
    const next = makeCommit(work, tip, message);
    const { report } = await push(modules, pusher, 'alice/roof', [`${tip} ${next.oid} refs/heads/main`], next);
    t.same(report, ['ok refs/heads/main']);
    tip = next.oid;
    await announced(modules);
    return next.oid;
  };
  return { ...modules, say, work, tip: () => tip };
}

/** Waits until every listener has received all pushes. */
async function announced({ db, repositories }: IssueModules): Promise<void> {
  await waitUntil(async () => {
    const [row] = await db.read.query<{ left: number }[]>(
      'SELECT count(*) AS "left" FROM pushes WHERE announced_at IS NULL',
    );
    if (Number(row!.left) > 0) await repositories.pushes.finish();
    return Number(row!.left) === 0;
  }, 'every push is announced');
}

t.test(
  'owner/name#7 and full addresses are closed in another repository, with an entry that names the commit',
  async (t) => {
    const { issues, alice, say } = await openTwo(t);
    const oid = await say(
      alice,
      'Mend\n\nFixes alice/garden#1, closes https://git.example.org/repos/alice/garden/issues/2; see alice/garden#3',
    );
    t.match(await issues.find(alice, inGarden(1)), { state: 'CLOSED', closeReason: 'completed' });
    t.match(await issues.find(alice, inGarden(2)), { state: 'CLOSED' });
    t.match(await issues.find(alice, inGarden(3)), { state: 'OPEN' });
    const { entries } = await issues.listEntries(alice, inGarden(3));
    t.match(entries.at(-1), { kind: 'mentioned', details: { commit: oid }, via: 'git' });
  },
);

t.test('a token for one repository closes there and leaves others alone, also when its owner might', async (t) => {
  const { issues, alice, say, repositories } = await openTwo(t);
  const { repository } = await repositories.find(alice, 'alice', 'roof');
  const limited = viewerOf(alice, { via: 'token', scope: 'write', repositoryIds: [repository.id] });
  await say(limited, 'Closes #1, closes alice/garden#1, see alice/garden#2');
  t.match(await issues.find(alice, at(1)), { state: 'CLOSED' });
  t.match(await issues.find(alice, inGarden(1)), { state: 'OPEN' });
  t.same(await timeline(issues, alice, inGarden(1)), ['opened'], 'nor does it leave an entry');
  const both = viewerOf(alice, { via: 'token', scope: 'write', repositoryIds: [repository.id] });
  await repositories.changeVisibility(alice, 'alice', 'garden', 'PRIVATE');
  await say(both, 'Closes alice/garden#3, see alice/garden#3');
  t.same(await timeline(issues, alice, inGarden(3)), ['opened'], 'PRIVATE is absent for the token');
});

t.test('a push from before credentials were recorded acts in its own repository only', async (t) => {
  const { issues, alice, say, db } = await openTwo(t);
  await db.write(({ manager }) =>
    manager.query(
      'CREATE TRIGGER forget AFTER INSERT ON pushes BEGIN UPDATE pushes SET credential = NULL WHERE id = NEW.id; END',
    ),
  );
  await say(alice, 'Closes #2, closes alice/garden#2');
  t.match(await issues.find(alice, at(2)), { state: 'CLOSED' });
  t.match(await issues.find(alice, inGarden(2)), { state: 'OPEN' });
});

t.test('who may not close, comment or see in another repository does nothing there', async (t) => {
  const { issues, alice, bob, repositories, say } = await openTwo(t);
  await repositories.collaborators.add(alice, 'alice', 'roof', { username: 'bob', role: 'write' });
  await say(bob, 'Closes alice/garden#1');
  t.match(await issues.find(alice, inGarden(1)), { state: 'OPEN' });
  t.same(await timeline(issues, alice, inGarden(1)), ['opened', 'mentioned']);
  await issues.changeSettings(alice, garden, { issuesFrom: 'members' });
  await say(bob, 'Closes alice/garden#2');
  t.same(await timeline(issues, alice, inGarden(2)), ['opened'], 'members only');
  await repositories.changeVisibility(alice, 'alice', 'garden', 'PRIVATE');
  await say(bob, 'Closes alice/garden#3');
  t.same(await timeline(issues, alice, inGarden(3)), ['opened'], 'hidden');
});

t.test('a PRIVATE repository leaves no trace in a PUBLIC one, and closes nothing there', async (t) => {
  const { issues, alice, say } = await openTwo(t, { roof: 'PRIVATE' });
  await say(alice, 'Closes alice/garden#1, see alice/garden#2, closes #1');
  t.same(await timeline(issues, alice, inGarden(1)), ['opened']);
  t.same(await timeline(issues, alice, inGarden(2)), ['opened']);
  t.match(await issues.find(alice, at(1)), { state: 'CLOSED' }, 'its own are closed');
});

t.test('one push closes at most fifty issues, whatever it says', async (t) => {
  const { issues, alice, say } = await openTwo(t);
  await say(
    alice,
    Array.from({ length: 5_000 }, (_, at) => `closes alice/garden#${at + 4}`).join('\n') + '\ncloses #1',
  );
  t.match(await issues.find(alice, at(1)), { state: 'OPEN' }, 'behind the limit');
  await say(alice, 'closes #1 '.repeat(2_000));
  t.match(await issues.find(alice, at(1)), { state: 'CLOSED' });
});

t.test('a mirror and an undo close nothing', async (t) => {
  const { issues, alice, repositories, say, work, tip } = await openTwo(t);
  await say(alice, 'nothing');
  const { oid, pack } = makeCommit(work, tip(), 'Closes #1');
  await push({ repositories }, alice, 'alice/roof', [`${zero} ${oid} refs/heads/aside`], { pack });
  const found = await repositories.find(alice, 'alice', 'roof');
  for (const via of ['mirror', 'undo'] as const)
    await repositories.pushes.applyUpdates(found, {
      via,
      userId: alice.id,
      updates: [
        via === 'mirror'
          ? { ref: 'refs/heads/main', oldId: tip(), newId: oid }
          : { ref: 'refs/heads/main', oldId: oid, newId: tip() },
      ],
    });
  await repositories.pushes.finish();
  t.match(await issues.find(alice, at(1)), { state: 'OPEN' });
});

t.test('addresses of issues of this server become references, those of others stay', async (t) => {
  const base = 'https://git.example.org';
  const cases: [text: string, shortened: string][] = [
    [`see ${base}/repos/alice/roof/issues/7.`, 'see alice/roof#7.'],
    [`${base}/repos/alice/roof/issues/7#e3 and ${base}/repos/a/b/pulls/2`, 'alice/roof#7#e3 and a/b#2'],
    [`${base}.evil.example/repos/alice/roof/issues/7`, `${base}.evil.example/repos/alice/roof/issues/7`],
    [`${base}/repos/alice/roof/issues/7x`, `${base}/repos/alice/roof/issues/7x`],
    [`${base}/repos/alice/roof/issues/0`, `${base}/repos/alice/roof/issues/0`],
    [`https://gitxexample.org/repos/alice/roof/issues/7`, `https://gitxexample.org/repos/alice/roof/issues/7`],
  ];
  for (const [text, shortened] of cases) t.equal(shortenOwnUrls(text, base), shortened);
  t.equal(shortenOwnUrls(cases[0]![0], null), cases[0]![0]);
});

t.test('a box is ticked in its line, by those who may edit the text', async (t) => {
  const cases: [text: string, line: number, flipped: string | null][] = [
    ['- [ ] a\n- [x] b', 0, '- [x] a\n- [x] b'],
    ['- [ ] a\n- [x] b', 1, '- [ ] a\n- [ ] b'],
    ['> 1. [X] a\r\n', 0, '> 1. [ ] a\r\n'],
    ['-\n  [ ] a', 1, '-\n  [x] a'],
    ['- - [ ] a [ ] b', 0, '- - [x] a [ ] b'],
    ['- [ ]a', 0, null],
    ['text [ ] a', 0, null],
    ['- [ ] a', 7, null],
    ['- [ ] a', -1, null],
  ];
  for (const [text, line, flipped] of cases) t.equal(toggleLine(text, line), flipped, JSON.stringify(text));

  const { issues, alice, bob } = await openIssues(t);
  await issues.open(alice, roof, { title: 'list', body: '- [ ] a\n- [ ] b' });
  const tick = (viewer: Viewer, revision: number, line: number) =>
    reasonOf(issues.toggleTask(viewer, at(1), { position: 0, revision, line }));
  t.equal(await tick(bob, 1, 0), 'not_allowed_on_issue');
  t.equal(await tick(alice, 1, 1), 'accepted');
  t.equal(await tick(alice, 1, 0), 'text_changed_meanwhile');
  t.equal(await tick(alice, 2, 5), 'no_task_in_line');
  t.equal(await reasonOf(issues.toggleTask(alice, at(1), { position: 9, revision: 1, line: 0 })), 'entry_not_found');
  t.equal((await issues.listEntries(alice, at(1))).entries[0]!.body, '- [ ] a\n- [x] b');
});
