// Objects of Git LFS in everything that a repository goes through: pages, archives, forks, pull requests, collection,
// checks, backups.
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { localAdministrator } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import { createDoctor } from '../../src/doctor/index.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { createLfs, lfsKey } from '../../src/lfs/index.ts';
import { unfinishedForkSchema } from '../../src/repositories/schema/unfinished-fork-schema.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { png } from '../fixtures/edge-case-repository.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { clientGit, gitSync } from '../git/git-fixture.ts';
import { startGitServer } from '../http-git/git-server.ts';
import { lfsClient, objectOf } from '../http-git/lfs-client.ts';
import type { TestObject } from '../http-git/lfs-client.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(180_000);

const [port, sshPort] = [await freePort(), await freePort()];
const server = await startGitServer(t, {
  SERVICE_HTTP_LISTEN: `127.0.0.1:${port}`,
  SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port},127.0.0.1:${sshPort}`,
  SERVICE_BASE_URL: `http://127.0.0.1:${port}`,
  SERVICE_SSH_ENABLED: 'true',
  SERVICE_SSH_LISTEN: `127.0.0.1:${sshPort}`,
});
const { modules } = server.app;
const { repositories, accounts, pulls, objects } = modules;
const bobId = (await accounts.personByUsername('bob')).id;
const viewer = (id: string, username: string): PersonViewer => ({
  kind: 'person',
  id,
  username,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});
const bob = viewer(bobId, 'bob');

const pointerOf = ({ oid, size }: Pick<TestObject, 'oid' | 'size'>): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;

const idOf = async (owner: string, name: string): Promise<string> =>
  (await repositories.find(localAdministrator, owner, name)).repository.id;
const fileOf = (repositoryId: string, oid: string): string =>
  path.join(server.folder, 'data', 'objects', lfsKey(repositoryId, oid));

async function listed<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

/** A work tree with one commit of these files. */
function makeWork(name: string, files: Readonly<Record<string, Buffer | string>>): string {
  const work = path.join(server.folder, `${name}-work`);
  gitSync(['init', '--quiet', '--initial-branch=main', work]);
  commit(work, files);
  return work;
}

function commit(work: string, files: Readonly<Record<string, Buffer | string | null>>): void {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(work, file)), { recursive: true });
    if (content === null) rmSync(path.join(work, file));
    else writeFileSync(path.join(work, file), content);
  }
  gitSync(['add', '--all'], { cwd: work });
  gitSync(['commit', '--quiet', '-m', 'change'], { cwd: work });
}

async function push(work: string, url: string, ref = 'main'): Promise<void> {
  const { code, stderr } = await clientGit(['push', '--quiet', '--force', url, ref], { cwd: work });
  if (code !== 0) throw new Error(stderr);
}

const picture = objectOf(png);
const film = objectOf(Buffer.alloc(700_000, 'film '));
const absent = objectOf('never uploaded');
const url = await server.newRepository('studio');
const work = makeWork('studio', {
  'a.txt': 'plain\n',
  'run.sh': '#!/bin/sh\n',
  'art/logo.png': pointerOf(picture),
  'art/film.mov': pointerOf(film),
  'art/absent.mov': pointerOf(absent),
  [`deep/${'long/'.repeat(25)}film.mov`]: pointerOf(film),
});
const studio = lfsClient(server, 'studio', server.tokens.alice);
for (const object of [picture, film]) await studio.upload(object);
await push(work, url);
const studioId = await idOf('alice', 'studio');
const get = (target: string, headers: Record<string, string> = {}) =>
  fetch(`${server.origin}/repos/alice/studio/${target}`, { headers });

