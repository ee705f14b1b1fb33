import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { createImageStore, imageSize, maxImageBytes, parseImage } from '../../src/images/index.ts';
import type { ImageStore } from '../../src/images/index.ts';
import { isDomainError, silentLogger } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { sampleImages, zipArchive } from './sample-images.ts';

const id = '0f0e0d0c-0b0a-4908-8706-050403020100';
const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

function reasonOf(declaredType: string, bytes: Buffer): string {
  try {
    return `accepted as ${parseImage({ declaredType, bytes }).type}`;
  } catch (error) {
    if (!isDomainError(error) || error.code !== 'invalid' || error.field !== 'image') throw error;
    return error.reason;
  }
}

t.test('the size of an image is read from its header', async (t) => {
  for (const type of types) t.same(imageSize(sampleImages[type]), { width: 1, height: 1 }, type);
  const bytes = (...parts: (string | number[])[]): Buffer =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));
  const frame = bytes('\xff\xc2', [0, 11, 8, 0, 21, 0, 37]);
  const exif = (order: string, tag: number[]): Buffer => bytes('\xff\xe1', [0, 34], 'Exif\0\0', order, tag);
  const little = [0x2a, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0];
  const big = [0, 0x2a, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0];
  const wide = { width: 37, height: 21 };
  const cases: [string, Buffer, unknown][] = [
    ['a progressive JPEG', bytes('\xff\xd8\xff\xe0', [0, 4, 1, 2], frame.toString('latin1')), wide],
    [
      'a JPEG held on its side',
      bytes('\xff\xd8', exif('II', little).toString('latin1'), frame.toString('latin1')),
      { width: 21, height: 37 },
    ],
    [
      'the same, written the other way round',
      bytes('\xff\xd8', exif('MM', big).toString('latin1'), frame.toString('latin1')),
      { width: 21, height: 37 },
    ],
    ['a JPEG without a frame', bytes('\xff\xd8\xff\xe0', [0, 4, 1, 2]), null],
    ['a JPEG whose segment leads past its end', bytes('\xff\xd8\xff\xe1', [0xff, 0xff]), null],
    [
      'a JPEG whose note leads past its end',
      bytes('\xff\xd8', exif('II', [0x2a, 0, 0xff, 0xff, 0xff, 0xff]).toString('latin1')),
      null,
    ],
    ['a lossy WebP', bytes('RIFF\0\0\0\0WEBPVP8 ', [0, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a, 37, 0x40, 21, 0]), wide],
    ['an extended WebP', bytes('RIFF\0\0\0\0WEBPVP8X', [10, 0, 0, 0, 0, 0, 0, 0, 36, 0, 0, 20, 0, 0]), wide],
    ['a PNG that is cut off', sampleImages['image/png'].subarray(0, 20), null],
    ['a PNG of absurd size', Buffer.concat([sampleImages['image/png'].subarray(0, 16), Buffer.alloc(8, 0xff)]), null],
    [
      'a drawing',
      Buffer.from('<?xml version="1.0"?>\n<svg xmlns="x" width="37px" height=\'20.6\' viewBox="0 0 1 1">'),
      wide,
    ],
    ['a drawing without sides', Buffer.from('<svg viewBox="0 0 10 10">'), null],
    ['a drawing in shares', Buffer.from('<svg width="100%" height="50%">'), null],
    ['text', Buffer.from('hello'), null],
    ['nothing', Buffer.alloc(0), null],
  ];
  for (const [what, file, expected] of cases) t.same(imageSize(file), expected, what);
});

t.test(
  'security B06, SPEC §4.3 each of the four types is accepted under its own name and refused under every other',
  async (t) => {
    for (const declared of types) {
      for (const actual of types) {
        const expected = declared === actual ? `accepted as ${actual}` : 'image_content_mismatch';
        t.equal(reasonOf(declared, sampleImages[actual]), expected, `${actual} declared as ${declared}`);
      }
    }
  },
);

