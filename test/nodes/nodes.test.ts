// time limit: 120 s
// Two and three nodes on one database: who is there, who has a lease, and which node runs a scheduled task. Their times
// are moved in the rows, because they are told by the clock of the database.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { invalid, silentLogger, systemRandom } from '../../src/kernel/index.ts';
import type { Logger } from '../../src/kernel/index.ts';
import {
  belongsToNobody,
  createLeases,
  createNodes,
  createSharedKeys,
  isAlone,
  nodeIdOf,
} from '../../src/nodes/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { createScheduler, createTaskRuns } from '../../src/scheduler/index.ts';
import type { Database } from '../../src/db/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { databaseOf } from '../repositories/repositories-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(110_000);

/** Shared keys as a server has them whose key file is in `folder`. */
const sharedKeysOf = (t: Owner, db: Database, folder = temporaryFolder(t)) =>
  createSharedKeys({
    db,
    random: systemRandom,
    instanceKey: new InstanceKey(path.join(folder, 'secret.key'), systemRandom, 'nodes'),
  });

function nodeOf(
  t: Owner,
  db: Database,
  id: string,
  {
    isShared = true,
    logger = silentLogger as Logger,
    key = 'key' as string | null,
    now = Date.now,
    reload = null as (() => Promise<object>) | null,
  } = {},
) {
  const replaced: string[] = [];
  const own = databaseOf(db, id);
  const nodes = createNodes({
    db: own,
    logger,
    clock: { now },
    random: systemRandom,
    keyPrints: (mayMake) => (key === null ? (mayMake ? ['made'] : []) : key.split(' ')),
    sharedKeys: sharedKeysOf(t, own),
    version: '1.2.3',
    host: `${id}.example.org`,
    sharesRepositories: isShared,
    reload,
    onReplaced: (sentence) => void replaced.push(sentence),
  });
  t.teardown(() => nodes.stop());
  return { db: own, nodes, leases: createLeases({ db: own, logger }), replaced };
}

const holds = async (db: Database, condition: string): Promise<boolean> =>
  (await db.read.query(`SELECT 1 AS found WHERE ${condition}`)).length > 0;

const pass = (db: Database, table: 'nodes' | 'leases', name: string) =>
  db.write(({ manager }) =>
    manager.query(`UPDATE ${table} SET until = 1 WHERE ${table === 'nodes' ? 'id' : 'name'} = ?`, [name]),
  );

t.test('who is there: by start, until stopped or not seen for long', async (t) => {
  const { db } = await openTestDatabase(t);
  const [a, b] = [nodeOf(t, db, 'a'), nodeOf(t, db, 'b')];
  t.ok(await holds(db, isAlone(a.db)), 'nobody else is there yet');
  await a.nodes.begin();
  await b.nodes.begin();
  for (const { nodes } of [a, b])
    t.match(await nodes.list(), [
      { id: 'a', host: 'a.example.org', version: '1.2.3', isLiving: true },
      { id: 'b', host: 'b.example.org', isLiving: true },
    ]);
  t.notOk(await holds(db, isAlone(a.db)));
  t.notOk(await holds(db, belongsToNobody("'b'")));
  await pass(db, 'nodes', 'b');
  t.match(await a.nodes.list(), [{ isLiving: true }, { id: 'b', isLiving: false }], 'killed');
  t.ok(await holds(db, isAlone(a.db)));
  t.ok(await holds(db, belongsToNobody("'b'")));
  await b.nodes.begin();
  t.match(await a.nodes.list(), [{ id: 'a' }, { id: 'b', isLiving: true }], 'it comes back under its name');
  await b.nodes.stop();
  t.ok(await holds(db, isAlone(a.db)), 'a stop says so at once');
});

t.test('a database of one process: nothing is written and nothing asked', async (t) => {
  const { db } = await openTestDatabase(t);
  const alone = Object.create(db, { node: { value: null }, write: { value: () => t.fail('a write') } }) as Database;
  const clock = { now: Date.now };
  const deps = {
    db: alone,
    clock,
    logger: silentLogger,
    random: systemRandom,
    keyPrints: () => [],
    sharedKeys: sharedKeysOf(t, alone),
    version: '1',
    host: 'h',
  };
  const nodes = createNodes({ ...deps, sharesRepositories: false, reload: null, onReplaced: () => {} });
  await nodes.begin();
  t.same([await nodes.list(), isAlone(alone)], [[], '1 = 1']);
  const turn = await createLeases(deps).take('task', 60_000);
  await turn?.end();
  t.ok(turn);
  await nodes.stop();
});

