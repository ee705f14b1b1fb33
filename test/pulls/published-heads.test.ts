// time limit: 300 s
// `refs/pull/<n>/head` follows the row of the last round: it is never ahead of it, whatever makes the round, and a
// start sets what a crash has left behind. Only a push to refs/for moves it first.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { numbered, startRaceFixture } from './races-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(240_000);
const races = await startRaceFixture(t);
const { modules, alice, bob, db } = races;
const { pulls, git } = modules;
const first = numbered(10);

async function repository(name: string) {
  const clone = await races.repository(name);
  await clone.commit('a.txt', first);
  await clone.push('--quiet', 'origin', 'main');
  return clone;
}

const rowOf = async (name: string, number: number): Promise<string | null> => {
  const [row] = await db.read.query(
    `SELECT p.head_oid FROM pulls p JOIN issues i ON i.id = p.issue_id JOIN repositories r ON r.id = i.repository_id
     WHERE r.name = ? AND i.number = ?`,
    [name, number],
  );
  return row?.head_oid ?? null;
};
const refOf = async (name: string, number: number): Promise<string | null> =>
  (await races.pullRefs(name))[`refs/pull/${number}/head`] ?? null;

/** Heads that git was told to set while the row had another one. */
const ahead: string[] = [];
/** Stands for a process that dies instead of setting the ref. */
let isDead = false;
const { movePullHead, setPull } = git.refs;
const look = async (path: string, number: number, oid: string): Promise<void> => {
  if (isDead) throw new Error('killed');
  const rows = await db.read.query(
    `SELECT p.head_oid, r.id FROM pulls p JOIN issues i ON i.id = p.issue_id
     JOIN repositories r ON r.id = i.repository_id WHERE i.number = ?`,
    [number],
  );
  const row = rows.find(({ id }: { id: string }) => path.includes(id));
  if (row?.head_oid !== oid) ahead.push(`${number} is to be ${oid}, and the row has ${row?.head_oid}`);
};
Object.assign(git.refs, {
  async setPull(path: string, number: number, name: 'head' | 'merge', oid: string | null) {
    if (name === 'head' && oid !== null) await look(path, number, oid);
    return setPull(path, number, name, oid);
  },
  async movePullHead(path: string, number: number, move: { from: string | null; to: string }) {
    await look(path, number, move.to);
    return movePullHead(path, number, move);
  },
});

t.test('however a round comes, its row comes first', async (t) => {
  const clone = await repository('order');
  const { at } = await races.open(clone, 'order', { 'b.txt': 'b\n' });
  await races.pushTo(clone, 'topic', 'b.txt', 'better\n');
  await races.announced();
  const bobs = await races.clone('order', 'bob');
  await bobs.commit('c.txt', 'c\n');
  t.equal((await bobs.push('origin', 'HEAD:refs/for/main')).code, 0);
  await races.announced();
  await races.pushTo(clone, 'main', 'd.txt', 'd\n');
  await races.announced();
  const pushed = { ...at, number: 2 };
  await pulls.updateBranch(bob, pushed, { style: 'MERGE', round: 1 });
  await pulls.updateBranch(alice, at, { style: 'REBASE', round: 2 });
  await pulls.edit(alice, at, { base: 'topic' }).catch(() => {});

  const operations = [{ kind: 'create', path: 'e.txt', content: Buffer.from('e\n') }] as never;
  const { issue } = await pulls.propose(
    bob,
    { owner: 'alice', name: 'order' },
    { base: 'main', operations, title: '', body: '' },
  );
  const patch = Buffer.from(
    'diff --git a/f.txt b/f.txt\nnew file mode 100644\n--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1 @@\n+f\n',
  );
  const proposed = await pulls.proposePatch(bob, { owner: 'alice', name: 'order' }, { patch, title: 'Bring f' });
  const next = Buffer.from(patch.toString().replace('+f\n', '+better\n'));
  await pulls.proposePatch(
    bob,
    { owner: 'alice', name: 'order' },
    { patch: next, title: 'Bring f', pull: proposed.number },
  );

  await bobs.git('fetch', '--quiet', 'origin');
  await bobs.git('checkout', '--quiet', '--detach', 'origin/main');
  for (const name of ['one', 'two']) await bobs.commit(name, `${name}\n`, `Add ${name}\n\nChange-Id: I${name}1234567`);
  t.equal((await bobs.push('origin', 'HEAD:refs/for/main', '-o', 'stack')).code, 0);
  await races.announced();
  t.same(ahead, []);
  const numbers = [1, 2, issue.number, proposed.number, proposed.number + 1, proposed.number + 2];
  for (const number of numbers) t.equal(await refOf('order', number), await rowOf('order', number), `#${number}`);
  t.match(await rowOf('order', proposed.number + 2), /^[0-9a-f]{40}$/);
});

