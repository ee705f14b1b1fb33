import t from 'tap';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { recordCodeCache, settleDifferences } from '../../scripts/executable/record-code-cache.ts';

/** Recording N numbers its functions from N times this. */
const shift = 0x20000;

const numbered = (caches: readonly Buffer[]) =>
  caches.map((bytes, recording) => ({ bytes, firstNumber: recording * shift }));

/** A cache of each recording: a word, a function's number, a word. */
const recordings = (parts: { before: number[]; number: number; moved?: number[]; after: number[] }) =>
  numbered(
    parts.before.map((before, recording) => {
      const bytes = Buffer.alloc(12);
      bytes.writeUInt32LE(before, 0);
      bytes.writeUInt32LE(parts.number + recording * shift + (parts.moved?.[recording] ?? 0), 4);
      bytes.writeUInt32LE(parts.after[recording]!, 8);
      return bytes;
    }),
  );

const same = [0x01020304, 0x01020304, 0x01020304];

t.test('a number that moved with its recording is written as 0', async (t) => {
  const expected = '040302010000000004030201';
  for (const number of [0, 1, 0xff, 0x5555, 0x5556, 0xaaaa, 0xaaab, 0xffff, 0x10000, 0xfffff0])
    for (const moved of [
      [0, 0, 0],
      [0, 3, -3],
      [5, 0, 0xff],
    ].map((list) => list.map((by) => Math.max(by, -number))))
      t.equal(
        settleDifferences(recordings({ before: same, number, moved, after: same }))?.toString('hex'),
        expected,
        `${number.toString(16)} moved by ${String(moved)}`,
      );
});

t.test('a byte that may belong to one number or to another is not settled', async (t) => {
  const of = (second: number[]) =>
    numbered(
      second.map((moved, recording) => {
        const bytes = Buffer.alloc(8);
        bytes.writeUInt32LE(0x700 + recording * shift, 0);
        bytes.writeUInt32LE(0x900 + recording * shift + moved, 4);
        return bytes;
      }),
    );
  t.equal(settleDifferences(of([0, 3, 1]))?.toString('hex'), '0000000000000000');
  // Half a number and half of the next one move as a number does.
  t.equal(settleDifferences(of([0, 2, 4])), null);
  t.equal(settleDifferences(of([0, 2, 4, 0]))?.toString('hex'), '0000000000000000', 'with a fourth recording');
});

t.test('of other bytes a majority decides that leads by four, and no smaller one', async (t) => {
  const table: [values: number[], settled: number | null][] = [
    [[7, 7, 7], 7],
    [[7, 7, 6], null],
    [[5, 6, 7], null],
    [[7, 7, 6, 7], null],
    [[7, 7, 6, 7, 7], null],
    [[7, 7, 6, 7, 7, 7], 7],
    [[6, 7, 7, 7, 7, 7], 7],
    [[7, 7, 7, 7, 6, 6, 7], null],
    [[5, 6, 7, 7, 7, 7, 7], 7],
    [[6, 7, 7, 6, 7, 7, 7, 7], 7],
  ];
  for (const [values, settled] of table)
    for (const place of ['before', 'after'] as const) {
      const parts = { before: values.map(() => 1), number: 0x7000, after: values.map(() => 1), [place]: values };
      const bytes = settleDifferences(recordings(parts));
      t.equal(bytes?.readUInt32LE(place === 'before' ? 0 : 8) ?? null, settled, `${place}: ${String(values)}`);
      t.equal(bytes?.readUInt32LE(4) ?? 0, 0, 'the number beside it');
    }
});

/** Starts as the executable that records does; `plan` has one letter for each recording. */
const recorder = `
const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const { HEARTH_RECORD_FOLDER: folder, HEARTH_RECORD_SHIFT: shift, SERVICE_DATA_DIR } = process.env;
const keep = (name, letter) => {
  const bytes = Buffer.alloc(24 + (letter === 'l' ? 4 : 0));
  bytes.writeUInt32LE(9 + Number(shift), 16);
  bytes[20] = letter === 'b' ? 1 : 0;
  mkdirSync(folder + '/ran', { recursive: true });
  writeFileSync(folder + '/ran/' + name, bytes);
};
if (!SERVICE_DATA_DIR) keep('main', 'a');
else {
  appendFileSync(__dirname + '/starts', '.');
  const letter = readFileSync(__dirname + '/plan', 'utf8').at(readFileSync(__dirname + '/starts').length - 1);
  const server = require('node:http').createServer((_, response) => response.end());
  server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));
  process.on('SIGTERM', () => {
    keep('main', 'a');
    keep('pages', letter);
    process.exit(letter === 'f' ? 3 : 0);
  });
}
`;

t.test('recordings decide together which functions a start compiles', async (t) => {
  const build = async (plan: string) => {
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, 'recorder.cjs'), recorder);
    writeFileSync(join(folder, 'plan'), plan);
    mkdirSync(join(folder, 'work'));
    const code = await recordCodeCache({
      recorder: join(folder, 'recorder.cjs'),
      emulator: [process.execPath],
      chunks: ['main', 'pages'],
      workFolder: join(folder, 'work'),
      reproducible: true,
    });
    const { bytes } = code.get('pages')!;
    return { starts: readFileSync(join(folder, 'starts')).length, size: bytes.length, rare: bytes[20] };
  };
  t.strictSame(await build('aaa'), { starts: 3, size: 24, rare: 0 });
  t.strictSame(await build('laaaaa'), { starts: 6, size: 24, rare: 0 }, 'one function more in the first one');
  t.strictSame(await build('alaaaa'), { starts: 6, size: 24, rare: 0 }, 'in another one');
  t.strictSame(await build('baaaaa'), { starts: 6, size: 24, rare: 0 }, 'a rare bit');
  t.strictSame(await build('lbaaaaa'), { starts: 7, size: 24, rare: 0 }, 'both');
  await t.rejects(build('lalalalal'), {
    message: '9 starts do not agree about which functions a start compiles: build while the machine is idle',
  });
  await t.rejects(build('babababab'), {
    message: '9 starts do not agree about pages: build while the machine is idle',
  });
  await t.rejects(build('aaf'), { message: /^The recording executable ended with 3: / });
});