t.test('security B07, SPEC §4.3 the leading bytes decide: what follows may be anything', async (t) => {
  const heads: [string, string][] = [
    ['image/png', '\x89PNG\r\n\x1a\n'],
    ['image/jpeg', '\xff\xd8\xff'],
    ['image/gif', 'GIF87a'],
    ['image/gif', 'GIF89a'],
    ['image/webp', 'RIFF\x00\x00\x00\x00WEBP'],
  ];
  for (const [type, head] of heads) {
    const magic = Buffer.from(head, 'latin1');
    t.equal(reasonOf(type, magic), `accepted as ${type}`, 'the magic alone');
    t.equal(
      reasonOf(type, Buffer.concat([magic, seededRandom(4).bytes(5000)])),
      `accepted as ${type}`,
      'with noise behind',
    );
    for (let length = 1; length < magic.length; length++) {
      t.equal(reasonOf(type, magic.subarray(0, length)), 'image_content_mismatch', `${type} cut after ${length} bytes`);
    }
    for (let at = 0; at < magic.length; at++) {
      if (type === 'image/webp' && at >= 4 && at < 8) continue;
      const changed = Buffer.from(magic);
      changed[at] = changed[at]! ^ 0x20;
      t.equal(reasonOf(type, changed), 'image_content_mismatch', `${type} with another byte at ${at}`);
    }
  }
});

t.test('SPEC §4.3 a RIFF file is WebP only when its form type at offset 8 says WEBP', async (t) => {
  for (const form of ['WAVE', 'AVI ', 'webp', 'WEBQ']) {
    t.equal(
      reasonOf('image/webp', Buffer.from(`RIFF\x24\x00\x00\x00${form}fmt `, 'latin1')),
      'image_content_mismatch',
      form,
    );
  }
});

t.test('SPEC §8 2,097,152 bytes are accepted, one more is refused, none is refused', async (t) => {
  for (const type of types) {
    const full = Buffer.alloc(maxImageBytes);
    sampleImages[type].copy(full);
    t.equal(reasonOf(type, full), `accepted as ${type}`);
    t.equal(reasonOf(type, Buffer.concat([full, Buffer.alloc(1)])), 'image_too_large');
    t.equal(reasonOf(type, Buffer.alloc(0)), 'image_missing');
  }
  t.equal(maxImageBytes, 2_097_152);
});

t.test('SPEC §4.3 no other type is allowed, whatever the bytes are', async (t) => {
  const others = [
    'image/svg+xml',
    'image/bmp',
    'image/tiff',
    'image/avif',
    'text/html',
    'application/octet-stream',
    '',
    'png',
  ];
  for (const declared of others)
    t.equal(reasonOf(declared, sampleImages['image/png']), 'image_type_not_allowed', declared);
  t.equal(reasonOf('image/png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')), 'image_content_mismatch');
});

t.test('a declared type is read without regard to case and parameters', async (t) => {
  for (const declared of ['IMAGE/PNG', ' image/png ', 'image/png; charset=binary']) {
    t.equal(reasonOf(declared, sampleImages['image/png']), 'accepted as image/png', declared);
  }
  t.equal(reasonOf('image/jpg', sampleImages['image/jpeg']), 'accepted as image/jpeg');
});

