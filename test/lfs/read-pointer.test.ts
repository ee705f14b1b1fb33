import t from 'tap';
import { maxPointerBytes, minPointerBytes, readPointer } from '../../src/lfs/pointers/read-pointer.ts';

const oid = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881';
const version = 'version https://git-lfs.github.com/spec/v1';
const [id, size] = [`oid sha256:${oid}`, 'size 12345'];
const read = (lines: readonly string[], end = '\n') => readPointer(Buffer.from(lines.join('\n') + end));

/** As `git lfs` 3.8.1 decides. */
const pointers: [string, readonly string[]][] = [
  ['plain', [version, id, size]],
  ['before the first release', ['version https://hawser.github.com/spec/v1', id, size]],
  ['before that', ['version http://git-media.io/v/2', id, size]],
  ['blank lines', ['', version, '', id, '', size, '', ' ', '\t']],
  ['line ends of Windows', [`${version}\r`, `${id}\r`, `${size}\r`]],
  ['a plus and zeros', [version, id, 'size +0012345']],
  ['an extension', [version, `ext-0-case sha256:${oid}`, id, size]],
  ['extensions in any order', [version, `ext-7-b sha256:${oid}`, `ext-0-a sha256:${oid}`, id, size]],
  ['an extension behind the id', [version, id, `ext-0-a sha256:${oid}`, size]],
];

const others: [string, readonly string[]][] = [
  ['another order', [version, size, id]],
  ['the version last', [id, size, version]],
  ['an unknown key', [version, 'x-key 1', id, size]],
  ['an unknown key at the end', [version, id, size, 'x-key 1']],
  ['text below', [version, id, size, 'and some text']],
  ['a key twice', [version, id, id, size]],
  ['an indented line', [version, ` ${id}`, size]],
  ['two blanks', [version, id, 'size  12345']],
  ['no size', [version, id, `ext-0-a sha256:${oid}`]],
  ['a size below zero', [version, id, 'size -1']],
  ['a size that is no number', [version, id, 'size 0x10']],
  ['an id in capital letters', [version, id.toUpperCase().replace('OID SHA', 'oid sha'), size]],
  ['a long id', [version, `${id}0`, size]],
  ['another hash', [version, id.replace('sha256', 'sha1'), size]],
  ['another version', [version.replace('v1', 'v2'), id, size]],
  ['one priority twice', [version, `ext-0-a sha256:${oid}`, `ext-0-b sha256:${oid}`, id, size]],
  ['an extension without an id', [version, 'ext-0-a sha256:1234', id, size]],
  ['a priority of two digits', [version, `ext-10-a sha256:${oid}`, id, size]],
];

t.test('a file is a pointer where git-lfs takes it for one', async (t) => {
  for (const [name, lines] of pointers) t.strictSame(read(lines), { oid, bytes: 12_345 }, name);
  for (const [name, lines] of others) t.equal(read(lines), null, name);
  t.strictSame(read([version, id, size], ''), { oid, bytes: 12_345 }, 'without a line end');
  t.strictSame(read([version, id, 'size 0']), { oid, bytes: 0 });
});

t.test('the limits of bytes are those of the shortest pointer and of git-lfs', async (t) => {
  const shortest = ['version http://git-media.io/v/2', id, 'size 1'].join('\n');
  t.equal(shortest.length, minPointerBytes);
  t.ok(readPointer(Buffer.from(shortest)));
  const padded = (bytes: number) => readPointer(Buffer.from([version, id, size].join('\n').padEnd(bytes, '\n')));
  t.ok(padded(maxPointerBytes));
  t.equal(padded(maxPointerBytes + 1), null);
});
