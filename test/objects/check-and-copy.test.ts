// Objects moved from folders to a bucket and back, checked, and said in backups: with a stand-in that fails as it is
// told, and with a real store.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { lfsKey } from '../../src/lfs/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { openCi, workflow } from '../ci/ci-fixture.ts';
import type { CiFixture } from '../ci/ci-fixture.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { keysOf, startFakeS3 } from '../fixtures/fake-s3-server.ts';
import { startSwift } from '../fixtures/swift-server.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { sampleImages } from '../images/sample-images.ts';

t.setTimeout(240_000);

const MiB = 1024 * 1024;
const at = { owner: 'alice', name: 'work' };
const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A server with one object of most kinds; the digests of what it gives out. */
async function fill(fixture: CiFixture) {
  const { modules, found } = fixture;
  const { accounts, avatars, issues, ci, lfs, releases } = modules;
  const alice = await accounts.personByUsername('alice');
  const content = async function* (bytes: Buffer) {
    yield bytes;
  };
  const attachment = await issues.addAttachment(localAdministrator, at, {
    name: 'notes.txt',
    content: content(randomBytes(6 * MiB)),
  });
  await avatars.replace(alice.id, { declaredType: 'image/png', bytes: sampleImages['image/png'] });
  await fixture.push(workflow('on: push\njobs:\n  a:\n    runs-on: linux\n    steps: [{run: one}]\n'));
  const runner = await fixture.addRunner(['linux']);
  const { taskId, context } = (await runner.fetch())!;
  const task = await ci.artifacts.authoriseTask(String(context.gitea_runtime_token));
  const whole = randomBytes(6 * MiB + 1);
  const created = await ci.artifacts.create(task, { name: 'site', expiresAt: null });
  await ci.artifacts.receive(created, { kind: 'whole' }, content(whole));
  const artifact = await ci.artifacts.finish(task, { name: 'site', sizeBytes: whole.length, digest: digest(whole) });
  await runner.log(taskId, 0, ['one', 'two'], true);
  const film = randomBytes(7 * MiB);
  const object = { oid: digest(film), bytes: film.length };
  await lfs.mirroring.store(found.repository, { ...object, content: content(film) }, { hasQuota: false });
  await releases.create(localAdministrator, at, { tag: 'v1', target: 'main' });
  const file = await releases.files.upload(
    localAdministrator,
    at,
    { tag: 'v1' },
    { name: 'a.zip', content: content(randomBytes(70_000)) },
  );
  return { attachment, alice, taskId, artifact, object, file, repositoryId: found.repository.id };
}

type Filled = Awaited<ReturnType<typeof fill>>;

/** What a server gives out of these objects, as digests. */
async function digestsOf(
  { modules, found }: CiFixture,
  { attachment, alice, taskId, artifact, object, file, repositoryId }: Filled,
): Promise<Record<string, string>> {
  const log: Buffer[] = [];
  for await (const chunk of modules.ci.logs.raw(taskId)) log.push(chunk);
  return {
    attachment: digest(await buffer((await modules.issues.readAttachment(attachment)).stream)),
    avatar: digest(await buffer((await modules.avatars.open(alice.id))!.stream())),
    log: digest(Buffer.concat(log)),
    artifact: digest(await buffer((await modules.ci.artifacts.open(found, 1, artifact.id)).content)),
    'LFS object': digest(await buffer((await modules.lfs.read({ ...object, repositoryId })).stream)),
    'release file': digest(await buffer((await modules.releases.files.read(file)).stream)),
  };
}

for (const [name, start] of [
  ['a stand-in', startFakeS3],
  ['Swift', startSwift],
] as const) {
  t.test(`from folders to a bucket and back, with equal digests: ${name}`, async (t) => {
    const s3 = await start(t);
    const folder = temporaryFolder(t);
    const data = path.join(folder, 'data');
    const { SERVICE_OBJECTS_STORE: _store, ...bucket } = s3.env;
    const cli = (words: string[], store: 'folder' | 's3') =>
      runCli(words, { env: { ...bucket, SERVICE_DATA_DIR: data, SERVICE_OBJECTS_STORE: store } });

    // Signatures of requests are good for some minutes of the clock of a real store.
    const clock = fixedClock(Date.now());
    const first = await openCi(t, { folder, clock });
    const filled = await fill(first);
    const digests = await digestsOf(first, filled);
    await first.close();

    const copied = await cli(['objects', 'copy', '--to', 's3'], 'folder');
    t.equal(copied.code, 0, copied.stderr);
    t.match(copied.stderr, /To switch: stop the server/);
    const again = await cli(['objects', 'copy', '--to', 's3', '--json'], 'folder');
    const rows = JSON.parse(again.stdout) as { kind: string; copied: number; present: number }[];
    t.strictSame(
      Object.fromEntries(rows.filter(({ present }) => present > 0).map((row) => [row.kind, row.copied])),
      { avatars: 0, attachments: 0, logs: 0, artifacts: 0, 'LFS objects': 0, 'release files': 0 },
      'a second copy has nothing to do',
    );
    t.match(await cli(['objects', 'copy', '--to', 's3', '--remove'], 'folder'), { code: 4 }, 'not while it is in use');

    const removed = await cli(['objects', 'copy', '--to', 's3', '--remove'], 's3');
    t.equal(removed.code, 0, removed.stderr);
    t.notOk(existsSync(path.join(data, 'avatars', filled.alice.id)));
    t.notOk(existsSync(path.join(data, 'ci/logs/0', `${filled.taskId}.log`)));
    t.notOk(existsSync(path.join(data, 'objects', lfsKey(filled.repositoryId, filled.object.oid))));
    const second = await openCi(t, { folder, clock, env: s3.env });
    t.strictSame(await digestsOf(second, filled), digests, 'read from the bucket');
    await second.close();
    t.match(await cli(['objects', 'check', '--read'], 's3'), { code: 0 });

    t.equal((await cli(['objects', 'copy', '--to', 'folder'], 's3')).code, 0);
    const third = await openCi(t, { folder, clock });
    t.strictSame(await digestsOf(third, filled), digests, 'and from folders again');
    await third.close();
  });
}

