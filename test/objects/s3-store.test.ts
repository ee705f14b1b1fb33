import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { loadConfig } from '../../src/config/index.ts';
import { isDomainError } from '../../src/kernel/index.ts';
import { incomingFolder } from '../../src/objects/index.ts';
import { signRequest } from '../../src/objects/s3/sign-request.ts';
import { startFakeS3 } from '../fixtures/fake-s3-server.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { listKeys, openS3 } from './open-s3.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const MiB = 1024 * 1024;
const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');
const limits = { maxBytes: 100 * MiB, tooLarge: () => new Error('too large') };
const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (isDomainError(error) ? error.reason : (error as Error).message),
  );

async function* once(content: Buffer | string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}

t.test('requests are signed as the published examples are', async (t) => {
  // AWS, "Authenticating Requests (AWS Signature Version 4)", examples of single-chunk requests.
  const key = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
  const at = Date.UTC(2013, 4, 24);
  const signatureOf = (method: string, path: string, headers: Record<string, string>, content = ''): string => {
    const url = new URL(`https://examplebucket.s3.amazonaws.com${path}`);
    const signed = signRequest({ method, url, headers, contentSha256: sha256(content) }, key, 'us-east-1', at);
    return /Signature=([0-9a-f]{64})$/.exec(signed['authorization']!)![1]!;
  };
  const note = (text: string): string => signatureOf('GET', '/test.txt', { 'x-amz-meta-note': text });
  t.equal(note('  two   words '), note('two words'), 'as a store reads it: spaces count once');
  t.not(note('twowords'), note('two words'));
  t.equal(
    signatureOf('GET', '/test.txt', { range: 'bytes=0-9' }),
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  );
  t.equal(
    signatureOf(
      'PUT',
      '/test$file.text',
      { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      'Welcome to Amazon S3.',
    ),
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  );
  t.equal(
    signatureOf('GET', '/?max-keys=2&prefix=J', {}),
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  );
});

t.test('an object is stored once, read whole and in part, listed, copied and removed', async (t) => {
  const s3 = await startFakeS3(t);
  const { store, directory } = await openS3(t, s3);
  t.equal(store.place, 's3');
  t.strictSame(await store.put('attachments/ab/one', once('hello'), limits), { bytes: 5, sha256: sha256('hello') });
  t.strictSame([...s3.objects.keys()], ['forge/attachments/ab/one']);
  t.strictSame(await store.stat('attachments/ab/one'), { bytes: 5, sha256: sha256('hello') });
  const whole = await store.get('attachments/ab/one');
  t.equal(whole?.bytes, 5);
  t.equal((await buffer(whole!.stream)).toString(), 'hello');
  const part = await store.get('attachments/ab/one', { first: 1, last: 3 });
  t.equal((await buffer(part!.stream)).toString(), 'ell');
  t.equal(part?.bytes, 5, 'the size is that of the whole');

  t.equal(await reasonOf(store.put('attachments/ab/one', once('other'), limits)), 'object_exists');
  t.equal(
    await reasonOf(store.put('attachments/ab/two', once('other'), { ...limits, expected: { sha256: sha256('o') } })),
    'object_damaged',
  );
  t.equal(await reasonOf(store.put('attachments/ab/two', once('other'), { ...limits, maxBytes: 4 })), 'too large');
  await store.put('attachments/ab/empty', once(''), limits);
  t.equal((await buffer((await store.get('attachments/ab/empty'))!.stream)).length, 0);

  t.equal(await store.link('attachments/ab/one', 'attachments/ab/copy'), true);
  t.equal(await store.link('attachments/ab/none', 'attachments/ab/copy2'), false);
  t.equal(await reasonOf(store.link('attachments/ab/one', 'attachments/ab/copy')), 'object_exists');
  t.strictSame(await store.stat('attachments/ab/copy'), { bytes: 5, sha256: sha256('hello') });
  await store.put('artifacts/0/1.zip', once('zip'), limits);
  t.strictSame(await listKeys(store, 'attachments/'), [
    'attachments/ab/copy',
    'attachments/ab/empty',
    'attachments/ab/one',
  ]);

  await store.remove('attachments/ab/one');
  await store.remove('attachments/ab/one');
  t.equal(await store.get('attachments/ab/one'), null);
  t.equal(await store.stat('attachments/ab/one'), null);
  t.strictSame(readdirSync(path.join(directory, incomingFolder)), [], 'no local file is left');
});

t.test('a large object is sent in parts, in little memory, and a complete file is taken', async (t) => {
  const s3 = await startFakeS3(t);
  const { store, directory, statistics } = await openS3(t, s3);
  const content = randomBytes(12 * MiB);
  const file = path.join(directory, '..', 'complete');
  writeFileSync(file, content);
  const expected = { bytes: content.length, sha256: sha256(content) };
  s3.fail('PUT', 'slow_down', 'cut');
  await store.adopt('lfs/a/one', file, expected);
  t.notOk(existsSync(file), 'the file is the store’s now');
  t.equal(s3.requests.filter((line) => /^PUT .*partNumber=/.test(line)).length, 5, 'three parts and two retries');
  t.equal(sha256(await buffer((await store.get('lfs/a/one'))!.stream)), expected.sha256);
  t.strictSame(await store.stat('lfs/a/one'), expected);

  writeFileSync(file, content);
  const before = s3.requests.length;
  await store.adopt('lfs/a/one', file, expected);
  t.equal(s3.requests.length, before + 1, 'the same content again is not sent again');
  writeFileSync(file, 'other');
  t.equal(await reasonOf(store.adopt('lfs/a/one', file, { bytes: 5, sha256: sha256('other') })), 'object_exists');
  t.ok(existsSync(file), 'a refused file is where it was');

  s3.fail('PUT', 'forbidden');
  t.equal(await reasonOf(store.put('lfs/a/two', once(content), limits)), 'object_store_unavailable');
  t.equal(s3.uploads.size, 0, 'parts of a failed upload are removed');
  const counts = statistics()!;
  t.equal(counts.bytesIn, content.length);
  t.equal(counts.bytesOut, content.length);
  t.equal(counts.verbs.find(({ verb }) => verb === 'put_part')?.retried, 2);

  s3.uploads.set('old', { name: 'forge/lfs/a/x', headers: {}, parts: new Map(), begunAt: new Date(0) });
  s3.uploads.set('new', { name: 'forge/lfs/a/y', headers: {}, parts: new Map(), begunAt: new Date() });
  await store.sweep();
  await waitUntil(() => s3.uploads.size <= 1);
  t.strictSame([...s3.uploads.keys()], ['new'], 'what a killed process left is removed after a day');
});

t.test('an answer that was lost is told apart from an object that was there', async (t) => {
  const s3 = await startFakeS3(t);
  const { store } = await openS3(t, s3);
  s3.fail('PUT', 'cut_after');
  await store.put('attachments/ab/one', once('hello'), limits);
  t.equal((await buffer((await store.get('attachments/ab/one'))!.stream)).toString(), 'hello');

  s3.fail('POST', 'cut_after');
  await store.put('attachments/ab/parts', once(randomBytes(6 * MiB)), limits);
  s3.fail('POST', 'slow_down', 'cut_after');
  await store.put('attachments/ab/more', once(randomBytes(6 * MiB)), limits);
  t.equal((await store.stat('attachments/ab/more'))?.bytes, 6 * MiB);

  // Two servers at once: both have seen that there is none.
  const { store: second } = await openS3(t, s3);
  s3.fail('PUT', 'slow');
  const both = ['mine', 'yours'].map((text, at) =>
    (at === 0 ? store : second).put('attachments/ab/race', once(text), limits).then(
      () => text,
      (error: { reason: string }) => error.reason,
    ),
  );
  const ended = await Promise.all(both);
  const kept = (await buffer((await store.get('attachments/ab/race'))!.stream)).toString();
  t.strictSame(ended.sort(), [kept, 'object_exists'].sort(), 'one is told that the other was first');

  s3.isConditional = false;
  await store.put('attachments/ab/two', once('hello'), limits);
  t.equal(await reasonOf(store.put('attachments/ab/two', once('hello'), limits)), 'object_exists');
  await store.put('attachments/ab/three', once('hello'), limits);
  t.equal(s3.requests.filter((line) => line === 'PUT forge/attachments/ab/three').length, 1, 'it is not asked again');

  s3.isConditional = 'ignored';
  const { store: third } = await openS3(t, s3);
  await third.put('attachments/ab/five', once('mine'), limits);
  t.equal(await reasonOf(second.put('attachments/ab/five', once('yours'), limits)), 'object_exists');
  t.equal((await buffer((await third.get('attachments/ab/five'))!.stream)).toString(), 'mine', 'nothing is replaced');

  s3.fail('PUT', 'error_in_200', 'error_in_200', 'error_in_200');
  t.equal(await reasonOf(store.link('attachments/ab/one', 'attachments/ab/four')), 'object_store_unavailable');
});

t.test('a download that is cut off goes on; other bytes are never a complete download', async (t) => {
  const s3 = await startFakeS3(t);
  const { store, log, statistics } = await openS3(t, s3);
  const content = randomBytes(2 * MiB);
  await store.put('lfs/a/one', once(content), limits);
  const read = async (): Promise<string> => sha256(await buffer((await store.get('lfs/a/one'))!.stream));

  s3.fail('GET', 'half', 'stall');
  t.equal(await read(), sha256(content));
  t.strictSame(
    s3.requests.filter((line) => line.startsWith('GET')).length,
    3,
    'one request for the start, two for the rest',
  );
  s3.fail('GET', 'half', 'half', 'half', 'half', 'half', 'half');
  t.equal(await reasonOf(read()), 'peer_unreachable', 'not for ever');
  s3.fail('GET', 'slow_down');
  while ((await reasonOf(read())) !== 'done');

  // A part has no digest by which another content would be found.
  s3.fail('GET', 'half');
  const part = (await store.get('lfs/a/one', { first: 10, last: content.length - 1 }))!;
  const key = 'forge/lfs/a/one';
  const before = s3.objects.get(key)!;
  s3.objects.set(key, { ...before, content: randomBytes(content.length) });
  await t.rejects(buffer(part.stream), 'a download goes on with the same object only');
  s3.objects.set(key, before);

  s3.fail('GET', 'wrong_bytes');
  const opened = await store.get('lfs/a/one');
  let got = 0;
  await t.rejects(async () => {
    for await (const chunk of opened!.stream) got += (chunk as Buffer).length;
  }, /other bytes/);
  t.ok(got < content.length, 'the end was held back');
  t.equal(statistics()!.damaged, 1);
  t.match(log.join('\n'), /objects\.damaged/);
});

t.test('faults of every kind in the way up: what passes is tried again, what does not leaves nothing', async (t) => {
  const s3 = await startFakeS3(t);
  const { store, log, directory } = await openS3(t, s3);
  const passing = ['server_error', 'slow_down', 'damaged', 'cut', 'cut_after', 'hang', 'slow', 'full'] as const;
  for (const fault of passing) {
    s3.fail('PUT', fault);
    await store.put(`attachments/ab/${fault.replace('_', '-')}`, once(fault), limits);
    const opened = await store.get(`attachments/ab/${fault.replace('_', '-')}`);
    t.equal((await buffer(opened!.stream)).toString(), fault);
  }
  const large = randomBytes(11 * MiB);
  s3.fail('PUT', 'server_error', 'damaged', 'full', 'cut');
  await store.put('lfs/a/parts', once(large), limits);
  t.equal(sha256(await buffer((await store.get('lfs/a/parts'))!.stream)), sha256(large), 'in parts');

  const why = {
    full: /no room left/,
    quota: /its quota/,
    damaged: /400 BadDigest/,
    server_error: /it answered 500/,
  } as const;
  for (const [fault, words] of Object.entries(why)) {
    const reason = fault === 'full' || fault === 'quota' ? 'disk_full' : 'object_store_unavailable';
    // Three parts, three attempts each.
    const always = Array.from({ length: 9 }, () => fault as keyof typeof why);
    s3.fail('PUT', ...always);
    t.equal(await reasonOf(store.put('attachments/ab/none', once('x'), limits)), reason, fault);
    t.match(log.at(-1), words);
    s3.fail('PUT', ...always);
    t.equal(await reasonOf(store.put('lfs/a/none', once(large), limits)), reason, fault);
    s3.heal();
    t.equal(s3.uploads.size, 0, 'no parts stay');
  }
  t.equal(await store.stat('attachments/ab/none'), null);
  t.equal(await store.stat('lfs/a/none'), null);
  t.strictSame(readdirSync(path.join(directory, incomingFolder)), [], 'no local file is left');

  const full = await openS3(t, s3, {}, Number.MAX_SAFE_INTEGER);
  t.equal(
    await reasonOf(full.store.put('attachments/ab/none', once('x'), limits)),
    'low_disk_space',
    'of this machine',
  );
});

t.test('a store that is gone, slow, or refuses is a clear error, soon', async (t) => {
  const s3 = await startFakeS3(t);
  const { store, log } = await openS3(t, s3);
  await store.put('attachments/ab/one', once('hello'), limits);
  const whyOf = async (work: Promise<unknown>): Promise<string> => {
    const error: unknown = await work.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    t.ok(isDomainError(error) && error.code === 'unavailable' && error.retryAfterSeconds === 30, 'answered with 503');
    t.notMatch(String(error), /127\.0\.0\.1|forge-bucket/, 'people are not told where the store is');
    return log.at(-1) ?? '';
  };
  s3.fail('GET', 'forbidden');
  t.match(await whyOf(store.get('attachments/ab/one')), /access key may not do this/);
  s3.fail('GET', 'slow_down', 'slow_down', 'slow_down');
  t.match(await whyOf(store.get('attachments/ab/one')), /503 SlowDown/);
  s3.fail('HEAD', 'slow_down', 'cut');
  t.equal((await store.stat('attachments/ab/one'))?.bytes, 5, 'what passes is tried again');
  s3.fail('GET', 'hang', 'hang', 'hang');
  t.match(await whyOf(store.get('attachments/ab/one')), /did not answer/);

  s3.hasBucket = false;
  t.match(await whyOf(store.get('attachments/ab/one')), /bucket does not exist/);
  t.match(await whyOf(store.put('attachments/ab/two', once('x'), limits)), /bucket does not exist/);
  t.match(await whyOf(listKeys(store, 'attachments/')), /bucket does not exist/);
  s3.hasBucket = true;

  await s3.stop();
  for (let turn = 0; turn < 3; turn += 1) await whyOf(store.stat('attachments/ab/one'));
  const startedAt = performance.now();
  t.match(await whyOf(store.stat('attachments/ab/one')), /did not answer a moment ago/);
  t.ok(performance.now() - startedAt < 2_000, 'after three failures nothing waits for it any more');
  t.equal(await store.sweep(), 0, 'a start does not need the store');
  await s3.resume();
  await waitUntil(async () => (await reasonOf(store.stat('attachments/ab/one'))) === 'done');
  t.equal((await store.stat('attachments/ab/one'))?.bytes, 5, 'and it is found again by itself');
  t.notMatch(log.join('\n'), /very-secret|Signature/, 'no key is in the log');
});

t.test('the endpoint needs its own setting in an own network; keys may come from a file', async (t) => {
  const s3 = await startFakeS3(t);
  t.throws(() => loadConfig({ env: { SERVICE_OBJECTS_STORE: 's3' }, cwd: '/', readFile: () => '' }), {
    message: /set objects\.endpoint/,
  });
  const guarded = await openS3(t, s3, {
    SERVICE_OBJECTS_ENDPOINT: s3.endpoint.replace('http:', 'https:'),
    SERVICE_OBJECTS_PRIVATE_ENDPOINT: 'false',
  });
  t.equal(await reasonOf(guarded.store.stat('attachments/ab/one')), 'object_store_unavailable');
  t.match(guarded.log.at(-1), /not a public address/);
  t.equal(s3.requests.length, 0);

  const file = path.join(temporaryFolder(t), 'key');
  const opened = await openS3(t, s3, {
    SERVICE_OBJECTS_ACCESS_KEY_ID: 'other',
    SERVICE_OBJECTS_CREDENTIALS_FILE: file,
  });
  t.equal(await reasonOf(opened.store.stat('attachments/ab/one')), 'object_store_unavailable');
  t.match(opened.log.at(-1), /cannot be read: ENOENT/);
  writeFileSync(file, 'key-id\nvery-secret\n');
  t.equal(await opened.store.stat('attachments/ab/one'), null);
});

t.test('what a store loses within an hour is sent again; what is removed stays removed', async (t) => {
  const s3 = await startFakeS3(t);
  const { store, directory, log } = await openS3(t, s3);
  const copies = (): string[] => readdirSync(path.join(directory, '.recent'));
  await store.put('lfs/ab/one', once('hello'), limits);
  await store.put('attachments/ab/one', once('a text'), limits);
  t.equal(copies().length, 1, 'only of what people may no longer have');

  for (const [what, read] of [
    ['get', async () => (await buffer((await store.get('lfs/ab/one', { first: 1, last: 3 }))!.stream)).toString()],
    ['stat', async () => (await store.stat('lfs/ab/one'))!.sha256],
    ['link', async () => store.link('lfs/ab/one', 'lfs/cd/one')],
  ] as const) {
    const before = await read();
    s3.objects.delete('forge/lfs/ab/one');
    s3.objects.delete('forge/lfs/cd/one');
    t.equal(await read(), before, what);
    t.ok(s3.objects.has('forge/lfs/ab/one'), `${what} has sent it again`);
    s3.objects.delete('forge/lfs/cd/one');
  }
  t.equal(log.filter((line) => line.startsWith('objects.lost_by_store')).length, 3, 'and the log says so');

  s3.objects.delete('forge/attachments/ab/one');
  t.equal(await store.get('attachments/ab/one'), null);
  await store.remove('lfs/ab/one');
  t.same(copies(), []);
  t.equal(await store.get('lfs/ab/one'), null);

  const file = path.join(directory, 'complete');
  writeFileSync(file, 'an artifact');
  await store.adopt('artifacts/ab/one', file, { bytes: 11, sha256: sha256('an artifact') });
  t.notOk(existsSync(file));
  const [copy] = copies();
  const longAgo = new Date(Date.now() - 61 * 60_000);
  utimesSync(path.join(directory, '.recent', copy!), longAgo, longAgo);
  s3.objects.delete('forge/artifacts/ab/one');
  t.equal(await store.get('artifacts/ab/one'), null, 'not after an hour');
  await store.sweep();
  t.same(copies(), []);

  const full = await openS3(t, s3, {}, Number.MAX_SAFE_INTEGER / 4);
  const other = path.join(full.directory, '..', 'complete');
  writeFileSync(other, 'an artifact');
  await full.store.adopt('artifacts/ab/two', other, { bytes: 11, sha256: sha256('an artifact') });
  t.same([existsSync(other), readdirSync(path.join(full.directory, '.recent'))], [false, []], 'not on a full disk');

  rmSync(path.join(directory, '.recent'), { recursive: true });
  writeFileSync(path.join(directory, '.recent'), '');
  await store.put('lfs/ab/two', once('hello'), limits);
  t.ok(s3.objects.has('forge/lfs/ab/two'), 'a copy that cannot be made fails no upload');
  t.match(log.at(-1), /^objects\.copy_failed/);
});