t.test('pages show what the file is, raw gives the content', async (t) => {
  const film1 = await (await get('blob/main/art/film.mov')).text();
  t.match(film1, /stored with Git LFS/);
  t.match(film1, /700 kB/);
  t.match(film1, /art\/film\.mov\?download=1/);
  t.match(await (await get('blob/main/art/logo.png')).text(), /<img src="[^"]*raw\/main\/art\/logo\.png"/);
  t.match(await (await get('blob/main/art/film.mov?plain=1')).text(), /oid sha256/);
  t.match(await (await get('blob/main/art/absent.mov')).text(), /its content is not on this server/);

  const raw = await get('raw/main/art/film.mov');
  t.strictSame([raw.status, raw.headers.get('content-length')], [200, String(film.size)]);
  t.match(raw.headers.get('content-disposition'), /^attachment; filename="film\.mov"/);
  t.match(raw.headers.get('content-security-policy'), /sandbox/);
  t.ok(Buffer.from(await raw.arrayBuffer()).equals(film.content));
  const part = await get('raw/main/art/film.mov', { Range: 'bytes=10-19' });
  t.strictSame([part.status, (await part.text()).length], [206, 10]);
  t.equal(
    (await get('raw/main/art/film.mov', { 'If-None-Match': raw.headers.get('etag')!, 'Cache-Control': 'max-age=0' }))
      .status,
    304,
  );
  t.equal((await get('raw/main/art/logo.png')).headers.get('content-type'), 'image/png');
  t.match(await (await get('raw/main/art/absent.mov')).text(), /oid sha256/, 'the pointer where nothing else is');
  const api = await fetch(`${server.origin}/api/v1/repos/alice/studio/raw?path=art/film.mov`);
  t.equal((await api.arrayBuffer()).byteLength, film.size);
});

t.test('archives have the content', async (t) => {
  for (const format of ['tar.gz', 'zip']) {
    const file = path.join(server.folder, `studio.${format}`);
    const folder = path.join(server.folder, `unpacked-${format}`);
    mkdirSync(folder);
    writeFileSync(file, Buffer.from(await (await get(`archive/main.${format}`)).arrayBuffer()));
    if (format === 'zip') execFileSync('python3', ['-m', 'zipfile', '-e', file, folder]);
    else execFileSync('tar', ['-xzf', file, '-C', folder]);
    const read = (name: string) => readFileSync(path.join(folder, 'studio-main', name));
    t.ok(read('art/film.mov').equals(film.content), format);
    t.ok(read(`deep/${'long/'.repeat(25)}film.mov`).equals(film.content));
    t.ok(read('art/logo.png').equals(png));
    t.equal(read('a.txt').toString(), 'plain\n');
    t.equal(read('art/absent.mov').toString(), pointerOf(absent));
  }
});

t.test('a fork has the objects that its files name, without another copy', async (t) => {
  const loose = objectOf('uploaded, but no file names it');
  await studio.upload(loose);
  await repositories.forks.create(bob, 'alice', 'studio', {});
  const forkId = await idOf('bob', 'studio');
  const fork = lfsClient(server, 'studio', server.tokens.bob, 'bob');
  t.ok((await fork.download(film))?.equals(film.content));
  t.equal(statSync(fileOf(forkId, film.oid)).ino, statSync(fileOf(studioId, film.oid)).ino, 'one file');
  t.equal((await fork.batch('download', loose)).error?.code, 404, 'what no file names stays behind');
  const [row] = await modules.db.read.query(
    'SELECT bytes, shared_bytes FROM lfs_repositories WHERE repository_id = ?',
    [forkId],
  );
  t.strictSame({ ...row }, { bytes: 0, shared_bytes: film.size + picture.size });

  // A pull request from the fork brings its objects along.
  const added = objectOf('of the fork');
  await fork.upload(added);
  const forkUrl = `http://bob:${server.tokens.bob}@127.0.0.1:${server.port}/git/bob/studio.git`;
  gitSync(['checkout', '--quiet', '-b', 'topic'], { cwd: work });
  commit(work, { 'art/new.bin': pointerOf(added) });
  await push(work, forkUrl, 'topic');
  t.equal((await studio.batch('download', added)).error?.code, 404);
  const at = { owner: 'alice', name: 'studio' };
  await pulls.open(bob, at, { title: 'New art', body: '', head: 'bob:topic', base: 'main' });
  t.equal((await studio.download(added))?.toString(), 'of the fork');
  gitSync(['checkout', '--quiet', 'main'], { cwd: work });

  // And a synchronised fork gets those of its source.
  const later = objectOf('later in the source');
  await studio.upload(later);
  commit(work, { 'art/later.bin': pointerOf(later) });
  await push(work, url);
  await repositories.forks.sync(bob, 'bob', 'studio');
  t.equal((await fork.download(later))?.toString(), 'later in the source');
});