t.test('what is missing, changed, foreign or not copied yet is named; a copy goes on after a fault', async (t) => {
  const s3 = await startFakeS3(t);
  const folder = temporaryFolder(t);
  const data = path.join(folder, 'data');
  const cli = (words: string[], env: Record<string, string> = {}) =>
    runCli(words, { env: { ...s3.env, SERVICE_DATA_DIR: data, ...env } });
  const fixture = await openCi(t, { folder });
  const { attachment } = await fill(fixture);
  await fixture.close();

  const early = await cli(['objects', 'check']);
  t.equal(early.code, 7);
  t.match(early.stderr, /attachments\/.* is still in the data folder/);
  t.match((await cli(['doctor', '--only', 'objects'])).stdout, /hearth objects copy --to s3/);
  s3.fail('PUT', 'forbidden');
  t.not((await cli(['objects', 'copy', '--to', 's3'])).code, 0);
  s3.fail('PUT', 'slow_down', 'cut_after');
  t.equal((await cli(['objects', 'copy', '--to', 's3'])).code, 0);
  t.match(await cli(['doctor', '--only', 'objects']), { code: 0, stdout: /6 objects in http/ });

  const key = `forge/attachments/${attachment.id.slice(0, 2)}/${attachment.id}`;
  const kept = s3.objects.get(key)!;
  const other = Buffer.from(kept.content);
  other[0]! ^= 1;
  s3.objects.set(key, { ...kept, content: other });
  t.match(await cli(['objects', 'check']), { code: 0 }, 'the size is the same');
  const read = await cli(['objects', 'check', '--read', 'attachments']);
  t.equal(read.code, 7);
  t.match(read.stderr, /is changed/);
  s3.objects.set(key, { ...kept, content: other.subarray(1) });
  t.match((await cli(['objects', 'check'])).stderr, /is changed/);
  s3.objects.delete(key);
  rmSync(path.join(data, 'objects'), { recursive: true });
  t.match((await cli(['objects', 'check'])).stderr, /is missing/);
  t.match(await cli(['doctor', '--only', 'objects']), { code: 7, stdout: /missing, such as/ });
  s3.objects.set(key, kept);
  s3.objects.set('forge/attachments/aa/old', { ...kept, modifiedAt: new Date(0) });
  s3.objects.set('forge/attachments/aa/new', { ...kept, modifiedAt: new Date() });
  t.match((await cli(['objects', 'check'])).stderr, /attachments\/aa\/old belongs to nothing/);
  t.notMatch((await cli(['objects', 'check'])).stderr, /aa\/new/, 'its row may not be written yet');
  t.match(await cli(['doctor', '--only', 'objects', '--fix']), { code: 0 });
  t.notOk(keysOf(s3, 'attachments/').includes('aa/old'));
  t.match(await cli(['objects', 'check', 'nothing']), { code: 2, stderr: /Kinds: attachments/ });

  s3.hasBucket = false;
  t.match(await cli(['doctor', '--only', 'objects']), { code: 7, stdout: /the bucket does not exist/ });
  s3.hasBucket = true;
});

t.test('a backup says what lies in a bucket; its restore test looks there', async (t) => {
  const s3 = await startFakeS3(t);
  const fixture = await openCi(t, { env: s3.env });
  const { attachment } = await fill(fixture);
  const { backups } = fixture.modules;
  const made = await backups.create();
  t.match(made.objects, { at: `${s3.endpoint}/forge-bucket/forge`, count: 6 });
  const manifest = JSON.parse(readFileSync(path.join(made.folder, 'manifest.json'), 'utf8')) as { objects: unknown };
  t.strictSame(manifest.objects, made.objects);
  t.strictSame((await backups.drill(made.name)).problems, [], 'the log is a file of the backup');
  const listed = await runCli(['backup', 'create'], {
    env: { ...s3.env, SERVICE_DATA_DIR: path.join(fixture.folder, 'data') },
  });
  t.match(listed.stderr, /Not in this backup: 6 objects .*forge-bucket/);

  const key = `forge/attachments/${attachment.id.slice(0, 2)}/${attachment.id}`;
  const kept = s3.objects.get(key)!;
  s3.objects.delete(key);
  t.match((await backups.drill(made.name)).problems, [/attachments\/.* is not in the bucket/]);
  s3.objects.set(key, { ...kept, content: kept.content.subarray(1) });
  t.match((await backups.drill(made.name)).problems, [/has 6291455 bytes/]);
  s3.objects.set(key, kept);
  s3.fail('GET', 'forbidden');
  t.match((await backups.drill(made.name)).problems, [/cannot be looked at: the access key may not do this/]);
  t.strictSame((await backups.drill(made.name)).problems, []);

  const target = path.join(temporaryFolder(t), 'data');
  const restored = await runCli(['restore', made.folder], { env: { ...s3.env, SERVICE_DATA_DIR: target } });
  t.equal(restored.code, 0, restored.stderr);
  t.match(await runCli(['objects', 'check', '--read'], { env: { ...s3.env, SERVICE_DATA_DIR: target } }), { code: 0 });
});