t.test('a kill between the row and the ref: the next start sets it', async (t) => {
  const clone = await repository('killed');
  const bobs = await races.clone('killed', 'bob');
  await bobs.commit('c.txt', 'c\n');
  t.equal((await bobs.push('origin', 'HEAD:refs/for/main')).code, 0);
  await races.announced();
  const { at } = await races.open(clone, 'killed', { 'b.txt': 'b\n' });
  await races.pushTo(clone, 'main', 'd.txt', 'd\n');
  await races.announced();
  const pushed = { ...at, number: 1 };
  const before = [await rowOf('killed', 1), await rowOf('killed', 2)];
  const stateOf = async (number: number) => (await pulls.find(alice, { ...at, number })).pull.mergeState;
  await waitUntil(async () => (await stateOf(1)) === 'CLEAN' && (await stateOf(2)) === 'CLEAN', 'merge states');

  isDead = true;
  await t.rejects(pulls.updateBranch(bob, pushed, { style: 'MERGE', round: 1 }), /killed/);
  await races.pushTo(clone, 'topic', 'b.txt', 'better\n');
  await races.announced();
  const after = [await rowOf('killed', 1), await rowOf('killed', 2)];
  t.not(after[0], before[0], 'the rounds are there');
  t.not(after[1], before[1]);
  t.same([await refOf('killed', 1), await refOf('killed', 2)], before, 'and the refs are not');

  isDead = false;
  await pulls.recover();
  t.same([await refOf('killed', 1), await refOf('killed', 2)], after);
  await waitUntil(async () => (await stateOf(1)) === 'CLEAN', 'its merge state is computed, too');
});

t.test(
  'what a push has moved is left alone until its round is recorded, and set back where none comes of it',
  async (t) => {
    await repository('pending');
    const bobs = await races.clone('pending', 'bob');
    await bobs.commit('c.txt', 'c\n');
    t.equal((await bobs.push('origin', 'HEAD:refs/for/main')).code, 0);
    await races.announced();
    const at = { owner: 'alice', name: 'pending', number: 1 };
    const head = await bobs.commit('c.txt', 'better\n');
    const gate = races.hold();
    t.equal((await bobs.push('origin', 'HEAD:refs/for/main', '-o', 'pull=1')).code, 0);
    await gate.isReached;
    await pulls.mergeBox(alice, at);
    t.equal(await refOf('pending', 1), head, 'a page does not set it back');
    gate.release();
    await races.announced();
    t.equal(await rowOf('pending', 1), head);

    await bobs.commit('c.txt', 'even better\n');
    const second = races.hold();
    t.equal((await bobs.push('origin', 'HEAD:refs/for/main', '-o', 'pull=1')).code, 0);
    await second.isReached;
    await modules.issues.close(localAdministrator, at, 'not_planned');
    second.release();
    await races.announced();
    t.equal(await rowOf('pending', 1), head, 'closed meanwhile: there is no round');
    await waitUntil(async () => (await refOf('pending', 1)) === head, 'and the ref says so');
  },
);