t.test('a person who may not write uploads for a pull request, and not without end', async (t) => {
  const contributor = lfsClient(server, 'studio', server.tokens.bob);
  const small = objectOf('for refs/for/main');
  t.equal(await contributor.upload(small), 200);
  const { status, json } = await contributor.plan('upload', [{ oid: 'f'.repeat(64), size: 64 * 1024 * 1024 }]);
  t.equal(status, 507);
  t.match(json.message, /pull requests to this repository/);
});

t.test('collection needs two clean scans and thirty days, and the trash keeps what it removes', async (t) => {
  const dayMs = 86_400_000;
  const clock = fixedClock(Date.now() + 1_000);
  const db = {
    ...modules.db,
    read: modules.db.read,
    lookup: modules.db.lookup,
    write: (fn: never) => modules.db.write(fn),
  } as unknown as typeof modules.db;
  const rest = {
    instanceKey: new InstanceKey(path.join(server.folder, 'data', 'ci', 'secret.key'), systemRandom, 'lfs'),
    settings: { ...modules.config.lfs, contributedBytes: 1 },
  };
  const lfs = createLfs({ ...modules, db, clock, random: systemRandom, ...rest });
  const collectUrl = await server.newRepository('attic');
  const attic = lfsClient(server, 'attic', server.tokens.alice);
  const [kept, old, hidden, unpushed, again] = ['kept', 'old', 'hidden', 'unpushed', 'again'].map((name) =>
    objectOf(`${name} object`),
  );
  for (const object of [kept!, old!, hidden!, unpushed!, again!]) await attic.upload(object);
  const folder = makeWork('attic', { 'kept.bin': pointerOf(kept!), 'old.bin': pointerOf(old!) });
  await push(folder, collectUrl);
  const atticId = await idOf('alice', 'attic');
  const scan = async (removes = true) => (await listed(lfs.gc.scan({ removes, repositoryIds: [atticId] })))[0]!;
  const bare = await server.pathOf('attic');
  // `old` is in no ref any more; `hidden` only in one that no client sees.
  gitSync(['checkout', '--quiet', '--orphan', 'fresh'], { cwd: folder });
  commit(folder, { 'old.bin': null, 'kept.bin': pointerOf(kept!) });
  commit(folder, { 'hidden.bin': pointerOf(hidden!) });
  gitSync(['push', '--quiet', bare, 'HEAD:refs/hearth/rounds/x'], { cwd: folder });
  gitSync(['push', '--quiet', '--force', bare, 'HEAD~1:refs/heads/main'], { cwd: folder });
  gitSync([`--git-dir=${bare}`, 'reflog', 'expire', '--expire=now', '--all']);

  t.match(await scan(), { objects: 5, unreferenced: { objects: 3 }, due: { objects: 0 }, problem: null });
  commit(folder, { 'again.bin': pointerOf(again!) });
  gitSync(['push', '--quiet', bare, 'HEAD:refs/hearth/rounds/y'], { cwd: folder });
  clock.advance(dayMs);
  t.match(await scan(), { unreferenced: { objects: 2 }, due: { objects: 0 } });
  gitSync([`--git-dir=${bare}`, 'update-ref', '-d', 'refs/hearth/rounds/y']);
  clock.advance(28 * dayMs);
  t.match(await scan(), { unreferenced: { objects: 3 }, due: { objects: 0 } });
  t.equal((await attic.batch('upload', unpushed!)).actions, undefined, 'it is there, and needed from now on');
  clock.advance(2 * dayMs);

  const head = path.join(bare, 'HEAD');
  renameSync(head, `${head}.away`);
  t.match(await scan(), { due: { objects: 0 }, problem: /could not read/ }, 'a scan that is not clean decides nothing');
  renameSync(`${head}.away`, head);
  t.match(
    await scan(false),
    { unreferenced: { objects: 3 }, due: { objects: 1 } },
    'said, not done; what was referenced in between is kept from then on',
  );
  t.ok(await attic.download(old!));
  t.match(await scan(), { due: { objects: 1 } });
  t.equal((await attic.batch('download', old!)).error?.code, 404);
  for (const object of [kept!, hidden!, unpushed!, again!])
    t.ok(await attic.download(object), object.content.toString());
  const trash = path.join(server.folder, 'data', 'objects', 'lfs-trash');
  t.equal(readdirSync(trash, { recursive: true }).filter((name) => String(name).endsWith(old!.oid)).length, 1);
  t.equal(await attic.upload(old!), 200, 'it can be uploaded again');

  t.test('what no row names is removed, and the trash is emptied', async (t) => {
    const orphan = lfsKey(atticId, objectOf('orphan').oid);
    const ofNone = lfsKey('00000000-0000-4000-8000-000000000000', objectOf('x').oid);
    // The files of a fork that is being made are links, as old as their source, and have no rows yet.
    const forkId = '00000000-0000-4000-8000-000000000001';
    const ofFork = lfsKey(forkId, objectOf('x').oid);
    const unfinished = { repositoryId: forkId, ownerId: bobId, node: 'local', createdAt: clock.now() };
    await modules.db.write(({ manager }) => manager.insert(unfinishedForkSchema, unfinished));
    for (const key of [orphan, ofNone, ofFork]) {
      await objects.put(
        key,
        (async function* () {
          yield Buffer.from('x');
        })(),
        { maxBytes: 1, tooLarge: () => new Error() },
      );
    }
    const { mtimeMs } = statSync(path.join(server.folder, 'data', 'objects', orphan));
    const after = (ms: number) =>
      createLfs({ ...modules, clock: fixedClock(mtimeMs + ms), random: systemRandom, ...rest });
    t.match(await after(dayMs - 60_000).gc.removeOrphans(), { objects: 0 }, 'a row may follow within a day');
    t.match(await lfs.gc.removeOrphans(), { objects: 2 });
    for (const key of [orphan, ofNone]) t.equal(await objects.stat(key), null);
    t.match(await objects.stat(ofFork), { bytes: 1 });
    await modules.db.write(({ manager }) => manager.delete(unfinishedForkSchema, { repositoryId: forkId }));
    t.match(await lfs.gc.removeOrphans(), { objects: 1 }, 'given up');
    clock.advance(9 * dayMs);
    t.ok((await lfs.gc.removeOrphans()).trashed >= 1);
    t.ok(await attic.download(kept!));
    t.ok(await attic.download(old!));
  });
});

