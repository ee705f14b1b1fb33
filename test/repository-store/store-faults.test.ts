// A store that fails, lies or loses what it has: a push is told so and has changed nothing, or it is there.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import type { Fault } from '../fixtures/fake-s3-server.ts';
import { clientGit, gitSync, sampleRepository } from '../git/git-fixture.ts';
import { startStoreServer } from './store-server.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(240_000);

const sample = sampleRepository();
const server = await startStoreServer(t);
const { s3 } = server;
const url = await server.newRepository('roof');
const push = (...refs: string[]) => clientGit(['push', url, ...refs], { cwd: sample });
await push('main~2:refs/heads/main');
let before = await server.refsOf('roof');
const { id } = (await server.app.modules.repositories.find(localAdministrator, 'alice', 'roof')).repository;
/** Listeners of pushes write, too. */
const listened = () => server.app.modules.repositories.pushes.whenAnnounced(id, 10_000);
const idOf = (revision: string) => gitSync(['rev-parse', revision], { cwd: sample });

interface Row {
  name: string;
  method: 'PUT' | 'HEAD';
  faults: Fault[];
  /** What the client is told; null where the push is accepted. */
  says: RegExp | null;
}

const away = /store/;
const rows: Row[] = [
  { name: 'says 200 and loses the object', method: 'PUT', faults: ['lost'], says: away },
  { name: 'keeps something else', method: 'PUT', faults: ['another'], says: away },
  { name: 'refuses', method: 'PUT', faults: Array(6).fill('forbidden'), says: away },
  { name: 'is full', method: 'PUT', faults: Array(6).fill('full'), says: away },
  { name: 'receives it damaged', method: 'PUT', faults: Array(6).fill('damaged'), says: away },
  { name: 'does not answer', method: 'PUT', faults: Array(6).fill('hang'), says: away },
  { name: 'cuts its answer', method: 'PUT', faults: ['cut_after'], says: null },
  { name: 'is slow', method: 'PUT', faults: ['slow', 'slow'], says: null },
  { name: 'is told to wait', method: 'PUT', faults: ['slow_down'], says: null },
];

for (const [at, { name, method, faults, says }] of rows.entries()) {
  t.test(`the store ${name}`, async (t) => {
    // A commit of its own for each row.
    const oid = gitSync(['commit-tree', 'main^{tree}', '-p', 'main', '-m', `Row ${at}`], { cwd: sample });
    await listened();
    s3.fail(method, ...faults);
    const pushed = await push(`${oid}:refs/heads/row`);
    s3.heal();
    if (says === null) t.equal(pushed.code, 0, pushed.stderr);
    else {
      t.equal(pushed.code, 1);
      t.match(pushed.stderr, says);
      t.match(pushed.stderr, /remote rejected/, 'for each ref');
      t.equal(await server.refsOf('roof'), before, 'nothing has changed');
      t.equal((await push(`${oid}:refs/heads/row`)).code, 0, 'and the next push is taken');
    }
    t.match(await server.cloneOf('roof'), `${oid} refs/heads/row`);
    t.equal((await push(':refs/heads/row')).code, 0);
    before = await server.refsOf('roof');
  });
}

t.test('a journal that cannot be written does not take back a push, and the next one makes it good', async (t) => {
  const oid = idOf('topic');
  const count = () => [...s3.objects.keys()].filter((name) => name.includes('/journal/')).length;
  await listened();
  const journalled = count();
  t.equal((await push(`${oid}:refs/heads/a`)).code, 0);
  t.equal(count(), journalled + 1);
  await listened();
  s3.fail('PUT', ...Array<Fault>(3).fill('forbidden'));
  t.equal((await push(`${oid}:refs/heads/b`, ':refs/heads/a')).code, 0);
  s3.heal();
  t.equal((await push(`${oid}:refs/heads/c`)).code, 0);
  const objects = [...s3.objects].filter(([name]) => name.includes('/journal/')).sort(([a], [b]) => (a < b ? -1 : 1));
  const last = JSON.parse(objects.at(-1)![1].content.toString()) as { refs: { name: string; oid: string | null }[] };
  t.match(Object.fromEntries(last.refs.map(({ name, oid }) => [name, oid])), { 'refs/heads/c': oid });
});

t.test('what fails once the rows have a push does not refuse it', async (t) => {
  const oid = gitSync(['commit-tree', 'main^{tree}', '-p', 'main', '-m', 'Emptied'], { cwd: sample });
  await listened();
  const { length } = s3.requests;
  // Pack and index, then the journal object, which waits; the folder is gone meanwhile, and the store, too.
  s3.fail('PUT', 'slow', 'slow', 'slow');
  const pushing = push(`${oid}:refs/heads/emptied`);
  await waitUntil(
    async () => s3.requests.slice(length).some((line) => /^PUT .*journal/.test(line)),
    'the journal is written',
  );
  server.emptyCache();
  s3.fail('GET', ...Array<Fault>(30).fill('forbidden'));
  const { code, stderr } = await pushing;
  s3.heal();
  t.equal(code, 0, stderr);
  t.notMatch(stderr, /rejected/);
  t.match(await server.cloneOf('roof'), `${oid} refs/heads/emptied`);
  t.equal((await push(':refs/heads/emptied')).code, 0);
});

for (const [what, spoil] of [
  ['a pack with another byte', (content: Buffer) => (content[40]! ^= 1)],
  ['a pack that is gone', null],
] as const) {
  t.test(what, async (t) => {
    const name = [...s3.objects.keys()].find((key) => key.endsWith('.pack'))!;
    const object = s3.objects.get(name)!;
    const whole = Buffer.from(object.content);
    if (spoil === null) s3.objects.delete(name);
    else spoil(object.content);
    server.emptyCache();
    const listed = await clientGit(['ls-remote', url]);
    t.equal(listed.code, 128);
    t.match(listed.stderr, /not in the store, or damaged/);
    const page = await fetch(`${server.origin}/alice/roof`);
    t.equal(page.status, 503);
    s3.objects.set(name, { ...object, content: whole });
    t.match(await server.cloneOf('roof'), `${idOf('main~2')} refs/heads/main`);
  });
}

t.test('a store that is away: what is here is read, what is not is said', async (t) => {
  await server.refsOf('roof');
  await s3.stop();
  t.equal((await clientGit(['ls-remote', url])).code, 0);
  const oid = gitSync(['commit-tree', 'main^{tree}', '-p', 'main', '-m', 'Away'], { cwd: sample });
  const pushed = await push(`${oid}:refs/heads/away`);
  t.equal(pushed.code, 1);
  t.match(pushed.stderr, away);
  server.emptyCache();
  const listed = await clientGit(['ls-remote', url]);
  t.equal(listed.code, 128);
  await s3.resume();
  await waitUntil(async () => (await clientGit(['ls-remote', url])).code === 0, 'the store is asked again');
  t.notMatch(await server.cloneOf('roof'), 'refs/heads/away');
});
