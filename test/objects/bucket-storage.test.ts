// What lies in a bucket besides artifacts (test/http-artifacts): logs, images, attachments, LFS objects.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { createObjectImageStore } from '../../src/images/index.ts';
import { silentLogger, systemRandom } from '../../src/kernel/index.ts';
import { createFolderStore } from '../../src/objects/index.ts';
import { openCi, reasonOf, workflow } from '../ci/ci-fixture.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { keysOf, startFakeS3 } from '../fixtures/fake-s3-server.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { sampleImages } from '../images/sample-images.ts';

t.test('a complete log goes to the bucket, is read from it, and goes with its run', async (t) => {
  const s3 = await startFakeS3(t);
  const fixture = await openCi(t, { env: s3.env });
  const { ci } = fixture.modules;
  await fixture.push(workflow('on: push\njobs:\n  a:\n    runs-on: linux\n    steps: [{run: one}]\n'));
  const runner = await fixture.addRunner(['linux']);
  const { taskId } = (await runner.fetch())!;
  const file = path.join(fixture.folder, 'data/ci/logs/0', `${taskId}.log`);
  const rows = Array.from({ length: 700 }, (_, index) => `row ${index}`);
  await runner.log(taskId, 0, rows);
  t.equal(await ci.storeLogs(), 0, 'not while it grows');
  await runner.log(taskId, 700, [], true);
  await runner.finish(taskId);
  t.equal(await ci.storeLogs(), 0, 'nor while others follow its end');
  fixture.clock.advance(61_000);

  s3.fail('PUT', 'forbidden');
  t.equal(await ci.storeLogs(), 0);
  t.ok(existsSync(file), 'what the store does not take stays');
  t.equal(await ci.storeLogs(), 1);
  t.notOk(existsSync(file));
  t.strictSame(keysOf(s3, 'logs/'), [`0/${taskId}.log`]);

  const { rows: last, total } = await ci.logs.read(taskId, 699, 10);
  t.equal(total, 700);
  t.match(last, [{ content: 'row 699' }]);
  t.equal((await ci.logs.search(taskId, 'row 5', 10)).count, 111);
  const raw: Buffer[] = [];
  for await (const chunk of ci.logs.raw(taskId, 698)) raw.push(chunk);
  t.match(Buffer.concat(raw).toString(), /row 698\n.*row 699\n$/);
  t.equal(s3.requests.filter((line) => line.startsWith('GET forge/logs/')).length, 1, 'fetched once');
  const followed: number[] = [];
  for await (const { rows: some } of ci.logs.follow(taskId, 0, AbortSignal.timeout(5_000), { source: 'disk' }))
    followed.push(some.length);
  t.strictSame(followed, [700]);
  t.equal(await runner.log(taskId, 690, rows.slice(690), true), 700, 'a late repeat is acknowledged');
  t.notOk(existsSync(file), 'and makes no new file');

  fixture.clock.advance(400 * 24 * 3_600_000);
  s3.fail('DELETE', 'forbidden');
  t.match(await ci.removeOld(), { logs: 1 });
  t.strictSame(keysOf(s3, 'logs/'), [], 'what was not removed at once is removed as an orphan');
});

t.test('a log whose store is gone is an error that passes', async (t) => {
  const s3 = await startFakeS3(t);
  const fixture = await openCi(t, { env: s3.env });
  const { ci } = fixture.modules;
  await fixture.push(workflow('on: push\njobs:\n  a:\n    runs-on: linux\n    steps: [{run: one}]\n'));
  const runner = await fixture.addRunner(['linux']);
  const { taskId } = (await runner.fetch())!;
  await runner.log(taskId, 0, ['one'], true);
  fixture.clock.advance(61_000);
  await ci.storeLogs();
  s3.hasBucket = false;
  t.equal(await reasonOf(ci.logs.read(taskId, 0, 10)), 'object_store_unavailable');
  s3.hasBucket = true;
  t.equal((await ci.logs.read(taskId, 0, 10)).total, 1);
});