t.test('objects that arrive while a scan is running are not marked by it', async (t) => {
  await server.newRepository('inlet');
  const inlet = lfsClient(server, 'inlet', server.tokens.alice);
  const inletId = await idOf('alice', 'inlet');
  await inlet.upload(objectOf('early'));
  const marks = async () =>
    (await modules.db.read.query('SELECT seen_at, unreferenced_since FROM lfs_objects WHERE repository_id = ?', [
      inletId,
    ])) as { seen_at: number; unreferenced_since: number | null }[];
  const [row] = await marks();
  const scanAt = async (now: number) => {
    const settings = { ...modules.config.lfs, contributedBytes: 1 };
    const instanceKey = new InstanceKey(path.join(server.folder, 'data', 'ci', 'secret.key'), systemRandom, 'lfs');
    const lfs = createLfs({ ...modules, clock: fixedClock(now), random: systemRandom, instanceKey, settings });
    t.match(await listed(lfs.gc.scan({ removes: true, repositoryIds: [inletId] })), [{ unreferenced: { objects: 1 } }]);
    return (await marks())[0]!.unreferenced_since;
  };
  const arrivedAt = Number(row!.seen_at);
  t.equal(await scanAt(arrivedAt - 1), null, 'it came after the begin');
  t.equal(await scanAt(arrivedAt), null, 'it came with the begin');
  t.equal(await scanAt(arrivedAt + 1), arrivedAt + 1);
});

