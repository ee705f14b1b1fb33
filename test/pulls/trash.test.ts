// time limit: 300 s
// A repository that goes to the trash while a push to it is announced, or while its forks are pushed: the announcement
// ends without a word and waits, and the rounds have the pushes once the repository is back.
import t from 'tap';
import { numbered, startRaceFixture } from './races-fixture.ts';

t.setTimeout(240_000);
const races = await startRaceFixture(t);
const { modules, alice, bob, db, stateOf } = races;
const { repositories, pulls } = modules;

async function repository(name: string) {
  const clone = await races.repository(name);
  await clone.commit('a.txt', numbered(10));
  await clone.push('--quiet', 'origin', 'main');
  return clone;
}

t.test('pushes that are being announced wait for the repository', async (t) => {
  const clone = await repository('away');
  const { at } = await races.open(clone, 'away', { 'b.txt': 'b\n' });
  const bobs = await races.clone('away', 'bob');
  const contributed = await bobs.commit('c.txt', 'c\n');
  await races.announced();

  const gate = races.hold();
  const head = await races.pushTo(clone, 'topic', 'b.txt', 'better\n');
  await gate.isReached;
  t.equal((await bobs.push('origin', 'HEAD:refs/for/main')).code, 0);
  const { id } = await repositories.trash.move(alice, 'alice', 'away');
  gate.release();
  await repositories.pushes.whenAnnounced(id, 10_000);
  await repositories.pushes.finish();
  const waiting = await db.read.query(
    'SELECT attempts, last_error, parked_at, announced_at FROM pushes WHERE repository_id = ? AND announced_at IS NULL',
    [id],
  );
  t.equal(waiting.length, 2);
  for (const push of waiting) t.match(push, { last_error: null, parked_at: null }, 'nothing failed');
  const marks = 'SELECT * FROM push_announcements a JOIN pushes p ON p.id = a.push_id WHERE p.repository_id = ?';
  t.same(await db.read.query(marks, [id]), [], 'no listener was told in vain');
  const attempts = 'SELECT * FROM push_listener_attempts a JOIN pushes p ON p.id = a.push_id WHERE p.repository_id = ?';
  t.same(await db.read.query(attempts, [id]), [], 'and no attempt of one is used up');

  await repositories.trash.restore(alice, id);
  t.match((await pulls.find(alice, at)).pull, { headOid: head, lastRound: 2 }, 'the branch is in the rounds at once');
  await repositories.pushes.finish();
  await races.announced();
  t.match(await stateOf(at), { rounds: 2, headOid: head }, 'and once');
  t.match(await stateOf({ ...at, number: 2 }), { rounds: 1, headOid: contributed });
  t.match(await races.pullRefs('away'), { 'refs/pull/1/head': head, 'refs/pull/2/head': contributed });
});

t.test('a fork that is pushed while the base is in the trash, and the base while the fork is', async (t) => {
  const clone = await repository('base');
  await clone.git('status');
  const base = { owner: 'alice', name: 'base' };
  const fork = await repositories.forks.create({ ...bob, username: 'bob' }, base.owner, base.name, {
    name: 'fork',
  });
  const pushFork = async (file: string, text: string): Promise<string> => {
    const operations = [{ kind: 'put', path: file, content: Buffer.from(text) }] as const;
    const { oid } = await repositories.contents.change(bob, 'bob', 'fork', {
      branch: 'main',
      operations,
      message: file,
    });
    await races.announced();
    return oid;
  };
  await pushFork('b.txt', 'b\n');
  const { issue } = await pulls.open(bob, base, { title: 'From a fork', head: 'bob:main' });
  const at = { ...base, number: issue.number };

  const { id } = await repositories.trash.move(alice, 'alice', 'base');
  const second = await pushFork('b.txt', 'better\n');
  await repositories.trash.restore(alice, id);
  t.match(await stateOf(at), { rounds: 2, headOid: second });

  const third = await pushFork('b.txt', 'best\n');
  await repositories.trash.move(bob, 'bob', 'fork');
  t.match(await stateOf(at), { rounds: 3, headOid: third });
  await repositories.trash.restore(bob, fork.id);
  t.match(await stateOf(at), { rounds: 3, headOid: third }, 'nothing new, no round');
});

t.test('a kill in a restore: the next start finds what it has left', async (t) => {
  const clone = await repository('cut');
  await clone.git('checkout', '--quiet', '-b', 'topic');
  await clone.commit('b.txt', 'b\n');
  t.equal((await clone.push('--quiet', 'origin', 'topic')).code, 0);
  await races.announced();
  const { issue } = await pulls.open(alice, { owner: 'alice', name: 'cut' }, { title: 'Change it', head: 'topic' });
  const at = { owner: 'alice', name: 'cut', number: issue.number };
  const gate = races.hold();
  const head = await races.pushTo(clone, 'topic', 'b.txt', 'better\n');
  await gate.isReached;
  const { id } = await repositories.trash.move(alice, 'alice', 'cut');
  gate.release();
  await repositories.pushes.whenAnnounced(id, 10_000);
  const { restored } = pulls.onRestore;
  pulls.onRestore.restored = async () => {};
  await repositories.trash.restore(alice, id);
  pulls.onRestore.restored = restored;
  const rows: { lastRound: number }[] = await races.db.read.query(
    'SELECT last_round AS "lastRound" FROM pulls WHERE issue_id = ?',
    [issue.id],
  );
  t.strictSame(
    rows.map(({ lastRound }) => lastRound),
    [1],
  );
  await pulls.recover();
  t.match((await pulls.find(alice, at)).pull, { lastRound: 2, headOid: head });
});
