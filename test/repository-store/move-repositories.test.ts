// Repositories that move between folders and the store while they are pushed to: no refusal but a sentence, no
// acknowledged push lost, the same refs on both sides. Two of them, one with a wiki; a third one stays.
import { existsSync, utimesSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { databaseSettings } from '../fixtures/test-postgres.ts';
import { keysOf } from '../fixtures/fake-s3-server.ts';
import { runCli } from '../cli/run-cli.ts';
import { clientGit, gitSync, sampleRepository } from '../git/git-fixture.ts';
import { startStoreServer } from './store-server.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(240_000);

const sample = sampleRepository();
const server = await startStoreServer(t);
const { s3, app, folder } = server;
const { git, db, repositories } = app.modules;
const commit = (text: string) => gitSync(['commit-tree', 'main^{tree}', '-p', 'main', '-m', text], { cwd: sample });
const push = (url: string, ...refs: string[]) => clientGit(['push', '--quiet', url, ...refs], { cwd: sample });

const env = { ...(await databaseSettings(t, path.join(folder, 'data'))), SERVICE_GIT_STORAGE: 'store', ...s3.env };
const hearth = (...words: string[]) =>
  runCli(['--data-dir', path.join(folder, 'data'), ...words], { env, cwd: folder });

async function newRepository(name: string) {
  const url = await server.newRepository(name);
  await push(url, 'main', 'topic', '--tags');
  const { path: place, repository } = await repositories.find(localAdministrator, 'alice', name);
  return { url, place, id: repository.id };
}
const isStored = async (id: string) =>
  ((await db.read.query('SELECT id FROM stored_repositories WHERE id = ?', [id])) as unknown[]).length === 1;

const [roof, shed, stays] = [await newRepository('roof'), await newRepository('shed'), await newRepository('stays')];
const api = (method: string, target: string, body: unknown) =>
  fetch(`${server.origin}/api/v1${target}`, {
    method,
    headers: { Authorization: `token ${server.tokens.alice}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
const page = { title: 'Home', content_base64: Buffer.from('# Home').toString('base64') };
if ((await api('POST', '/repos/alice/roof/wiki/new', page)).status !== 201) throw new Error('no wiki');
const wikiRefs = () => clientGit(['ls-remote', roof.url.replace(/\.git$/, '.wiki.git')]);
const wikiBefore = (await wikiRefs()).stdout;

/** Pushes branches one after the other until told to end; returns the heads that were acknowledged. */
function pushOn(url: string, prefix: string) {
  let isOver = false;
  const acknowledged = new Map<string, string>();
  const refused: string[] = [];
  const running = (async () => {
    for (let at = 0; !isOver; at += 1) {
      const oid = commit(`${prefix} ${at}`);
      const { code, stderr } = await push(url, `${oid}:refs/heads/${prefix}-${at}`);
      if (code === 0) acknowledged.set(`refs/heads/${prefix}-${at}`, oid);
      else refused.push(stderr);
    }
  })();
  return {
    acknowledged,
    refused,
    async end() {
      isOver = true;
      await running;
    },
  };
}

for (const [place, words] of [
  ['local', /into folders\.\n$/],
  ['store', /into the store\.\n$/],
  ['local', /into folders\.\n$/],
] as const) {
  t.test(`to ${place}, while pushes arrive`, async (t) => {
    const before = keysOf(s3, 'journal/').length;
    const pushing = pushOn(roof.url, `${place}${before}`);
    await waitUntil(() => pushing.acknowledged.size !== 0);
    const moved = await hearth('repo', 'storage', '--to', place, 'alice/roof', 'alice/shed');
    const count = pushing.acknowledged.size;
    await waitUntil(() => pushing.acknowledged.size !== count);
    await pushing.end();
    t.match(moved, { code: 0, stdout: /alice\/roof\s.*moved\n.*alice\/shed\s.*moved\n/, stderr: words });
    for (const { id } of [roof, shed]) t.equal(await isStored(id), place === 'store');
    t.equal(await isStored(stays.id), true);
    for (const text of pushing.refused) t.match(text, /Try again/);
    const refs = await server.cloneOf('roof');
    for (const [name, oid] of pushing.acknowledged) t.match(refs, `${oid} ${name}`);
    t.match(wikiBefore, 'refs/heads/');
    t.equal((await wikiRefs()).stdout, wikiBefore);
    t.equal(existsSync(path.join(roof.place, 'HEAD')), true, 'the folder stays for clones that read it');
    if (place === 'local') {
      t.equal((await git.maintenance.check(roof.place)).length, 0);
      t.strictSame(await git.refs.list(roof.place), await git.refs.list(await git.storage.folderOf(roof.place)));
    }
    t.match(await hearth('repo', 'storage', '--to', place, 'alice/roof'), { code: 0, stdout: /is there\n/ });
  });
}

t.test('packs of what went go a day later, a folder that is the truth no longer as well', async (t) => {
  const night = () => git.maintenance.packAll([], async () => true);
  await night();
  t.not(keysOf(s3, `packs/${shed.id}/`).length, 0);
  for (const object of s3.objects.values()) object.modifiedAt = new Date(Date.now() - 2 * 24 * 60 * 60_000);
  await night();
  t.strictSame(keysOf(s3, `packs/${shed.id}/`), []);
  t.match(await server.cloneOf('shed'), 'refs/heads/main');
  t.match(await hearth('repo', 'storage', '--to', 'store', 'alice/shed'), { code: 0 });
  await night();
  t.equal(existsSync(shed.place), true);
  const old = new Date(Date.now() - 2 * 24 * 60 * 60_000);
  utimesSync(path.join(shed.place, 'hearth-moved.json'), old, old);
  await night();
  t.equal(existsSync(shed.place), false);
  t.match(await server.cloneOf('shed'), 'refs/heads/main');
  t.match(await server.cloneOf('stays'), 'refs/heads/main');
});

t.test('a store that loses what it is sent: nothing has moved', async (t) => {
  const before = await server.refsOf('roof');
  s3.fail('PUT', 'lost');
  const moved = await hearth('repo', 'storage', '--to', 'store', 'alice/roof');
  s3.heal();
  t.match(moved, { code: 7, stdout: /alice\/roof\s.*store did not keep/ });
  t.equal(await isStored(roof.id), false);
  t.equal(await server.refsOf('roof'), before);
});

t.test('bad words', async (t) => {
  t.equal((await hearth('repo', 'storage', '--to', 'store')).code, 2);
  t.equal((await hearth('repo', 'storage', '--to', 'store', '--all', 'alice/roof')).code, 2);
  t.equal((await hearth('repo', 'storage', '--to', 'moon', '--all')).code, 2);
  t.match(await hearth('repo', 'storage', '--to', 'store', 'alice/nothing'), { code: 3 });
});

t.test('hearth repo warm: from the store into the cache, before the first request', async (t) => {
  const cold = await startStoreServer(t, { SERVICE_METRICS_TOKEN: 'metrics' });
  const own = { ...(await databaseSettings(t, path.join(cold.folder, 'data'))), SERVICE_GIT_STORAGE: 'store' };
  const warm = (...words: string[]) =>
    runCli(['--data-dir', path.join(cold.folder, 'data'), 'repo', 'warm', ...words], {
      env: { ...own, ...cold.s3.env },
      cwd: cold.folder,
    });
  const metrics = async (): Promise<Record<string, number>> => {
    const response = await fetch(`${cold.origin}/metrics`, { headers: { authorization: 'Bearer metrics' } });
    const lines = (await response.text()).matchAll(/^hearth_(repository_fetch\w+|cache_\w+)(\{.*\})? (\S+)$/gm);
    return Object.fromEntries([...lines].map(([, name, labels = '', value]) => [`${name}${labels}`, Number(value)]));
  };
  const ids: Record<string, string> = {};
  for (const name of ['attic', 'cellar']) {
    await push(await cold.newRepository(name), 'main');
    ids[name] = (await cold.app.modules.repositories.find(localAdministrator, 'alice', name)).repository.id;
  }
  const isCached = (name: string) => existsSync(path.join(cold.caches, `${ids[name]}.git`, 'hearth-cache.json'));

  cold.emptyCache();
  t.match(await warm('alice/attic'), { code: 0, stdout: /^alice\/attic\t[1-9]\d*\t.*is in the cache/m });
  t.ok(isCached('attic'));
  t.match(await warm('--all', '--json'), { code: 0, stdout: /attic[^]*cellar|cellar[^]*attic/ });
  t.ok(isCached('cellar'));

  // The server has work of its own behind a push: it may fetch more than is asked for here.
  const before = await metrics();
  cold.emptyCache();
  for (const name of ['attic', 'cellar', 'attic']) await cold.refsOf(name);
  const after = await metrics();
  const grown = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
  t.ok(grown('repository_fetches_total{result="cold"}') >= 2);
  t.ok(grown('repository_fetches_total{result="hit"}') >= 1);
  t.ok(grown('repository_fetched_bytes_total') > 0);
  t.ok(grown('repository_fetch_seconds_count') >= 2);
  await cold.app.modules.git.maintenance.packAll([], async () => true);
  t.ok((await metrics())['cache_bytes']! > 0);
  t.ok((await metrics())['cache_limit_bytes']! > 0);

  cold.emptyCache();
  cold.s3.fail('GET', ...Array<'forbidden'>(60).fill('forbidden'));
  t.match(await warm('alice/attic', 'alice/cellar'), { code: 7 });
  cold.s3.heal();
  for (const words of [[], ['--all', 'alice/attic']]) t.match(await warm(...words), { code: 2 });
  t.match(await warm('alice/nothing'), { code: 3 });
});
