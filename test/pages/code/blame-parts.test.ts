import t from 'tap';
import type { BlameGroup } from '../../../src/git/index.ts';
import { partOfBlame } from '../../../src/pages/code/blame-parts.ts';

/** Groups of these numbers of lines, one after the other. */
function groupsOf(...lengths: number[]): BlameGroup[] {
  let firstLine = 1;
  return lengths.map((length) => {
    const group = { oid: 'a', firstLine, lines: Array(length).fill(Buffer.from('x')) } as unknown as BlameGroup;
    firstLine += length;
    return group;
  });
}
const ones = (count: number) => groupsOf(...Array<number>(count).fill(1));
const shown = (groups: BlameGroup[], wanted: Parameters<typeof partOfBlame>[1]) => {
  const { groups: rows, part } = partOfBlame(groups, wanted);
  return [part.number, part.count, part.firstLine, part.lastLine, rows.length];
};

t.test('a page shows a thousand rows or ten thousand lines, and no row is cut', async (t) => {
  t.strictSame(shown([], { number: 1 }), [1, 1, 1, 0, 0]);
  t.strictSame(shown(ones(1_000), { number: 1 }), [1, 1, 1, 1_000, 1_000]);
  t.strictSame(shown(ones(1_001), { number: 1 }), [1, 2, 1, 1_000, 1_000]);
  t.strictSame(shown(ones(1_001), { number: 2 }), [2, 2, 1_001, 1_001, 1]);
  t.strictSame(shown(ones(1_001), { number: 9 }), [2, 2, 1_001, 1_001, 1], 'the nearest there is');
  t.strictSame(shown(groupsOf(5_000, 5_000, 1), { number: 1 }), [1, 2, 1, 10_000, 2]);
  t.strictSame(shown(groupsOf(5_000, 5_001), { number: 1 }), [1, 2, 1, 5_000, 1]);
  t.strictSame(shown(groupsOf(30_000, 1), { number: 1 }), [1, 2, 1, 30_000, 1], 'a long row is a part of its own');
});

t.test('the part with a line is found', async (t) => {
  const groups = ones(3_000);
  for (const [line, part] of [
    [0, 1],
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [2_000, 2],
    [2_001, 3],
    [9_999_999, 3],
  ] as const)
    t.equal(partOfBlame(groups, { line }).part.number, part, `line ${line}`);
});
