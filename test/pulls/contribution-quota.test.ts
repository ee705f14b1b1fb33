// A person who may not write may bring so many bytes of rounds to a repository: each way of making a round refuses
// more.
import t from 'tap';
import { personViewer } from '../../src/access/index.ts';
import { reasonOf } from './reviews-fixture.ts';
import { startPullServer } from './pull-server.ts';

t.test('whichever way a round comes, it is refused when its author has used up their limit', async (t) => {
  const limit = 1024 ** 2;
  const server = await startPullServer(t, { SERVICE_PULLS_CONTRIBUTED_SIZE: '1MiB' });
  const { pulls } = server.app.modules;
  const alice = await server.repository('limited');
  const bob = await server.clone('limited', 'bob');
  await bob.commit('b.txt', 'one\ntwo\n');
  t.equal((await bob.push('origin', 'HEAD:refs/for/main/x')).code, 0);
  await alice.commit('a.txt', 'one\n');
  await alice.push('--quiet', 'origin', 'main');
  await server.announced();
  const people: { id: string; username: string }[] = await server.db.read.query('SELECT id, username FROM users');
  const viewer = (name: string) => ({
    ...personViewer(people.find(({ username }) => username === name)!.id, 'admin'),
    username: name,
  });
  const [asAlice, asBob] = [viewer('alice'), viewer('bob')];
  const repository = { owner: 'alice', name: 'limited' };
  const at = { ...repository, number: 1 };
  const comment = await pulls.reviews.addComment(asAlice, at, {
    round: 1,
    path: 'b.txt',
    firstLine: 1,
    body: '```suggestion\nONE\n```',
    sendNow: true,
  });
  const operations = [{ kind: 'create', path: 'e.txt', content: Buffer.from('e\n') }] as never;
  const patch = Buffer.from(
    'diff --git a/f.txt b/f.txt\nnew file mode 100644\n--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1 @@\n+f\n',
  );
  const ways: [way: string, make: (round: number) => Promise<unknown>][] = [
    ['a merge of the base branch', (round) => pulls.updateBranch(asBob, at, { style: 'MERGE', round })],
    ['a suggestion that is applied', (round) => pulls.suggestions.apply(asBob, at, { comments: [comment], round })],
    ['a rebase', (round) => pulls.updateBranch(asBob, at, { style: 'REBASE', round })],
    ['a patch of it', () => pulls.proposePatch(asBob, repository, { patch, title: 'F', pull: 1 })],
    ['a patch of a new one', () => pulls.proposePatch(asBob, repository, { patch, title: 'F' })],
    [
      'a file that is edited',
      () => pulls.propose(asBob, repository, { base: 'main', operations, title: '', body: '' }),
    ],
  ];
  const setBytes = (bytes: number) =>
    server.db.write(({ manager }) => manager.query('UPDATE pull_rounds SET bytes = ? WHERE round = 1', [bytes]));
  const lastRound = async () => (await pulls.find(asBob, at)).pull.lastRound;
  const state = async () => JSON.stringify([await server.opened('limited'), await server.pullRefs('limited')]);
  for (const [way, make] of ways) {
    await setBytes(limit - 1);
    const [before, round] = [await state(), await lastRound()];
    t.equal(await reasonOf(make(round)), 'contributed_too_much', way);
    t.equal(await state(), before, 'and nothing has changed');
    await setBytes(0);
    t.equal(await reasonOf(make(round)), 'accepted', `${way}, which is fine otherwise`);
    await alice.commit('a.txt', `${way}\n`);
    await alice.push('--quiet', 'origin', 'main');
    await server.announced();
  }
  t.equal(await lastRound(), 5);

  await setBytes(limit);
  await bob.git('reset', '--quiet', '--hard', 'origin/main');
  await bob.commit('c.txt', 'small\n');
  const pushed = await bob.push('origin', 'HEAD:refs/for/main/x');
  t.equal(pushed.code, 1);
  t.match(pushed.stderr, /have reached the limit of 1 MiB/, 'a push, with the same words');
});
