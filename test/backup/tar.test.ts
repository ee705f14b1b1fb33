import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { packBackup, unpackBackup } from '../../src/backup/index.ts';
import { readPax, readTarHeader, tarHeader } from '../../src/backup/tar-header.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder(t);
const backup = path.join(folder, '2026-01-01T03-30-00Z');
const long = `repositories/${'a'.repeat(36)}/${'b'.repeat(36)}.git/refs/heads/${'feature-with-a-name-'.repeat(9)}/über`;
const contents: Record<string, string | Buffer> = {
  'manifest.json': '{"format":1}\n',
  'hearth.db': Buffer.alloc(70_001, 'x'),
  README: '',
  [`repositories/${'a'.repeat(36)}/${'b'.repeat(36)}.git/objects/pack/pack-${'c'.repeat(40)}.pack`]: Buffer.alloc(
    512,
    'p',
  ),
  [long]: 'f00d\n',
};
for (const [name, content] of Object.entries(contents)) {
  mkdirSync(path.dirname(path.join(backup, name)), { recursive: true });
  writeFileSync(path.join(backup, name), content);
}
async function* chunks(bytes: Buffer, size = 1000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function packed(): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of packBackup(backup)) all.push(chunk);
  return Buffer.concat(all);
}
const freshFolder = (name: string): string => {
  mkdirSync(path.join(folder, name));
  return path.join(folder, name);
};

t.test('a packed backup unpacks to the same content, by us and by tar, whatever the chunk sizes', async (t) => {
  const tar = await packed();
  t.match(tar.toString('latin1', 0, 100), /^2026-01-01T03-30-00Z\/manifest\.json\0/, 'the manifest comes first');
  for (const size of [37, 511, 100_000]) {
    const out = await unpackBackup(chunks(tar, size), freshFolder(`ours-${size}`));
    t.equal(path.basename(out), '2026-01-01T03-30-00Z');
    for (const [name, content] of Object.entries(contents))
      t.ok(readFileSync(path.join(out, name)).equals(Buffer.from(content)), name);
    if (size === 37) t.equal(readdirSync(out).length, 4);
  }
  const theirs = freshFolder('theirs');
  execFileSync('tar', ['-x', '-C', theirs], { input: tar });
  for (const [name, content] of Object.entries(contents))
    t.ok(readFileSync(path.join(theirs, '2026-01-01T03-30-00Z', name)).equals(Buffer.from(content)), name);
});

t.test('archives repacked by other programs can be unpacked', async (t) => {
  for (const format of ['gnu', 'pax', 'ustar']) {
    const file = path.join(folder, `${format}.tar`);
    const without = format === 'ustar' ? ['--exclude=feature*'] : [];
    execFileSync('tar', ['-c', `--format=${format}`, ...without, '-f', file, '-C', backup, '.']);
    const out = await unpackBackup(createReadStream(file), freshFolder(format));
    for (const name of Object.keys(contents))
      if (format !== 'ustar' || name !== long) t.ok(existsSync(path.join(out, name)), `${format} ${name}`);
  }
});

t.test('nothing is extracted outside the folder, and links are never extracted', async (t) => {
  const entry = (name: string, content: string, type?: string): Buffer => {
    const header = tarHeader({ name, bytes: content.length, modifiedAt: 0 });
    if (type !== undefined) {
      header.write(type, 156);
      header.write('        ', 148);
      header.write(
        `${header
          .reduce((sum, byte) => sum + byte, 0)
          .toString(8)
          .padStart(6, '0')}\0 `,
        148,
      );
    }
    return Buffer.concat([header, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512)]);
  };
  const target = freshFolder('hostile');
  const tar = Buffer.concat([
    entry('x/manifest.json', '{}'),
    entry('../escaped', 'a'),
    entry('/tmp/escaped-from-tar', 'b'),
    entry('x/../../escaped', 'c'),
    entry('x/link', '', '2'),
    entry('x/hard', '', '1'),
    Buffer.alloc(1024),
  ]);
  await unpackBackup(chunks(tar), target);
  t.same(readdirSync(target, { recursive: true }).sort(), ['x', 'x/manifest.json']);
  t.notOk(existsSync(path.join(folder, 'escaped')));
});

t.test('truncated, changed and foreign streams are refused', async (t) => {
  const tar = await packed();
  let turn = 0;
  const refused = async (unpacked: Promise<string>, expected: { reason: string }) =>
    t.match(await unpacked.catch((error: unknown) => error), expected);
  const into = (bytes: Buffer) => unpackBackup(chunks(bytes), freshFolder(`refused-${(turn += 1)}`));
  await refused(into(tar.subarray(0, 30_000)), { reason: 'backup_damaged' });
  await refused(into(tar.subarray(0, 700)), { reason: 'no_backup' });
  await refused(into(Buffer.from('no tar at all')), { reason: 'no_backup' });
  await refused(into(Buffer.alloc(1024)), { reason: 'no_backup' });
  const changed = Buffer.from(tar);
  changed[1024 + 5]! ^= 1;
  await refused(into(changed), { reason: 'backup_damaged' });
});

t.test('sizes beyond eight gigabytes go into a pax header', async (t) => {
  const bytes = 9 * 2 ** 30;
  const header = tarHeader({ name: 'pack', bytes, modifiedAt: 1_700_000_000_123 });
  t.equal(readTarHeader(header.subarray(0, 512))!.kind, 'pax');
  t.same(readPax(header.subarray(512, 512 + readTarHeader(header.subarray(0, 512))!.bytes)), { bytes });
  t.match(readTarHeader(header.subarray(1024)), { kind: 'file', name: 'pack', modifiedAt: 1_700_000_000_000 });
  for (let length = 80; length < 130; length += 1) {
    const name = 'n'.repeat(length);
    const blocks = tarHeader({ name, bytes: 0, modifiedAt: 0 });
    const read =
      blocks.length === 512
        ? readTarHeader(blocks)!.name
        : readPax(blocks.subarray(512, 512 + readTarHeader(blocks.subarray(0, 512))!.bytes)).name;
    if (read !== name) t.fail(`a name of ${length}`);
  }
});