t.test('repositories in local folders belong to one server', async (t) => {
  const { db } = await openTestDatabase(t);
  const [a, b] = [nodeOf(t, db, 'a', { isShared: false }), nodeOf(t, db, 'b', { isShared: false })];
  await a.nodes.begin();
  await t.rejects(b.nodes.begin(), { reason: 'second_node_needs_store', message: /a\.example\.org/ });
  t.match(await b.nodes.list(), [{ id: 'a' }]);
  await nodeOf(t, db, 'a', { isShared: false }).nodes.begin();
  await pass(db, 'nodes', 'a');
  await b.nodes.begin();
});

t.test('of two servers under one name the first one ends, and says so', async (t) => {
  const { db } = await openTestDatabase(t);
  const [first, second, other] = [nodeOf(t, db, 'a'), nodeOf(t, db, 'a'), nodeOf(t, db, 'b')];
  for (const { nodes } of [first, other, second]) await nodes.begin();
  await waitUntil(() => first.replaced.length !== 0);
  t.match(first.replaced, [
    /under the name a: its data folder is a copy\. Remove the file node-id from one of them\.$/,
  ]);
  await first.nodes.stop();
  // Two that started in one millisecond are listed in any order.
  const living = (await other.nodes.list()).map(({ id, isLiving }) => ({ id, isLiving }));
  t.strictSame(
    living.toSorted((one, another) => (one.id < another.id ? -1 : 1)),
    [
      { id: 'a', isLiving: true },
      { id: 'b', isLiving: true },
    ],
    'its stop ends no other',
  );
  t.strictSame([second.replaced, other.replaced], [[], []]);
});

t.test('a server with another instance key does not start beside one, and makes none', async (t) => {
  const { db } = await openTestDatabase(t);
  const a = nodeOf(t, db, 'a', { key: null });
  await a.nodes.begin();
  t.match(await a.nodes.list(), [{ keyPrint: 'made', isThis: true }], 'the first one makes it');
  for (const [key, words] of [
    ['another', /its instance key is another one/],
    [null, /has no instance key/],
  ] as const) {
    const b = nodeOf(t, db, 'b', { key });
    await t.rejects(b.nodes.begin(), { reason: 'instance_key_differs', message: words });
    t.match(await b.nodes.list(), [{ id: 'a' }]);
  }
  await nodeOf(t, db, 'b', { key: 'made' }).nodes.begin();
  await pass(db, 'nodes', 'a');
  await pass(db, 'nodes', 'b');
  await t.rejects(nodeOf(t, db, 'c', { key: 'another' }).nodes.begin(), {
    reason: 'instance_key_differs',
    message: /has sealed/,
  });
});

t.test('clocks: how far each is ahead of that of the database; and who went without a word', async (t) => {
  const { db } = await openTestDatabase(t);
  const a = nodeOf(t, db, 'a');
  await a.nodes.begin();
  await nodeOf(t, db, 'b', { now: () => Date.now() - 3_600_000 }).nodes.begin();
  const c = nodeOf(t, db, 'c', { now: () => Date.now() + 7_200_000 });
  await c.nodes.begin();
  const ahead = new Map((await a.nodes.list()).map(({ id, clockAheadMs }) => [id, clockAheadMs]));
  t.ok(Math.abs(ahead.get('a')!) < 600_000);
  t.ok(Math.abs(ahead.get('b')! + 3_600_000) < 600_000);
  t.ok(Math.abs(ahead.get('c')! - 7_200_000) < 600_000);
  await pass(db, 'nodes', 'b');
  await c.nodes.stop();
  t.match(await a.nodes.list(), [
    { id: 'a', isLiving: true, hasStopped: false, isThis: true },
    { id: 'b', isLiving: false, hasStopped: false, isThis: false },
    { id: 'c', isLiving: false, hasStopped: true },
  ]);
});