t.test('a push whose files have no content here is told so', async (t) => {
  const url = await server.newRepository('sketches');
  const work = makeWork('sketches', { 'a.txt': 'plain' });
  const pushed = async () => (await clientGit(['push', url, 'main'], { cwd: work })).stderr;
  t.notMatch(await pushed(), /LFS/, 'nothing is said where nothing is missing');
  commit(work, { '.gitattributes': '*.png filter=lfs diff=lfs merge=lfs -text\n', 'logo.png': pointerOf(picture) });
  const said = await pushed();
  t.match(said, new RegExp(`remote: Git LFS: the content of 1 file is missing here: ${picture.oid.slice(0, 12)}`));
  t.match(said, /remote: .*git lfs push --all/);
  commit(work, { 'b.txt': 'more' });
  t.notMatch(await pushed(), /LFS/, 'only of what the push brings');
  await lfsClient(server, 'sketches', server.tokens.alice).upload(picture);
  const others = Object.fromEntries(
    Array.from({ length: 5 }, (_, index) => [`${index}.mov`, pointerOf(objectOf(`gone ${index}`))]),
  );
  commit(work, { ...others, 'again.png': pointerOf(picture) });
  t.match(await pushed(), /the content of 5 files is missing here: \w{12}, \w{12}, \w{12}, …/);
  const sketches = { owner: 'alice', name: 'sketches' };
  const alice = viewer((await accounts.personByUsername('alice')).id, 'alice');
  await modules.lfs.switchRepository(alice, sketches, false);
  commit(work, { '9.mov': pointerOf(objectOf('gone 9')) });
  t.notMatch(await pushed(), /LFS/, 'not where LFS is switched off');
});

t.test('a repository from a template has the content of its files, as links', async (t) => {
  const alice = viewer((await accounts.personByUsername('alice')).id, 'alice');
  await repositories.edit(alice, 'alice', 'studio', { isTemplate: true });
  await repositories.create(alice, {
    name: 'made',
    visibility: 'PRIVATE',
    template: { owner: 'alice', name: 'studio' },
  });
  const client = lfsClient(server, 'made', server.tokens.alice);
  for (const object of [picture, film]) t.ok((await client.download(object))?.equals(object.content));
  t.equal(await client.download(absent), null, 'what the template lacks is lacking');
  t.equal(statSync(fileOf(await idOf('alice', 'made'), film.oid)).ino, statSync(fileOf(studioId, film.oid)).ino);
  t.equal((await modules.lfs.usage(await idOf('alice', 'made'))).bytes, 0, 'and takes no space');
});

t.test('imports, mirrors and exports bring the objects along', async (t) => {
  const alice = viewer((await accounts.personByUsername('alice')).id, 'alice');
  const has = async (owner: string, name: string) =>
    (await lfsClient(server, name, server.tokens.alice, owner).download(film))?.equals(film.content) === true;
  await modules.mirrors.import(alice, {
    address: `${server.origin}/git/alice/studio.git`,
    name: 'imported',
    visibility: 'PRIVATE',
    keepMirroring: true,
  });
  const mirrorOf = async (name: string) => modules.mirrors.find(await idOf('alice', name));
  await waitUntil(async () => (await mirrorOf('imported'))?.lastOkAt != null, 'the import has ended');
  t.ok(await has('alice', 'imported'));
  t.equal((await mirrorOf('imported'))?.lastError, null, 'an object that the source has lost is no failure');

  // What a run could not fetch is asked for again by the next one, which brings no commit.
  const late = objectOf('late');
  await lfsClient(server, 'studio', server.tokens.alice).upload(late);
  const lateFile = fileOf(await idOf('alice', 'studio'), late.oid);
  renameSync(lateFile, `${lateFile}.away`);
  const clone = path.join(server.folder, 'studio-late');
  await clientGit(['clone', '--quiet', `${server.origin}/git/alice/studio.git`, clone], { cwd: server.folder });
  commit(clone, { 'late.bin': pointerOf(late) });
  gitSync(['push', '--quiet', await server.pathOf('studio'), 'HEAD:refs/heads/main'], { cwd: clone });
  const runNow = async () => {
    await modules.mirrors.sync(await idOf('alice', 'imported'));
    await modules.mirrors.runDue();
    return mirrorOf('imported');
  };
  const hasLate = async () => (await lfsClient(server, 'imported', server.tokens.alice).download(late)) !== null;
  t.match(await runNow(), { lastError: /1 of 1 did not arrive/, failures: 1 });
  t.notOk(await hasLate().catch(() => false));
  renameSync(`${lateFile}.away`, lateFile);
  t.match(await runNow(), { lastError: null, failures: 0 });
  t.ok(await hasLate());

  await server.newRepository('target', 'PRIVATE');
  const push = { direction: 'push', username: 'alice', secret: server.tokens.alice, intervalMs: 600_000, prune: false };
  const found = await repositories.find(alice, 'alice', 'studio');
  await modules.mirrors.save(alice, found, { ...push, address: `${server.origin}/git/alice/target.git` });
  await waitUntil(async () => (await mirrorOf('studio'))?.lastOkAt != null, 'the push mirror has run');
  t.ok(await has('alice', 'target'));

  const cli = (...words: string[]) =>
    runCli(words, { cwd: server.folder, env: { SERVICE_DATA_DIR: path.join(server.folder, 'data') } });
  t.match(await cli('export', 'alice/studio', 'studio.bundle'), { code: 0 });
  t.match(await cli('import', 'studio.bundle', 'alice/back'), { code: 0 });
  t.ok(await has('alice', 'back'));
});

