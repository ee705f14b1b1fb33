import { createHash } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { isDomainError, silentLogger, systemRandom } from '../../src/kernel/index.ts';
import { createFolderStore, incomingFolder } from '../../src/objects/index.ts';
import type { ListedObject, ObjectStore } from '../../src/objects/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

function open(t: Owner, lowDiskFloorBytes = 0): { store: ObjectStore; directory: string } {
  const directory = path.join(temporaryFolder(t), 'objects');
  const tools = { random: systemRandom, logger: silentLogger };
  return { store: createFolderStore({ directory, lowDiskFloorBytes: () => lowDiskFloorBytes, ...tools }), directory };
}

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

const limit = { maxBytes: 100, tooLarge: () => new Error('too large') };
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (isDomainError(error) ? error.reason : (error as Error).message),
  );
const incoming = (directory: string): string[] => readdirSync(path.join(directory, incomingFolder));

t.test('an object is stored once, with its size and digest, and read whole or in part', async (t) => {
  const { store, directory } = open(t);
  t.strictSame(await store.put('attachments/ab/one', chunks('hel', 'lo'), limit), {
    bytes: 5,
    sha256: sha256('hello'),
  });
  t.strictSame(await store.stat('attachments/ab/one'), { bytes: 5 });
  const whole = await store.get('attachments/ab/one');
  t.equal(whole?.bytes, 5);
  t.equal((await buffer(whole!.stream)).toString(), 'hello');
  const part = await store.get('attachments/ab/one', { first: 1, last: 3 });
  t.equal((await buffer(part!.stream)).toString(), 'ell');
  t.equal(part?.bytes, 5, 'the size is that of the whole');
  t.equal(statSync(path.join(directory, 'attachments', 'ab', 'one')).mode & 0o077, 0);

  t.equal(await reasonOf(store.put('attachments/ab/one', chunks('other'), limit)), 'object_exists');
  t.equal((await buffer((await store.get('attachments/ab/one'))!.stream)).toString(), 'hello');

  await store.put('attachments/ab/empty', chunks(), limit);
  t.equal((await buffer((await store.get('attachments/ab/empty'))!.stream)).length, 0);

  await store.remove('attachments/ab/one');
  await store.remove('attachments/ab/one');
  await store.remove('attachments/none/at-all');
  t.equal(await store.get('attachments/ab/one'), null);
  t.equal(await store.stat('attachments/ab/one'), null);
  t.strictSame(incoming(directory), []);
});

t.test('chunks that nothing else uses are freed once they are written', async (t) => {
  const { store } = open(t);
  const put = async (key: string, frees: boolean): Promise<number[]> => {
    const content = [Buffer.alloc(20_000, 'a'), Buffer.alloc(10_000, 'b')];
    const expected = { sha256: sha256('a'.repeat(20_000) + 'b'.repeat(10_000)) };
    await store.put(key, Readable.from(content), { ...limit, maxBytes: 30_000, expected, frees });
    t.equal((await buffer((await store.get(key))!.stream)).toString(), 'a'.repeat(20_000) + 'b'.repeat(10_000));
    return content.map(({ length }) => length);
  };
  t.strictSame(await put('a/kept', false), [20_000, 10_000]);
  t.strictSame(await put('a/freed', true), [0, 0]);
});

t.test('what is too large, damaged, or breaks off leaves nothing', async (t) => {
  const { store, directory } = open(t);
  t.equal(await reasonOf(store.put('a/one', chunks('x'.repeat(60), 'x'.repeat(60)), limit)), 'too large');
  const damaged = (expected: { bytes?: number; sha256?: string }) =>
    reasonOf(store.put('a/one', chunks('hello'), { ...limit, expected }));
  t.equal(await damaged({ sha256: sha256('other') }), 'object_damaged');
  t.equal(await damaged({ bytes: 6 }), 'object_damaged');
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half');
    throw new Error('the client has gone');
  }
  t.equal(await reasonOf(store.put('a/one', broken(), limit)), 'the client has gone');
  t.strictSame(incoming(directory), []);
  t.equal(await store.stat('a/one'), null);
  t.equal(await damaged({ bytes: 5, sha256: sha256('hello') }), 'done');
});

t.test('two that store the same key at once: one wins, whole', async (t) => {
  const { store } = open(t);
  const outcomes = await Promise.all(
    ['first', 'other'].map((text) => reasonOf(store.put('a/one', chunks(text), limit))),
  );
  t.strictSame(outcomes.toSorted(), ['done', 'object_exists']);
  const text = (await buffer((await store.get('a/one'))!.stream)).toString();
  t.ok(text === 'first' || text === 'other');
});