t.test('security B06 a file that is an image and something else is refused', async (t) => {
  const { 'image/png': png, 'image/jpeg': jpeg, 'image/gif': gif } = sampleImages;
  const polyglots: [string, string, Buffer][] = [
    ['an archive behind it', 'image/png', Buffer.concat([png, zipArchive])],
    [
      'an archive with a comment',
      'image/gif',
      Buffer.concat([gif, zipArchive.subarray(0, -2), Buffer.from('\x05\x00hello', 'latin1')]),
    ],
    [
      'a page in its first comment',
      'image/jpeg',
      Buffer.concat([jpeg.subarray(0, 20), Buffer.from('<html><body onload=x>'), jpeg]),
    ],
    ['a script element', 'image/gif', Buffer.concat([gif, Buffer.from('<SCRIPT src=x>')])],
    ['a PDF header', 'image/png', Buffer.concat([png, Buffer.from('%PDF-1.7')])],
    ['a script that begins with GIF89a', 'image/gif', Buffer.from('GIF89a=1;alert(1)')],
    ['a script in a comment', 'image/gif', Buffer.from('GIF89a/*\x00*/=1;alert(1)', 'latin1')],
    ['a script in a JPEG', 'image/jpeg', Buffer.from('\xff\xd8\xff\xe0/*\x00*/=1;alert(1)', 'latin1')],
  ];
  for (const [what, type, bytes] of polyglots) t.equal(reasonOf(type, bytes), 'image_content_mismatch', what);
});

t.test('random bytes are no polyglot: noise and a zip mark in the middle pass', async (t) => {
  const random = seededRandom(11);
  for (let round = 0; round < 200; round++) {
    const bytes = Buffer.concat([
      sampleImages['image/png'],
      random.bytes(3000),
      Buffer.from('PK\x05\x06', 'latin1'),
      random.bytes(40),
    ]);
    if (reasonOf('image/png', bytes) !== 'accepted as image/png') t.fail(`round ${round}`);
  }
  t.equal(
    reasonOf('image/png', Buffer.concat([sampleImages['image/png'], Buffer.from('PK\x05\x06', 'latin1')])),
    'accepted as image/png',
  );
});

function openStore(t: Owner, directory = path.join(temporaryFolder(t), 'deep', 'images')) {
  const clock = fixedClock();
  return {
    directory,
    clock,
    store: createImageStore({ directory, clock, random: seededRandom(), logger: silentLogger }),
  };
}

async function content(store: ImageStore, of = id): Promise<Buffer | null> {
  const image = await store.open(of);
  if (image === null) return null;
  const bytes = Buffer.concat(await image.stream().toArray());
  t.equal(bytes.length, image.bytes, 'the size told is the size sent');
  return bytes;
}

t.test('SPEC §2.2 one file per id, named by the id alone, readable by the server’s user only', async (t) => {
  const { store, directory, clock } = openStore(t);
  t.equal(await store.open(id), null);
  const stamp = await store.replace(id, sampleImages['image/png'], async (stamp) => stamp);
  t.equal(stamp, clock.now());
  t.same(readdirSync(directory), [id]);
  t.equal(statSync(path.join(directory, id)).mode & 0o777, 0o600);
  t.same(await content(store), sampleImages['image/png']);
  t.same(await store.list(), [{ id, stamp }]);

  await store.remove(id, async () => {});
  t.same(readdirSync(directory), []);
  await store.remove(id, async () => {});
  t.same(await store.list(), []);
});

t.test('security B01 an id that is no UUID never becomes a path', async (t) => {
  const { store } = openStore(t);
  for (const bad of ['../x', '', '.', id.toUpperCase(), `${id}/..`, `${id}\0`]) {
    await t.rejects(store.open(bad), { code: 'internal' }, bad);
    await t.rejects(
      store.replace(bad, sampleImages['image/gif'], async () => {}),
      { code: 'internal' },
      bad,
    );
  }
});

t.test('two contents never share a stamp, even when the clock stands still or goes back', async (t) => {
  const { store, clock } = openStore(t);
  const stamps: number[] = [];
  for (const step of [0, 0, -60_000, 60_123]) {
    clock.advance(step);
    stamps.push(await store.replace(id, sampleImages['image/gif'], async (stamp) => stamp));
  }
  t.same(
    stamps,
    [...new Set(stamps)].sort((a, b) => a - b),
  );
  t.equal((await store.list())[0]!.stamp, stamps.at(-1), 'and the file carries it to the millisecond');
});