t.test('leases: one holder, until it ends or its time is over; a rest for work by the clock', async (t) => {
  const { db } = await openTestDatabase(t);
  const [a, b] = [nodeOf(t, db, 'a').leases, nodeOf(t, db, 'b').leases];
  const both = await Promise.all([a.take('pack'), b.take('pack')]);
  t.equal(both.filter((turn) => turn !== null).length, 1, 'one of two at the same moment');
  t.ok(await b.take('other'), 'other work is another lease');
  for (const turn of both) await turn?.end();
  const held = await b.take('pack');
  t.ok(held);
  t.equal(await b.take('pack'), null, 'nor twice by one node');
  await pass(db, 'leases', 'run:pack');
  const later = await a.take('pack');
  t.ok(later, 'its holder was killed');
  await held?.end();
  t.equal(await b.take('pack'), null, 'a holder of before gives nothing back');
  await later?.end();

  const first = await a.take('nightly', 60_000);
  await first?.end();
  t.ok(first);
  for (const leases of [a, b]) t.equal(await leases.take('nightly', 60_000), null, 'by another clock, a moment later');
  const byHand = await b.take('nightly');
  t.ok(byHand, 'by hand at any time');
  await byHand?.end();
  await pass(db, 'leases', 'rest:nightly');
  t.ok(await b.take('nightly', 60_000));
});

t.test('a task runs on one node at a time, and on each where it says so', async (t) => {
  const { db, clock } = await openTestDatabase(t);
  const ran: string[] = [];
  const gate = Promise.withResolvers<void>();
  const schedulers = ['a', 'b', 'c'].map((id) => {
    const { db: own, leases } = nodeOf(t, db, id);
    return createScheduler({
      logger: silentLogger,
      clock,
      leases,
      runs: createTaskRuns({ db: own, clock }),
      tasks: [
        { name: 'once', time: '0 0 4 * * *', run: () => (ran.push(`once`), gate.promise) },
        { name: 'each', time: '0 0 4 * * *', onEachNode: true, run: async () => ran.push(`each ${id}`) },
        { name: 'fails', time: '0 0 4 * * *', run: () => Promise.reject(new Error('no')) },
      ],
    });
  });
  const runs = Promise.all(schedulers.map((scheduler) => scheduler.runNow('once')));
  const each = await Promise.all(schedulers.map((scheduler) => scheduler.runNow('each')));
  t.equal(each.filter((outcome) => typeof outcome === 'object' && outcome.error === null).length, 3);
  await waitUntil(() => ran.includes('once'));
  gate.resolve();
  t.equal((await runs).filter((outcome) => typeof outcome === 'object').length >= 1, true);
  const turn = await nodeOf(t, db, 'd').leases.take('task:once');
  for (const scheduler of schedulers) t.equal(await scheduler.runNow('once'), 'elsewhere');
  t.equal(await schedulers[0]!.runNow('tea'), 'unknown');
  await turn?.end();
  t.type(await schedulers[0]!.runNow('once'), 'object');
  t.same(ran.filter((name) => name.startsWith('each')).sort(), ['each a', 'each b', 'each c']);
  for (const scheduler of schedulers) t.match(await scheduler.runNow('fails'), { error: { message: 'no' } });
});

t.test('the name of a data folder stays, and a broken one is made anew', async (t) => {
  const folder = path.join(temporaryFolder(t), 'data');
  const id = nodeIdOf(folder, systemRandom);
  t.match(id, /^[0-9a-f-]{36}$/);
  t.equal(nodeIdOf(folder, systemRandom), id);
  writeFileSync(path.join(folder, 'node-id'), "x' OR 1=1");
  const next = nodeIdOf(folder, systemRandom);
  t.not(next, id);
  t.equal(readFileSync(path.join(folder, 'node-id'), 'utf8'), `${next}\n`);
});

