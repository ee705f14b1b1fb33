import t from 'tap';

import { settleDifferences } from '../../scripts/executable/record-code-cache.ts';

/** Recording N numbers its functions from N times this. */
const shift = 0x20000;

/** A cache of each recording: a word, a function's number, a word. */
const recordings = (parts: { before: number[]; number: number; moved?: number[]; after: number[] }): Buffer[] =>
  parts.before.map((before, recording) => {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt32LE(before, 0);
    bytes.writeUInt32LE(parts.number + recording * shift + (parts.moved?.[recording] ?? 0), 4);
    bytes.writeUInt32LE(parts.after[recording]!, 8);
    return bytes;
  });

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

t.test('of other bytes a majority decides that leads by two, and no smaller one', async (t) => {
  const table: [values: number[], settled: number | null][] = [
    [[7, 7, 7], 7],
    [[7, 7, 6], null],
    [[6, 7, 7], null],
    [[5, 6, 7], null],
    [[7, 7, 6, 7], 7],
    [[6, 7, 7, 7], 7],
    [[7, 7, 6, 6], null],
    [[5, 6, 7, 7], null],
    [[5, 6, 7, 7, 7], 7],
  ];
  for (const [values, settled] of table)
    for (const place of ['before', 'after'] as const) {
      const parts = { before: values.map(() => 1), number: 0x7000, after: values.map(() => 1), [place]: values };
      const bytes = settleDifferences(recordings(parts));
      t.equal(bytes?.readUInt32LE(place === 'before' ? 0 : 8) ?? null, settled, `${place}: ${String(values)}`);
      t.equal(bytes?.readUInt32LE(4) ?? 0, 0, 'the number beside it');
    }
});