t.test('a link is a second key of the same bytes, and outlives the first', async (t) => {
  const { store, directory } = open(t);
  await store.put('a/one', chunks('hello'), limit);
  t.equal(await store.link('a/none', 'b/one'), false);
  t.equal(await store.link('a/one', 'b/one'), true);
  t.equal(await reasonOf(store.link('a/one', 'b/one')), 'object_exists');
  const inode = (key: string): number => statSync(path.join(directory, key)).ino;
  t.equal(inode('a/one'), inode('b/one'), 'one copy on disk');
  await store.remove('a/one');
  t.equal((await buffer((await store.get('b/one'))!.stream)).toString(), 'hello');
});

t.test('a key never leaves the folder', async (t) => {
  const { store } = open(t);
  const bad = [
    '../one',
    'a/../../one',
    '/etc/passwd',
    'a//b',
    'a',
    'a/',
    'A/b',
    'a/.b',
    '.incoming/x',
    'a/b\0',
    'a\\b/c',
  ];
  for (const key of [...bad, `a/${'b'.repeat(600)}`]) {
    t.equal(await reasonOf(store.put(key, chunks('x'), limit)), 'internal', key);
    await t.rejects(async () => store.get(key), key);
    await t.rejects(async () => store.remove(key), key);
  }
});

t.test('a list has what is below a prefix, and not what is half written', async (t) => {
  const { store, directory } = open(t);
  const listed = async (prefix: string): Promise<string[]> => {
    const found: ListedObject[] = [];
    for await (const object of store.list(prefix)) found.push(object);
    t.ok(found.every(({ bytes, storedAt }) => bytes === 1 && storedAt > 0));
    return found.map(({ key }) => key).toSorted();
  };
  t.strictSame(await listed('attachments/'), []);
  for (const key of ['attachments/ab/one', 'attachments/cd/two', 'lfs/one']) await store.put(key, chunks('x'), limit);
  writeFileSync(path.join(directory, 'attachments', '.hidden'), 'x');
  t.strictSame(await listed('attachments/'), ['attachments/ab/one', 'attachments/cd/two']);
});

t.test('what a killed process left half written goes at the next start', async (t) => {
  const { store, directory } = open(t);
  t.equal(await store.sweep(), 0, 'without a folder');
  mkdirSync(path.join(directory, incomingFolder), { recursive: true });
  writeFileSync(path.join(directory, incomingFolder, '0123'), 'half');
  linkSync(path.join(directory, incomingFolder, '0123'), path.join(directory, incomingFolder, '4567'));
  t.equal(await store.sweep(), 2);
  t.strictSame(incoming(directory), []);
});

t.test('nothing is stored on a disk that is nearly full', async (t) => {
  const { store, directory } = open(t, Number.MAX_SAFE_INTEGER);
  t.equal(await reasonOf(store.put('a/one', chunks('x'), limit)), 'low_disk_space');
  t.strictSame(incoming(directory), []);
});

t.test('a complete file is taken by renaming, into the folder that its prefix has elsewhere', async (t) => {
  const directory = temporaryFolder(t);
  const artifacts = path.join(directory, 'ci', 'artifacts');
  const store = createFolderStore({
    directory: path.join(directory, 'objects'),
    elsewhere: { 'artifacts/': artifacts },
    lowDiskFloorBytes: () => 0,
    random: systemRandom,
    logger: silentLogger,
  });
  const file = path.join(directory, 'complete');
  writeFileSync(file, 'hello');
  const { ino } = statSync(file);
  const expected = { bytes: 5, sha256: sha256('hello') };
  await store.adopt('artifacts/0/1.zip', file, expected);
  t.notOk(existsSync(file));
  t.equal(statSync(path.join(artifacts, '0', '1.zip')).ino, ino, 'the bytes were not copied');
  t.equal((await buffer((await store.get('artifacts/0/1.zip'))!.stream)).toString(), 'hello');

  await store.adopt('artifacts/0/1.zip', path.join(artifacts, '0', '1.zip'), expected);
  t.strictSame(await store.stat('artifacts/0/1.zip'), { bytes: 5 }, 'a file at its place stays');

  writeFileSync(file, 'other');
  t.equal(await reasonOf(store.adopt('artifacts/0/1.zip', file, expected)), 'object_exists');
  t.ok(existsSync(file), 'a refused file is where it was');
  const keys: string[] = [];
  for await (const { key } of store.list('artifacts/')) keys.push(key);
  t.strictSame(keys, ['artifacts/0/1.zip']);
});
