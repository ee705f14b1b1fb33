// Stacks of pull requests: one for each commit of a push with the option `stack`, each shown against the one below it;
// and pull requests of branches that follow the branch below them when it is merged and deleted.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { clientGit } from '../git/git-fixture.ts';
import { reasonOf } from '../repositories/repositories-fixture.ts';
import { startPullServer } from './pull-server.ts';
import type { Clone } from './pull-server.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const server = await startPullServer(t);
const { modules } = server.app;
const { pulls, issues, repositories } = modules;
const admin = localAdministrator;
const changeIds = ['Iaaaaaaaa1', 'Iaaaaaaaa2', 'Iaaaaaaaa3', 'Iaaaaaaaa4', 'Iaaaaaaaa5'];
const names = ['one', 'two', 'three', 'four', 'five'];
async function stackPush(clone: Clone, ...more: string[]) {
  const pushed = await clone.push('origin', 'HEAD:refs/for/main', '-o', 'stack', ...more);
  await server.announced();
  return pushed;
}

/** Empty commits on main, each with a change id. */
async function manyCommits(clone: Clone, branch: string, count: number): Promise<void> {
  const commits = Array.from({ length: count }, (_, index) => {
    const message = `F${index}\n\nChange-Id: Icccccccc${index}\n`;
    const from = index === 0 ? 'from refs/remotes/origin/main\n' : '';
    const person = 'committer Bob <bob@example.org> 1767225600 +0000';
    return `commit refs/heads/${branch}\n${person}\ndata ${message.length}\n${message}${from}\n`;
  });
  await clientGit(['fast-import', '--quiet'], { cwd: clone.folder, input: commits.join('') });
  await clone.git('checkout', '--quiet', branch);
}

const at = (name: string, number: number) => ({ owner: 'alice', name, number });
const pullOf = async (name: string, number: number) => (await pulls.find(admin, at(name, number))).pull;
const behindIn = async (name: string, number: number) =>
  (await pulls.stack(admin, at(name, number))).filter(({ isBehind }) => isBehind).map(({ number: one }) => one);
const stackOf = async (name: string, number: number) =>
  (await pulls.stack(admin, at(name, number))).map(({ number: one, state }) => `${one} ${state}`);
/** Subjects of the commits that a pull request shows, and the paths that it changes. */
async function shown(name: string, number: number) {
  const { path } = await repositories.find(admin, 'alice', name);
  const pull = await pullOf(name, number);
  const files = await clientGit(['--git-dir=.', 'diff', '--name-only', pull.baseOid, pull.headOid], { cwd: path });
  const commits = await pulls.rounds.commits(admin, at(name, number));
  return { files: files.stdout.trim().split('\n'), commits: commits.map(({ subject }) => subject) };
}
const mainOf = async (name: string, file: string): Promise<string> => {
  const { path } = await repositories.find(admin, 'alice', name);
  return (await clientGit(['--git-dir=.', 'show', `main:${file}`], { cwd: path })).stdout;
};
const merge = async (name: string, number: number, style: string) => {
  const { lastRound: round } = await pullOf(name, number);
  await pulls.merge(admin, at(name, number), { style, round });
  await server.announced();
};

/** Five commits with change ids on main, of which each changes the same file and adds one. */
async function commitFive(clone: Clone): Promise<string[]> {
  const oids: string[] = [];
  let text = 'begin\n';
  for (const [index, name] of names.entries()) {
    text += `${name}\n`;
    await clone.commit('shared.txt', text, 'unused');
    await clone.git('reset', '--quiet', '--soft', 'HEAD~1');
    oids.push(await clone.commit(`${name}.txt`, `${name}\n`, `Add ${name}\n\nChange-Id: ${changeIds[index]}`));
  }
  return oids;
}

