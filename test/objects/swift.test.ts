// The store of objects against a real S3-compatible store: what a stand-in cannot show.
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { isDomainError } from '../../src/kernel/index.ts';
import { startSwift } from '../fixtures/swift-server.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { listKeys, openS3 } from './open-s3.ts';

t.setTimeout(180_000);

const MiB = 1024 * 1024;
const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
const limits = { maxBytes: 100 * MiB, tooLarge: () => new Error('too large') };
const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (isDomainError(error) ? error.reason : String(error)),
  );
const of = (content: Buffer): Readable => Readable.from([content]);

t.test(
  'objects in a real store: small and in parts, whole and in ranges, copied, listed by page, removed',
  async (t) => {
    const swift = await startSwift(t);
    const { store, log, statistics } = await openS3(t, swift);
    const small = Buffer.from('hello');
    t.strictSame(await store.put('attachments/ab/one', of(small), limits), { bytes: 5, sha256: sha256(small) });
    t.strictSame(await store.stat('attachments/ab/one'), { bytes: 5, sha256: sha256(small) });
    t.equal((await buffer((await store.get('attachments/ab/one'))!.stream)).toString(), 'hello');
    const part = await store.get('attachments/ab/one', { first: 1, last: 3 });
    t.equal(part?.bytes, 5);
    t.equal((await buffer(part!.stream)).toString(), 'ell');
    t.equal(await reasonOf(store.put('attachments/ab/one', of(small), limits)), 'object_exists');
    await store.put('attachments/ab/empty', of(Buffer.alloc(0)), limits);
    t.equal((await buffer((await store.get('attachments/ab/empty'))!.stream)).length, 0);
    t.equal(await store.get('attachments/ab/none'), null);
    t.equal(await store.stat('attachments/ab/none'), null);

    const large = randomBytes(12 * MiB + 7);
    const file = path.join(temporaryFolder(t), 'large');
    writeFileSync(file, large);
    await store.adopt('lfs/a/large', file, { bytes: large.length, sha256: sha256(large) });
    t.strictSame(await store.stat('lfs/a/large'), { bytes: large.length, sha256: sha256(large) }, 'in three parts');
    t.equal(sha256(await buffer((await store.get('lfs/a/large'))!.stream)), sha256(large));
    const middle = await store.get('lfs/a/large', { first: 5 * MiB - 3, last: 5 * MiB + 2 });
    t.ok((await buffer(middle!.stream)).equals(large.subarray(5 * MiB - 3, 5 * MiB + 3)), 'a range over two parts');

    t.equal(await store.link('lfs/a/large', 'lfs/b/large'), true);
    t.equal(sha256(await buffer((await store.get('lfs/b/large'))!.stream)), sha256(large), 'a copy with its digest');
    t.equal(await store.link('lfs/a/none', 'lfs/b/none'), false);

    const both = await Promise.all(
      [large, small].map((content) => reasonOf(store.put('attachments/cd/race', of(content), limits))),
    );
    t.strictSame(both.sort(), ['done', 'object_exists'], 'one of two');
    t.strictSame(await listKeys(store, 'attachments/'), [
      'attachments/ab/empty',
      'attachments/ab/one',
      'attachments/cd/race',
    ]);
    for await (const { key, bytes, storedAt } of store.list('lfs/')) {
      t.equal(bytes, large.length, key);
      t.ok(Math.abs(storedAt - Date.now()) < 120_000, 'with the time it was stored');
    }
    for (const key of await listKeys(store, 'lfs/')) await store.remove(key);
    await store.remove('lfs/a/large');
    t.strictSame(await listKeys(store, 'lfs/'), []);
    await store.sweep();
    t.strictSame(
      log.filter((line) => line.startsWith('objects.failed')),
      [],
    );
    t.ok((statistics()?.verbs.length ?? 0) > 8);
  },
);

t.test('a wrong key, a wrong bucket and a wrong region are told apart', async (t) => {
  const swift = await startSwift(t);
  const whyOf = async (settings: Record<string, string>): Promise<string> => {
    const { store, log } = await openS3(t, swift, settings);
    t.equal(await reasonOf(listKeys(store, 'attachments/')), 'object_store_unavailable');
    return log.at(-1) ?? '';
  };
  t.match(await whyOf({ SERVICE_OBJECTS_SECRET_ACCESS_KEY: 'other' }), /secret does not belong to the access key/);
  t.match(await whyOf({ SERVICE_OBJECTS_ACCESS_KEY_ID: 'test:other' }), /access key/);
  t.match(await whyOf({ SERVICE_OBJECTS_BUCKET: 'no-such-bucket' }), /bucket does not exist/);
  if (swift.isSwift) t.match(await whyOf({ SERVICE_OBJECTS_REGION: 'eu-west-9' }), /region is another one/);
});