t.test('mirrors over SSH ask the remote where its objects are', async (t) => {
  const alice = viewer((await accounts.personByUsername('alice')).id, 'alice');
  const { mirrors } = modules;
  const over = async (name: string, direction: 'pull' | 'push', remote: string) => {
    const found = await repositories.find(alice, 'alice', name);
    const address = `ssh://git@127.0.0.1:${sshPort}/alice/${remote}.git`;
    const saved = await mirrors.save(alice, found, { direction, address, intervalMs: 600_000, prune: false });
    await accounts.addKey(alice.id, { title: name, line: saved.sshPublicKey! });
    await mirrors.setPaused(alice, found.repository.id, false);
    await mirrors.sync(found.repository.id);
    await waitUntil(async () => (await mirrors.find(found.repository.id))?.lastOkAt != null, `${name} is in step`);
    return mirrors.find(found.repository.id);
  };
  const has = async (name: string) => (await lfsClient(server, name, server.tokens.alice).download(film)) !== null;
  await server.newRepository('pulled', 'PRIVATE');
  t.match(await over('pulled', 'pull', 'studio'), { state: 'ok', lastError: null });
  t.ok(await has('pulled'));
  await server.newRepository('outside', 'PRIVATE');
  t.match(await over('made', 'push', 'outside'), { state: 'ok', lastError: null });
  t.ok(await has('outside'));

  await server.newRepository('historic', 'PRIVATE');
  await modules.lfs.switchRepository(alice, { owner: 'alice', name: 'historic' }, false);
  t.match(await over('back', 'push', 'historic'), { state: 'ok', lastError: null }, 'the history is worth having');
  t.ok(server.log.some(({ event }) => event === 'mirror.without_lfs'));
});

t.test('check, doctor and backup find what is missing and damaged', async (t) => {
  const cli = (...words: string[]) =>
    runCli(['lfs', ...words], { cwd: server.folder, env: { SERVICE_DATA_DIR: path.join(server.folder, 'data') } });
  t.match(await cli('check', '--full'), { code: 0 });
  t.match(await cli('gc', 'alice/studio'), { code: 0, stdout: /alice\/studio/ });
  const doctor = createDoctor({
    ...modules,
    settingsFile: null,
    userId: null,
    backupState: () => modules.backups.state(),
    auditBreak: async () => null,
  });
  const findings = async () => {
    const [report] = await listed(doctor.examine('lfs'));
    return report!.findings.map(({ check }) => check);
  };
  t.strictSame(await findings(), []);
  const { name } = await modules.backups.create();
  const problems = async () => (await modules.backups.verify(name)).flatMap((part) => part.problems);
  t.strictSame(await problems(), []);

  const file = fileOf(studioId, picture.oid);
  renameSync(file, `${file}.away`);
  t.match(await cli('check', 'alice/studio'), { code: 7, stdout: new RegExp(`${picture.oid}.*missing`) });
  t.strictSame(await findings(), ['lfs.missing']);
  t.equal((await studio.call('GET', `objects/${picture.oid}`)).status, 404);
  renameSync(`${file}.away`, file);
  writeFileSync(fileOf(studioId, film.oid), Buffer.alloc(film.size));
  t.match(await cli('check', 'alice/studio'), { code: 0 });
  t.match(await cli('check', 'alice/studio', '--full'), { code: 7, stdout: /digest/ });
  await modules.db.write(({ manager }) =>
    manager.query('UPDATE lfs_repositories SET bytes = bytes + 1 WHERE repository_id = ?', [studioId]),
  );
  t.strictSame(await findings(), ['lfs.sums']);
});
