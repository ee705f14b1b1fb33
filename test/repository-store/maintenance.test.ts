// Caches that are not used go, what no ref leads to leaves the packs, and what no row names leaves the store. Two
// repositories; nothing that counts may go, whatever else does.
import { readdirSync, utimesSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { keysOf } from '../fixtures/fake-s3-server.ts';
import { clientGit, gitSync, sampleRepository } from '../git/git-fixture.ts';
import { watchStatements } from '../fixtures/query-plans.ts';
import { startStoreServer } from './store-server.ts';

watchStatements();

t.setTimeout(240_000);

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
const sample = sampleRepository();
const idOf = (revision: string) => gitSync(['rev-parse', revision], { cwd: sample });
const commit = (text: string) => gitSync(['commit-tree', 'main^{tree}', '-p', 'main', '-m', text], { cwd: sample });
// The smallest limit: with three megabytes each, one of two caches has to go.
const server = await startStoreServer(t, { SERVICE_GIT_CACHE: '4MiB' });
const { s3, app } = server;
const { git, db, repositories } = app.modules;
const night = () => git.maintenance.packAll([], async () => true);

async function push(url: string, ...refs: string[]): Promise<void> {
  const { code, stderr } = await clientGit(['push', '--quiet', url, ...refs], { cwd: sample });
  if (code !== 0) throw new Error(stderr);
}

async function newRepository(name: string) {
  const url = await server.newRepository(name);
  return { url, id: (await repositories.find(localAdministrator, 'alice', name)).repository.id };
}

const packsOf = (id: string) => keysOf(s3, `packs/${id}/`);
const ages = (below: string, ms: number): void => {
  for (const [name, object] of s3.objects)
    if (name.startsWith(`forge/${below}`)) object.modifiedAt = new Date(Date.now() - ms);
};
const sql = (statement: string, values: unknown[]) =>
  db.write(({ manager }) => manager.query(statement, values)) as Promise<unknown>;

const [one, two] = [await newRepository('one'), await newRepository('two')];

t.test('caches that were not used for longest go, those in use stay', async (t) => {
  // Noise does not compress.
  const noise = gitSync(['hash-object', '-w', '--stdin'], { cwd: sample, input: randomText(3 * 1024 * 1024) });
  const tree = gitSync(['mktree'], { cwd: sample, input: `100644 blob ${noise}\tnoise\n` });
  const oid = gitSync(['commit-tree', tree, '-m', 'Noise'], { cwd: sample });
  for (const { url } of [one, two]) await push(url, 'main', `${oid}:refs/heads/noise`);
  const folders = () => readdirSync(server.caches).filter((name) => name.endsWith('.git'));
  t.equal(folders().length, 2);
  await night();
  t.equal(folders().length, 2, 'both were used a moment ago');
  const age = (id: string, ms: number): void => {
    const at = new Date(Date.now() - ms);
    utimesSync(path.join(server.caches, `${id}.git`, 'hearth-cache.json'), at, at);
  };
  age(one.id, hourMs);
  age(two.id, 2 * hourMs);
  const blobs = git.objects
    .smallBlobs(
      (await repositories.find(localAdministrator, 'alice', 'two')).path,
      { of: [oid, idOf('main')], without: [] },
      { minBytes: 0, maxBytes: 1_000 },
    )
    [Symbol.asyncIterator]();
  const first = blobs.next();
  await first;
  await night();
  t.strictSame(folders(), [`${two.id}.git`], 'the older one is being read');
  await blobs.return?.();
  await server.refsOf('one');
  age(one.id, hourMs);
  age(two.id, 2 * hourMs);
  await night();
  t.strictSame(folders(), [`${one.id}.git`]);
  for (const name of ['one', 'two']) t.match(await server.cloneOf(name), `${oid} refs/heads/noise`);
});

async function find(id: string): Promise<Record<string, unknown>> {
  const [row] = (await db.read.query('SELECT * FROM stored_repositories WHERE id = ?', [id])) as [
    Record<string, unknown>,
  ];
  return row;
}

function randomText(bytes: number): string {
  let text = '';
  for (let state = 1; text.length < bytes; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += state.toString(36);
  }
  return text;
}

t.test('what no ref leads to leaves the store a day after the packs without it came', async (t) => {
  const oid = commit('Wrong');
  await push(one.url, `${oid}:refs/heads/wrong`);
  await push(one.url, ':refs/heads/wrong');
  // An overwritten tip is kept for undo by a hidden ref.
  await app.modules.repositories.pushes.whenAnnounced(one.id, 10_000);
  await sql(
    "UPDATE git_refs SET oid = NULL, generation = generation WHERE repository = ? AND name > 'refs/hearth/' AND name < 'refs/hearth0'",
    [one.id],
  );
  const before = await server.refsOf('one');
  await sql('UPDATE stored_repositories SET collected_at = 1 WHERE id = ?', [one.id]);
  await night();
  t.match(await find(one.id), { dropped_generation: (await find(one.id))['generation'] });
  const active = (await db.read.query('SELECT key FROM git_packs WHERE repository = ? AND replaced_at IS NULL', [
    one.id,
  ])) as unknown[];
  t.equal(active.length, 1);
  t.ok(packsOf(one.id).length > 2, 'replaced packs are there for a day');
  await sql('UPDATE git_packs SET replaced_at = 1 WHERE replaced_at > 0 AND repository = ?', [one.id]);
  await git.maintenance.run();
  t.equal(packsOf(one.id).length, 2);
  await server.cloneOf('one');
  t.equal(await server.refsOf('one'), before);
  const folder = await server.pathOf('one');
  t.throws(() => gitSync(['--git-dir', folder, 'cat-file', '-e', oid]), 'the object is gone');
  t.doesNotThrow(() => gitSync(['--git-dir', folder, 'cat-file', '-e', idOf('main')]));
});

t.test('a push that comes while objects are left out is there afterwards', async (t) => {
  const oids = Array.from({ length: 4 }, (_, at) => commit(`Beside ${at}`));
  for (const [at, oid] of oids.entries()) {
    await sql('UPDATE stored_repositories SET collected_at = 1 WHERE id = ?', [two.id]);
    // The second push of each brings no pack: it names what only the packs have that are being replaced.
    await push(two.url, `${oid}:refs/heads/t${at}`);
    await push(two.url, `:refs/heads/t${at}`);
    await Promise.all([
      night(),
      push(two.url, `${oid}:refs/heads/again${at}`),
      push(two.url, `main:refs/heads/more${at}`),
    ]);
  }
  const refs = await server.cloneOf('two');
  for (const [at, oid] of oids.entries()) t.match(refs, `${oid} refs/heads/again${at}`);
});

t.test('packs of no row go after a day, and others stay', async (t) => {
  const named = packsOf(one.id);
  const stray = `forge/packs/${one.id}/5f0c5e9c-0000-4000-8000-000000000000`;
  const young = `forge/packs/${two.id}/5f0c5e9c-0000-4000-8000-000000000001`;
  for (const ending of ['pack', 'idx'])
    for (const name of [stray, young])
      s3.objects.set(`${name}.${ending}`, { content: Buffer.from('stray'), headers: {}, modifiedAt: new Date() });
  ages(`packs/${one.id}/`, 2 * dayMs);
  await night();
  t.strictSame(packsOf(one.id), named);
  t.ok(s3.objects.has(`${young}.pack`), 'it may get a row yet');
  await server.cloneOf('one');
});

t.test('with rows that are older than the store nothing goes', async (t) => {
  const at = await find(two.id);
  await push(two.url, `${commit('Newer')}:refs/heads/newer`);
  const newer = await find(two.id);
  const stray = `forge/packs/${one.id}/5f0c5e9c-0000-4000-8000-000000000002.pack`;
  s3.objects.set(stray, { content: Buffer.from('x'), headers: {}, modifiedAt: new Date(Date.now() - 9 * dayMs) });
  await sql('UPDATE stored_repositories SET generation = ? WHERE id = ?', [at['generation'], two.id]);
  await night();
  t.ok(s3.objects.has(stray));
  t.ok(server.log.some(({ event }) => event === 'repository_store.rows_are_older'));
  await sql('UPDATE stored_repositories SET generation = ? WHERE id = ?', [newer['generation'], two.id]);
  await night();
  t.notOk(s3.objects.has(stray));
});

t.test('a long journal is written anew as a whole', async (t) => {
  await sql('UPDATE stored_repositories SET snapshot_generation = -100 WHERE id = ?', [one.id]);
  await night();
  const journal = keysOf(s3, `journal/${one.id}/`);
  t.equal(journal.length, 1);
  const whole = JSON.parse(s3.objects.get(`forge/journal/${one.id}/${journal[0]}`)!.content.toString()) as {
    since: number;
    refs: { name: string; oid: string | null }[];
  };
  t.equal(whole.since, 0);
  const listed = whole.refs
    .filter(({ oid, name }) => oid !== null && !name.startsWith('refs/hearth/'))
    .map(({ name, oid }) => `${oid} ${name}`)
    .join('\n');
  t.equal(listed, await server.cloneOf('one'));
});

t.test('the packs of a repository that went go, its journal ends', async (t) => {
  await repositories.trash.move(localAdministrator, 'alice', 'one');
  await repositories.trash.empty(0);
  t.strictSame(packsOf(one.id), []);
  t.match(keysOf(s3, `journal/${one.id}/`).at(-1), /\.end$/);
  await night();
  ages(`journal/${one.id}/`, 40 * dayMs);
  await night();
  t.strictSame(keysOf(s3, `journal/${one.id}/`), []);
  await server.cloneOf('two');
});
