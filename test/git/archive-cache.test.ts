// The on-disk archive cache: the same bytes again without git, complete ones only, within bounds.
import t from 'tap';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createArchiveCache } from '../../src/git/queries/archive-cache.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const request = { oid: 'a'.repeat(40), format: 'zip', prefix: 'kiln' } as const;
const mebibyte = Buffer.alloc(1024 * 1024, 'x');
const repository = '/somewhere/1234.git';

function start(
  t: Parameters<typeof temporaryFolder>[0],
  limits: { most?: number; mostEach?: number; lowDiskFloorBytes?: number } = {},
) {
  const root = path.join(temporaryFolder(t), 'archives');
  mkdirSync(root);
  let made = 0;
  const archives = createArchiveCache(root, {
    most: 10 * mebibyte.length,
    mostEach: 4 * mebibyte.length,
    lowDiskFloorBytes: 0,
    ...limits,
  });
  const files = () =>
    readdirSync(root, { recursive: true })
      .map(String)
      .filter((name) => name.includes('.'));
  const from = (source: () => Readable) => async () => ((made += 1), { stream: source(), isLasting: true });
  return { archives, files, from, made: () => made };
}

t.test('a repeated request gets the same bytes without git', async (t) => {
  const { archives, files, from, made } = start(t);
  const whole = from(() => Readable.from([mebibyte, Buffer.from('end')]));
  const first = await buffer(await archives.open(repository, request, whole));
  const second = await buffer(await archives.open(repository, request, whole));
  t.equal(first.length, mebibyte.length + 3);
  t.ok(first.equals(second));
  t.equal(made(), 1);
  for (const other of [
    { ...request, oid: 'b'.repeat(40) },
    { ...request, prefix: 'oven' },
    { ...request, format: 'tar.gz' as const },
  ])
    await buffer(await archives.open(repository, other, whole));
  await buffer(await archives.open('/somewhere/5678.git', request, whole));
  t.equal(made(), 5, 'another commit, name, format or repository is another archive');
  const passing = async () => ({ ...(await whole()), isLasting: false });
  for (const nth of [6, 7]) {
    await buffer(await archives.open(repository, { ...request, prefix: 'passing' }, passing));
    t.equal(made(), nth, 'one that does not last is made each time');
  }
  await archives.forget(repository);
  t.equal(files().length, 1);
});

t.test('an archive that failed, was abandoned or is too large is not cached', async (t) => {
  const { archives, files, from } = start(t);
  const breaking = new PassThrough();
  const broken = await archives.open(
    repository,
    request,
    from(() => breaking),
  );
  breaking.write('half');
  setImmediate(() => breaking.destroy(new Error('git stopped')));
  await t.rejects(buffer(broken), /git stopped/);
  const left = await archives.open(
    repository,
    request,
    from(() => new PassThrough()),
  );
  left.destroy();
  const large = Array.from({ length: 6 }, () => mebibyte);
  t.equal(
    (
      await buffer(
        await archives.open(
          repository,
          request,
          from(() => Readable.from(large)),
        ),
      )
    ).length,
    6 * mebibyte.length,
    'the download itself is whole',
  );
  // Unfinished files are removed after the response.
  await waitUntil(() => files().length === 0);
  const { archives: none, files: noFiles, from: make } = start(t, { lowDiskFloorBytes: Number.MAX_SAFE_INTEGER });
  t.equal(
    (
      await buffer(
        await none.open(
          repository,
          request,
          make(() => Readable.from([mebibyte])),
        ),
      )
    ).length,
    mebibyte.length,
  );
  t.same(noFiles(), [], 'nothing on a disk that is nearly full');
});

t.test('the least recently used archive is evicted first', async (t) => {
  const { archives, files, from, made } = start(t, { most: 3.5 * mebibyte.length });
  for (const digit of ['1', '2', '3', '4', '5']) {
    await buffer(
      await archives.open(
        repository,
        { ...request, oid: digit.repeat(40) },
        from(() => Readable.from([mebibyte])),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.equal(files().length, 3);
  await buffer(
    await archives.open(
      repository,
      { ...request, oid: '5'.repeat(40) },
      from(() => Readable.from([mebibyte])),
    ),
  );
  t.equal(made(), 5);
});