t.test('images are objects that are never replaced: the newest counts', async (t) => {
  const directory = temporaryFolder(t);
  const tools = { random: systemRandom, logger: silentLogger };
  const objects = createFolderStore({ directory, lowDiskFloorBytes: () => 0, ...tools });
  const clock = fixedClock();
  const open = (kind: 'avatars' | 'trash') => createObjectImageStore({ objects, kind, clock, logger: silentLogger });
  const [store, trash] = [open('avatars'), open('trash')];
  const id = '0f0e0d0c-0b0a-4908-8706-050403020100';
  const keys = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const { key } of objects.list('images/')) found.push(key);
    return found;
  };
  t.equal(await store.open(id), null);
  const first = await store.replace(id, sampleImages['image/png'], async (stamp) => stamp);
  const second = await store.replace(id, sampleImages['image/gif'], async (stamp) => stamp);
  t.ok(second > first, 'no two contents share a stamp');
  t.strictSame(await keys(), [`images/avatars/${id}/${second}`]);
  const image = (await store.open(id))!;
  t.match(image, { type: 'image/gif', stamp: second, bytes: sampleImages['image/gif'].length });
  t.ok((await buffer(image.stream())).equals(sampleImages['image/gif']));

  const failing = store.replace(id, sampleImages['image/png'], async () => Promise.reject(new Error('no row')));
  await t.rejects(failing, { message: 'no row' });
  t.strictSame(await store.list(), [{ id, stamp: second }], 'the one before is back');

  t.equal(await store.moveTo(trash, id), true);
  t.equal(await store.open(id), null);
  t.strictSame(await keys(), [`images/trash/${id}/${second}`]);
  t.equal(await trash.moveTo(store, id), true);
  t.equal(await trash.moveTo(store, id), false);
  await store.remove(id, async () => {});
  t.strictSame(await keys(), []);
  await t.rejects(store.open('../x'), { code: 'internal' });
});

t.test('attachments and avatars of a server whose objects are in a bucket', async (t) => {
  const s3 = await startFakeS3(t);
  const { modules } = await openCi(t, { env: s3.env });
  const { avatars, issues, accounts } = modules;
  const alice = await accounts.personByUsername('alice');
  const at = { owner: 'alice', name: 'work' };
  const content = async function* () {
    yield Buffer.from('hello');
  };
  const { id } = await issues.addAttachment(localAdministrator, at, { name: 'notes.txt', content: content() });
  t.strictSame(keysOf(s3, 'attachments/'), [`${id.slice(0, 2)}/${id}`]);
  const opened = await issues.readAttachment({ id });
  t.equal((await buffer(opened.stream)).toString(), 'hello');

  const { updatedAt } = await avatars.replace(alice.id, {
    declaredType: 'image/png',
    bytes: sampleImages['image/png'],
  });
  t.strictSame(keysOf(s3, 'images/avatars/'), [`${alice.id}/${updatedAt}`]);
  t.equal((await avatars.open(alice.id))?.type, 'image/png');
  s3.fail('PUT', 'forbidden');
  t.equal(
    await reasonOf(avatars.replace(alice.id, { declaredType: 'image/gif', bytes: sampleImages['image/gif'] })),
    'object_store_unavailable',
  );
  t.equal((await avatars.open(alice.id))?.stamp, updatedAt, 'a refused image changes nothing');

  s3.objects.set(`forge/images/avatars/${alice.id}/${updatedAt + 5}`, {
    ...s3.objects.get(`forge/images/avatars/${alice.id}/${updatedAt}`)!,
  });
  await avatars.recover();
  t.equal((await avatars.ofOwners([alice.id])).get(alice.id)?.updatedAt, updatedAt + 5, 'a crash before its row');
  await s3.stop();
  await avatars.recover();
  t.equal((await avatars.ofOwners([alice.id])).size, 1, 'a start does not need the store');
});

t.test('LFS objects of a server whose objects are in a bucket; a fork copies inside the store', async (t) => {
  const s3 = await startFakeS3(t);
  const { modules, found, push, viewer } = await openCi(t, { env: s3.env });
  const { lfs, repositories, accounts } = modules;
  const film = Buffer.from('film');
  const object = { oid: createHash('sha256').update(film).digest('hex'), bytes: film.length };
  const content = async function* () {
    yield film;
  };
  await lfs.mirroring.store(found.repository, { ...object, content: content() }, { hasQuota: true });
  const own = `${found.repository.id}/${object.oid}`;
  t.strictSame(keysOf(s3, 'lfs/'), [own]);
  await push({
    'film.mov': `version https://git-lfs.github.com/spec/v1\noid sha256:${object.oid}\nsize ${object.bytes}\n`,
  });
  await repositories.changeVisibility(viewer, 'alice', 'work', 'PUBLIC');
  const bob = await accounts.addPerson({ username: 'bob' });
  s3.requests.length = 0;
  const fork = await repositories.forks.create({ ...viewer, id: bob.id, username: 'bob' }, 'alice', 'work', {});
  t.strictSame(keysOf(s3, 'lfs/'), [own, `${fork.id}/${object.oid}`].sort());
  t.notOk(
    s3.requests.some((line) => line.startsWith('GET forge/lfs/')),
    'the content stays in the store',
  );
  const opened = await lfs.read({ ...object, repositoryId: fork.id });
  t.equal((await buffer(opened.stream)).toString(), 'film');
});