t.test('a stack of five: pushed, reviewed, changed, landed in every way, and the rest followed', async (t) => {
  await server.repository('five');
  const bob = await server.clone('five', 'bob');
  const oids = await commitFive(bob);
  const pushed = await stackPush(bob);
  t.equal(pushed.code, 0, pushed.stderr);
  for (const [index, name] of names.entries())
    t.match(pushed.stderr, new RegExp(`New pull request #${index + 1} “Add ${name}”: https://\\S+/pulls/${index + 1}`));
  t.match(
    await server.opened('five'),
    names.map((name, index) => ({
      number: index + 1,
      title: `Add ${name}`,
      head: oids[index],
      source: 'PUSH',
      rounds: [{ change: 'first', commits: 1 }],
    })),
  );
  t.same(await stackOf('five', 4), ['1 OPEN', '2 OPEN', '3 OPEN', '4 OPEN', '5 OPEN']);
  t.same(await behindIn('five', 4), []);
  for (const [index, name] of names.entries())
    t.same(await shown('five', index + 1), { files: [`${name}.txt`, 'shared.txt'].sort(), commits: [`Add ${name}`] });
  t.same(
    await server.pullRefs('five'),
    Object.fromEntries(oids.map((oid, index) => [`refs/pull/${index + 1}/head`, oid])),
  );
  t.equal((await server.db.read.query('SELECT count(*) AS n FROM pull_pushes'))[0].n, 0);
  t.match(await stackPush(bob), { code: 0, stderr: /Pull request #5, nothing new/ });
  t.ok((await server.opened('five')).every(({ rounds }) => rounds.length === 1));

  t.equal(await reasonOf(pulls.merge(admin, at('five', 2), { style: 'merge', round: 1 })), 'merge_blocked');
  t.match((await pulls.mergeBox(admin, at('five', 3))).verdict, { blocks: [{ kind: 'needs', numbers: [2] }] });
  const alice = { ...admin, id: (await modules.accounts.personByUsername('alice')).id, via: 'session' } as const;
  await pulls.reviews.submit(alice, at('five', 2), { verdict: 'APPROVE', body: '', round: 1 });

  // The third is changed, with what stands on it: new rounds for three of them.
  const change = await clientGit(
    ['-c', 'sequence.editor=sed -i "1s/^pick/edit/"', 'rebase', '--quiet', '-i', `${oids[1]}`],
    { cwd: bob.folder },
  );
  t.equal(change.code, 0, change.stderr);
  await bob.commit('three.txt', 'three, otherwise\n', 'unused');
  await bob.git('reset', '--quiet', '--soft', 'HEAD~2');
  await bob.git('commit', '--quiet', '-m', `Add three\n\nChange-Id: ${changeIds[2]}`);
  await bob.git('rebase', '--continue');
  const second = await stackPush(bob);
  t.match(second, { code: 0, stderr: /#2, nothing new[^]*#3, round 2 [^]*#4, round 2 [^]*#5, round 2 / });
  t.same(
    (await server.opened('five')).map(({ rounds }) => rounds.length),
    [1, 1, 2, 2, 2],
  );
  t.same(await shown('five', 5), { files: ['five.txt', 'shared.txt'], commits: ['Add five'] });

  // The first two land, as one commit each; the others change the same lines, and still merge.
  await merge('five', 1, 'squash');
  t.match((await pulls.mergeBox(admin, at('five', 2))).verdict, { blocks: [] });
  t.match(await pulls.mergeStateOf(admin, at('five', 5)), { mergeState: 'CLEAN' });
  await merge('five', 2, 'squash');
  t.same(await stackOf('five', 3), ['1 MERGED', '2 MERGED', '3 OPEN', '4 OPEN', '5 OPEN']);
  for (const number of [3, 4, 5]) {
    t.match(await pulls.mergeStateOf(admin, at('five', number)), { mergeState: 'CLEAN' });
    t.match(await shown('five', number), { commits: { length: 1 } });
  }
  t.match(await pulls.mergeBox(admin, at('five', 3)), { verdict: { blocks: [] } });

  // Pushed again as it is: what was merged is left out.
  await bob.commit('five.txt', 'five, otherwise\n', 'unused');
  await bob.git('reset', '--quiet', '--soft', 'HEAD~2');
  await bob.git('commit', '--quiet', '-m', `Add five\n\nChange-Id: ${changeIds[4]}`);
  const third = await stackPush(bob);
  t.match(third, { code: 0, stderr: /#5, round 3 / });
  t.notMatch(third.stderr, /#[12][ ,]/);
  t.equal((await server.opened('five')).length, 5);
  t.same(await shown('five', 5), { files: ['five.txt', 'shared.txt'], commits: ['Add five'] });

  await merge('five', 3, 'rebase');
  t.match(await pulls.mergeStateOf(admin, at('five', 4)), { mergeState: 'CLEAN' });
  await merge('five', 4, 'merge');
  await merge('five', 5, 'rebase');
  t.equal(await mainOf('five', 'shared.txt'), 'begin\none\ntwo\nthree\nfour\nfive\n');
  t.equal(await mainOf('five', 'three.txt'), 'three, otherwise\n');
  t.equal(await mainOf('five', 'five.txt'), 'five, otherwise\n');
  t.same(await stackOf('five', 5), ['1 MERGED', '2 MERGED', '3 MERGED', '4 MERGED', '5 MERGED']);
  const { path } = await repositories.find(admin, 'alice', 'five');
  const log = await clientGit(['--git-dir=.', 'log', '--format=%s', '--first-parent', 'main'], { cwd: path });
  t.equal(log.stdout.trim().split('\n').length, 6, 'each landed once');
});

t.test('what a stack refuses; merging when ready goes up the stack', async (t) => {
  const alice = await server.repository('refused');
  const bob = await server.clone('refused', 'bob');
  await bob.commit('a.txt', 'a\n', 'No id');
  t.match(await stackPush(bob), { code: 1, stderr: /“No id” has no change id/ });
  await bob.git('reset', '--quiet', '--hard', 'origin/main');
  await bob.commit('a.txt', 'a\n', 'A\n\nChange-Id: Ibbbbbbbb1');
  await bob.commit('b.txt', 'b\n', 'B\n\nChange-Id: Ibbbbbbbb1');
  t.match(await stackPush(bob), { code: 1, stderr: /has the change id of another commit/ });
  await bob.git('reset', '--quiet', '--hard', 'HEAD~1');
  t.match(await stackPush(bob, '-o', 'title=A'), { code: 1, stderr: /cannot be set/ });
  t.match(await bob.push('origin', 'HEAD:refs/for/main/topic', '-o', 'stack'), { code: 1, stderr: /cannot be set/ });
  await bob.git('checkout', '--quiet', '-b', 'side', 'origin/main');
  await bob.commit('c.txt', 'c\n', 'C\n\nChange-Id: Ibbbbbbbb2');
  await bob.git('merge', '--quiet', '--no-ff', '-m', 'M\n\nChange-Id: Ibbbbbbbb3', 'main');
  t.match(await stackPush(bob), { code: 1, stderr: /is a merge/ });
  await manyCommits(bob, 'many', 21);
  t.match(await stackPush(bob), { code: 1, stderr: /would open 21 pull requests, and you may open 20 more/ });
  await manyCommits(bob, 'too-many', 51);
  t.match(await stackPush(bob), { code: 1, stderr: /at most 50 commits/ });
  t.same(await server.opened('refused'), []);

  await alice.git('checkout', '--quiet', '-B', 'work', 'origin/main');
  for (const name of ['x', 'y', 'z']) await alice.commit(name, `${name}\n`, `${name}\n\nChange-Id: Idddddddd${name}`);
  const pushed = await stackPush(alice, '-o', 'draft', '-o', 'note=Together');
  t.match(pushed, { code: 0 }, pushed.stderr);
  t.match(await server.opened('refused'), [
    { isDraft: true, rounds: [{ note: 'Together' }] },
    { isDraft: true, rounds: [{ note: 'Together' }] },
    { isDraft: true },
  ]);
  t.match(await stackPush(alice, '-o', 'ready', '-o', 'merge=squash'), { code: 0 });
  const open = async () => (await server.opened('refused')).filter(({ state }) => state !== 'MERGED').length;
  await waitUntil(async () => {
    await pulls.mergeAllReady();
    return (await open()) === 0;
  }, 'one after the other');
  for (const name of ['x', 'y', 'z']) t.equal(await mainOf('refused', name), `${name}\n`);
  t.match(await stackPush(alice), { code: 1, stderr: /already been merged/ });
});

t.test('commits with the header of jj; another order; a commit that left', async (t) => {
  await server.repository('order');
  const bob = await server.clone('order', 'bob');
  const ids = ['k'.repeat(32), 'l'.repeat(32), 'm'.repeat(32)];
  const build = async (order: readonly number[]): Promise<void> => {
    await bob.git('reset', '--quiet', '--hard', 'origin/main');
    for (const index of order) {
      await bob.commit(`${index}.txt`, `${index}\n`, `Commit ${index}`);
      const text = (await bob.git('cat-file', 'commit', 'HEAD')).replace('\n\n', `\nchange-id ${ids[index]}\n\n`);
      const written = await clientGit(['hash-object', '-t', 'commit', '-w', '--stdin'], {
        cwd: bob.folder,
        input: `${text}\n`,
      });
      await bob.git('reset', '--quiet', '--hard', written.stdout.trim());
    }
  };
  await build([0, 1, 2]);
  t.match(await stackPush(bob), { code: 0 });
  t.same(await stackOf('order', 1), ['1 OPEN', '2 OPEN', '3 OPEN']);
  await build([1, 0]);
  t.match(await stackPush(bob), { code: 0, stderr: /#2, round 2 [^]*#1, round 2 / });
  t.same(await stackOf('order', 2), ['2 OPEN', '1 OPEN', '3 OPEN']);
  t.same(await stackOf('order', 1), ['2 OPEN', '1 OPEN']);
  t.same(await shown('order', 1), { files: ['0.txt'], commits: ['Commit 0'] });
  t.equal((await server.opened('order')).length, 3);
  const closed = await stackOf('order', 3);
  t.same(closed, ['2 OPEN', '3 OPEN'], 'the one that left keeps what it needs');
  t.same(await behindIn('order', 3), [3], 'in an older round');
  await merge('order', 2, 'squash');
  t.match((await pulls.mergeBox(admin, at('order', 1))).verdict, { blocks: [] });
});

t.test('branches upon branches follow when the lower one is merged and deleted', async (t) => {
  const alice = await server.repository('branches');
  let text = 'begin\n';
  for (const [index, name] of names.slice(0, 3).entries()) {
    text += `${name}\n`;
    await alice.git('checkout', '--quiet', '-b', name);
    await alice.commit('shared.txt', text, `Add ${name}`);
    await alice.push('--quiet', 'origin', name);
    await server.announced();
    const base = index === 0 ? 'main' : names[index - 1]!;
    await pulls.open(admin, { owner: 'alice', name: 'branches' }, { head: name, base, title: name, body: '' });
  }
  t.same(await stackOf('branches', 2), ['1 OPEN', '2 OPEN', '3 OPEN']);
  await merge('branches', 1, 'squash');
  await pulls.deleteBranch(admin, at('branches', 1));
  await server.announced();
  t.match(await pullOf('branches', 2), { baseBranch: 'main' });
  t.match(await pullOf('branches', 3), { baseBranch: 'two' });
  t.same(await stackOf('branches', 3), ['1 MERGED', '2 OPEN', '3 OPEN']);
  t.same(await shown('branches', 2), { files: ['shared.txt'], commits: ['Add two'] });
  const { entries } = await issues.listEntries(admin, at('branches', 2));
  t.match(
    entries.filter(({ kind }) => kind === 'retargeted'),
    [{ details: { from: 'one', to: 'main', landed: 1 } }],
  );
  await merge('branches', 2, 'rebase');
  t.equal((await alice.push('origin', ':two')).code, 0, 'by a push, too');
  await server.announced();
  t.match(await pullOf('branches', 3), { baseBranch: 'main' });
  await alice.git('fetch', '--quiet', 'origin');
  // Brought up to date, it has the base branch, and shows its own change alone.
  await pulls.updateBranch(admin, at('branches', 3), { style: 'MERGE', round: 1 });
  await server.announced();
  t.match(await shown('branches', 3), { files: ['shared.txt'] });
  t.match(await pulls.mergeStateOf(admin, at('branches', 3)), { mergeState: 'CLEAN' });
  await merge('branches', 3, 'merge');
  t.equal(await mainOf('branches', 'shared.txt'), text);

  // Without a merge, nothing follows.
  await alice.git('checkout', '--quiet', '-B', 'low', 'origin/main');
  await alice.commit('low.txt', 'low\n');
  await alice.git('checkout', '--quiet', '-b', 'high');
  await alice.commit('high.txt', 'high\n');
  await alice.push('--quiet', 'origin', 'low', 'high');
  await server.announced();
  await pulls.open(admin, { owner: 'alice', name: 'branches' }, { head: 'high', base: 'low', title: 'high', body: '' });
  await alice.push('--quiet', 'origin', ':low');
  await server.announced();
  t.match(await pullOf('branches', 4), { baseBranch: 'low' });
});

t.test('a trial merge from between the push and the row of a merge is forgotten', async (t) => {
  await server.repository('between');
  const bob = await server.clone('between', 'bob');
  let text = '';
  for (const [index, name] of names.slice(0, 3).entries()) {
    text += `${name}\n`;
    await bob.commit('shared.txt', text, `Add ${name}\n\nChange-Id: Ieeeeeeee${index}`);
  }
  t.match(await stackPush(bob), { code: 0 });
  await merge('between', 1, 'squash');
  const { issueId } = await pullOf('between', 3);
  await pulls.mergeStateOf(admin, at('between', 3));
  const wrong = "UPDATE pulls SET merge_state = 'CONFLICT' WHERE issue_id = ?";
  await server.db.write(({ manager }) => manager.query(wrong, [issueId]));
  t.match(await pulls.mergeStateOf(admin, at('between', 3)), { mergeState: 'CONFLICT' }, 'as it was recorded');
  const merged = "UPDATE issue_entries SET announced_at = NULL WHERE kind = 'merged' AND issue_id = ?";
  const { issueId: lowest } = await pullOf('between', 1);
  await server.db.write(({ manager }) => manager.query(merged, [lowest]));
  await issues.recoverEntries();
  await waitUntil(async () => (await pullOf('between', 3)).mergeState === 'CLEAN');
  t.match(await pullOf('between', 3), { mergeState: 'CLEAN' });
});

t.test('what a person sets by hand', async (t) => {
  const alice = await server.repository('hand');
  for (const name of ['low', 'high', 'apart']) {
    if (name === 'apart') await alice.git('checkout', '--quiet', 'main');
    await alice.git('checkout', '--quiet', '-b', name);
    await alice.commit(`${name}.txt`, `${name}\n`, `Add ${name}`);
    await alice.push('--quiet', 'origin', name);
    await server.announced();
    await pulls.open(admin, { owner: 'alice', name: 'hand' }, { head: name, title: name, body: '' });
  }
  t.same(await shown('hand', 2), { files: ['high.txt', 'low.txt'], commits: ['Add low', 'Add high'] });
  await issues.addLink(admin, at('hand', 2), 'needs', at('hand', 1));
  await issues.addLink(admin, at('hand', 3), 'needs', at('hand', 1));
  const settled = async (number: number, rounds: number) => {
    await waitUntil(async () => (await pullOf('hand', number)).lastRound === rounds);
    return shown('hand', number);
  };
  t.same(await settled(2, 2), { files: ['high.txt'], commits: ['Add high'] });
  t.match((await pulls.mergeBox(admin, at('hand', 3))).verdict, { blocks: [{ kind: 'needs', numbers: [1] }] });
  t.same(await shown('hand', 3), { files: ['apart.txt'], commits: ['Add apart'] }, 'it is not built on it');
  await issues.removeLink(admin, at('hand', 2), 'needs', at('hand', 1));
  t.same(await settled(2, 3), { files: ['high.txt', 'low.txt'], commits: ['Add low', 'Add high'] });
  t.same(await stackOf('hand', 2), []);
  const blocksOfThird = async () => (await pulls.mergeBox(admin, at('hand', 3))).verdict.blocks.map(({ kind }) => kind);
  await issues.trash(admin, at('hand', 1));
  t.same(await blocksOfThird(), [], 'what is in the trash holds nothing up');
  await issues.restore(admin, at('hand', 1));
  t.same(await blocksOfThird(), ['needs']);
  await server.repository('other', 'PRIVATE');
  const other = await server.clone('other', 'alice');
  await other.git('checkout', '--quiet', '-b', 'work');
  await other.commit('a.txt', 'a\n');
  await other.push('--quiet', 'origin', 'work');
  await server.announced();
  await pulls.open(admin, { owner: 'alice', name: 'other' }, { head: 'work', title: 'Elsewhere', body: '' });
  await issues.addLink(admin, at('hand', 2), 'needs', at('other', 1));
  t.match((await pulls.mergeBox(admin, at('hand', 2))).verdict, { blocks: [{ kind: 'needs', numbers: [null] }] });
  t.equal(
    await pulls.merge(admin, at('hand', 2), { style: 'merge', round: 3 }).catch((error: Error) => error.message),
    'It needs a pull request elsewhere, which has to be merged first.',
  );

  await alice.git('checkout', '--quiet', 'low');
  await alice.commit('more.txt', 'more\n', 'Add more');
  await alice.git('checkout', '--quiet', '-b', 'top');
  await alice.commit('top.txt', 'top\n', 'Add top');
  await alice.push('--quiet', 'origin', 'low', 'top');
  await server.announced();
  await pulls.open(admin, { owner: 'alice', name: 'hand' }, { head: 'top', title: 'top', body: '' });
  await issues.addLink(admin, at('hand', 4), 'needs', at('hand', 1));
  t.equal((await pullOf('hand', 1)).lastRound, 2);
  t.same(await settled(4, 2), { files: ['top.txt'], commits: ['Add top'] }, 'built on the last round that it has');
});
