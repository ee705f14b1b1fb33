import t from 'tap';
import { measureCpuTime, taskMs } from '../../fixtures/thread-cpu.ts';
import { diffLines } from '../../../src/pages/issues/line-diff.ts';
import type { DiffLine } from '../../../src/pages/issues/line-diff.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';

const side = (lines: readonly DiffLine[], without: DiffLine['kind']): string =>
  lines
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join('\n');

t.test('the lines that stay, come and go', async (t) => {
  t.same(
    diffLines('a\nb\nc\nd', 'a\nc\nx\nd').map(({ kind, text }) => `${kind} ${text}`),
    ['same a', 'removed b', 'same c', 'added x', 'same d'],
  );
  t.same(diffLines('', 'a'), [
    { kind: 'removed', text: '' },
    { kind: 'added', text: 'a' },
  ]);
});

t.test('both texts can be read out of any comparison, and it is the shortest', async (t) => {
  const random = seededRandom(7);
  const text = (): string => [...random.bytes(random.bytes(1)[0]! % 10)].map((byte) => 'abcd'[byte % 4]).join('\n');
  /** The longest common subsequence, by the textbook. */
  const common = (a: string[], b: string[]): number => {
    const row = new Array<number>(b.length + 1).fill(0);
    for (const line of a) {
      let before = 0;
      for (let at = 1; at <= b.length; at += 1) {
        const above = row[at]!;
        row[at] = line === b[at - 1] ? before + 1 : Math.max(above, row[at - 1]!);
        before = above;
      }
    }
    return row[b.length]!;
  };
  for (let round = 0; round < 500; round += 1) {
    const [before, after] = [text(), text()];
    const lines = diffLines(before, after);
    if (side(lines, 'added') !== before || side(lines, 'removed') !== after) t.fail(JSON.stringify([before, after]));
    const same = lines.filter(({ kind }) => kind === 'same').length;
    if (same !== common(before.split('\n'), after.split('\n'))) t.fail(JSON.stringify([before, after, same]));
  }
});

t.test('texts that have nothing in common are compared in bounded time', async (t) => {
  const lines = (word: string): string => Array.from({ length: 30_000 }, (_, at) => word + at).join('\n');
  const { result, cpuMs } = await measureCpuTime(() => diffLines(lines('a'), lines('b')));
  t.equal(result.length, 60_000);
  t.ok(cpuMs < taskMs, `${cpuMs} ms`);
});