t.test('a filled database and empty folders: no key is made, and another one is refused', async (t) => {
  const { db } = await openTestDatabase(t);
  const begin = (key: string | null) => nodeOf(t, db, 'a', { key }).nodes.begin();
  await begin(null);
  await pass(db, 'nodes', 'a');
  const missing = { reason: 'instance_key_missing', message: /Copy ci\/secret\.key .* hearth key instance --adopt/ };
  const differs = { reason: 'instance_key_differs', message: /is not the one that has sealed/ };
  const cases: [what: string, key: string | null, refusal: { reason: string; message: RegExp } | null][] = [
    ['an empty folder', null, missing],
    ['another key', 'another', differs],
    ['the same key', 'made', null],
    ['in the middle of a rotation', 'new made', null],
    ['after it', 'new', null],
    ['the key from before', 'made', differs],
  ];
  for (const [what, key, refusal] of cases) {
    if (refusal === null) await begin(key);
    else await t.rejects(begin(key), refusal, what);
    await pass(db, 'nodes', 'a');
  }
  t.equal(await sharedKeysOf(t, db).instancePrint(), 'new');
  t.equal(await sharedKeysOf(t, db).forget(), 1);
  await begin('another');
});

t.test('shared keys: the first that is kept is that of all, sealed with the instance key', async (t) => {
  const { db } = await openTestDatabase(t);
  const folder = temporaryFolder(t);
  const [a, b, foreign] = [sharedKeysOf(t, db, folder), sharedKeysOf(t, db, folder), sharedKeysOf(t, db)];
  t.equal(await a.find('one'), null);
  t.equal(await a.agree('one', { print: 'p1', secret: 'first' }), 'first');
  t.equal(await b.agree('one', { print: 'p2', secret: 'second' }), 'first');
  t.equal(await b.agree('other', { print: 'p3', secret: 'third' }), 'third');
  t.same(await db.read.query('SELECT name, print FROM shared_keys ORDER BY name'), [
    { name: 'one', print: 'p1' },
    { name: 'other', print: 'p3' },
  ]);
  const sealed = await db.read.query('SELECT sealed FROM shared_keys');
  t.notMatch(JSON.stringify(sealed), /first|third/);
  const unreadable = { reason: 'shared_key_unreadable', message: /the one key/ };
  await t.rejects(foreign.find('one'), unreadable);
  await t.rejects(foreign.agree('one', { print: 'p4', secret: 'fourth' }), unreadable);
  t.equal(await a.find('one'), 'first', 'and nothing was changed');
  // Of a row that was moved to another name, nothing is told.
  await db.write(({ manager }) => manager.query("UPDATE shared_keys SET name = 'two' WHERE name = 'one'"));
  await t.rejects(a.find('two'), { reason: 'shared_key_unreadable', message: /the two key/ });
  await b.keep('other', { print: 'p5', secret: 'fifth' });
  t.equal(await a.find('other'), 'fifth');
});

t.test('hearth reload --all: each living node reloads its own settings, once for each request', async (t) => {
  const { db } = await openTestDatabase(t);
  const done: string[] = [];
  const reloading = (id: string, result: () => Promise<object>) =>
    nodeOf(t, db, id, { reload: async () => (done.push(id), result()) });
  const a = reloading('a', async () => ({ applied: ['log.level'], needRestart: ['http.listen'] }));
  const b = reloading('b', () => Promise.reject(invalid('config_unknown', 'There is no option log.levle.')));
  const gone = reloading('c', async () => ({}));
  const silent = nodeOf(t, db, 'd');
  for (const { nodes } of [a, b, gone, silent]) await nodes.begin();
  await pass(db, 'nodes', 'c');
  const seen = (host: string) => ({ host: `${host}.example.org` });
  const wanted = [
    { ...seen('a'), state: 'reloaded', outcome: { applied: ['log.level'], needRestart: ['http.listen'] } },
    { ...seen('b'), state: 'refused', refusal: 'There is no option log.levle.' },
    { ...seen('d'), state: 'silent', outcome: null },
  ];
  // Enough turns for the two that answer; the third never does.
  t.match(await a.nodes.reloadAll(12_000), wanted);
  t.same(done.sort(), ['a', 'b']);
  // One that has started since has read its file: it is not asked again.
  await silent.nodes.stop();
  const asked = a.nodes.reloadAll(20_000);
  await b.nodes.stop();
  await nodeOf(t, db, 'b').nodes.begin();
  const [first, second] = await asked;
  t.equal(first?.state, 'reloaded');
  t.match(second?.state, /^(restarted|refused)$/);
  t.same(done.filter((id) => id === 'a').length, 2);
});