t.test('when the row cannot be written, the previous image is restored, or none', async (t) => {
  const { store, directory } = openStore(t);
  const fail = async () => {
    throw new Error('no row');
  };
  await t.rejects(store.replace(id, sampleImages['image/png'], fail), { message: 'no row' });
  t.same(readdirSync(directory), []);

  await store.replace(id, sampleImages['image/png'], async () => {});
  const before = await store.list();
  await t.rejects(store.replace(id, sampleImages['image/gif'], fail), { message: 'no row' });
  t.same(await content(store), sampleImages['image/png']);
  t.same(await store.list(), before, 'with its stamp');

  await t.rejects(store.remove(id, fail), { message: 'no row' });
  t.same(await content(store), sampleImages['image/png']);
});

t.test('fifty concurrent replacements are serialised: file and row agree after each', async (t) => {
  const { store } = openStore(t);
  let row: { stamp: number; type: string } | null = null;
  const order = types.flatMap((type) => Array.from({ length: 13 }, () => type));
  await Promise.all(
    order.map((type, at) =>
      at % 5 === 4
        ? store.remove(id, async () => void (row = null))
        : store.replace(id, sampleImages[type], async (stamp) => void (row = { stamp, type })),
    ),
  );
  const image = await store.open(id);
  await image?.close();
  t.same(row, image === null ? null : { stamp: image.stamp, type: image.type });
});

t.test('an open image stays unchanged while another replaces it', async (t) => {
  const { store } = openStore(t);
  await store.replace(id, sampleImages['image/png'], async () => {});
  const open = (await store.open(id))!;
  await store.replace(id, sampleImages['image/gif'], async () => {});
  t.equal(open.type, 'image/png');
  t.same(Buffer.concat(await open.stream().toArray()), sampleImages['image/png']);
  t.equal((await content(store))!.length, sampleImages['image/gif'].length);
});

t.test('a damaged file is no image', async (t) => {
  const { store, directory } = openStore(t);
  mkdirSync(directory, { recursive: true });
  for (const bytes of ['', 'GIF8', '<html>']) {
    writeFileSync(path.join(directory, id), bytes);
    t.equal(await store.open(id), null, JSON.stringify(bytes));
  }
});

t.test('temporary files of a killed process are removed; everything else stays', async (t) => {
  const { store, directory } = openStore(t);
  t.equal(await store.sweep(), 0, 'without the folder, too');
  await store.replace(id, sampleImages['image/png'], async () => {});
  writeFileSync(path.join(directory, `.${id}.0123456789abcdef`), 'half');
  writeFileSync(path.join(directory, '.keep'), '');
  writeFileSync(path.join(directory, 'README'), '');
  t.equal(await store.sweep(), 1);
  t.same(readdirSync(directory).sort(), ['.keep', id, 'README'].sort());
  t.equal((await store.list()).length, 1, 'and only images are listed');
});

t.test('an image moves between stores with its stamp, and back', async (t) => {
  const { store } = openStore(t);
  const trash = openStore(t).store;
  const stamp = await store.replace(id, sampleImages['image/webp'], async (stamp) => stamp);
  t.equal(await store.moveTo(trash, id), true);
  t.equal(await store.open(id), null);
  t.same(await trash.list(), [{ id, stamp }]);
  t.equal(await store.moveTo(trash, id), false);
  t.equal(await trash.moveTo(store, id), true);
  t.same(await content(store), sampleImages['image/webp']);
});

t.test('a stamp survives time zones, leap years and the file system’s fractions', async (t) => {
  const { store, directory } = openStore(t);
  mkdirSync(directory, { recursive: true });
  for (const stamp of [1, 1_767_225_600_123, 1_767_225_600_999, 4_102_444_799_001]) {
    await store.put(id, sampleImages['image/png'], stamp);
    t.equal((await store.list())[0]!.stamp, stamp);
  }
  utimesSync(path.join(directory, id), 5, 5);
  t.equal((await store.list())[0]!.stamp, 5000);
});
