import t from 'tap';
import { partOfText, readPartNumber } from '../../../src/pages/code/text-parts.ts';

const mebibyte = 1024 * 1024;
const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');

t.test('a text has parts of ten thousand lines', async (t) => {
  const text = numbered(25_000);
  const cases: [wanted: { line: number } | { number: number }, number: number, first: number, last: number][] = [
    [{ number: 1 }, 1, 1, 10_000],
    [{ number: 2 }, 2, 10_001, 20_000],
    [{ number: 3 }, 3, 20_001, 25_000],
    [{ number: 0 }, 1, 1, 10_000],
    [{ number: 99 }, 3, 20_001, 25_000],
    [{ line: 10_000 }, 1, 1, 10_000],
    [{ line: 10_001 }, 2, 10_001, 20_000],
    [{ line: 0 }, 1, 1, 10_000],
    [{ line: 9_999_999 }, 3, 20_001, 25_000],
  ];
  for (const [wanted, number, firstLine, lastLine] of cases) {
    const { text: shown, ...part } = partOfText(text, wanted);
    t.strictSame(part, { number, count: 3, firstLine, lastLine, lineCount: 25_000 }, JSON.stringify(wanted));
    t.ok(shown.startsWith(`line ${firstLine}\n`) && shown.endsWith(`\nline ${lastLine}\n`), 'whole lines');
  }
});

t.test('the parts together are the text, wherever lines end', async (t) => {
  const texts: [text: string, lines: number, parts: number][] = [
    ['', 0, 1],
    ['\n', 1, 1],
    ['a', 1, 1],
    ['a\nb', 2, 1],
    [numbered(10_000), 10_000, 1],
    [numbered(10_001), 10_001, 2],
    [numbered(10_000).slice(0, -1), 10_000, 1],
    ['\n'.repeat(30_001), 30_001, 4],
    ['x'.repeat(3 * mebibyte), 1, 1],
    [`a\n${'x'.repeat(2 * mebibyte)}\nb`, 3, 3],
    [`${'x'.repeat(600_000)}\n`.repeat(3), 3, 3],
    [`${'x'.repeat(500_000)}\n`.repeat(3), 3, 2],
  ];
  for (const [text, lineCount, count] of texts) {
    const first = partOfText(text, { number: 1 });
    t.strictSame([first.lineCount, first.count], [lineCount, count], `${text.length} characters`);
    const parts = Array.from({ length: first.count }, (_, at) => partOfText(text, { number: at + 1 }));
    t.ok(parts.map((part) => part.text).join('') === text, 'nothing is left out or shown twice');
    for (const [at, part] of parts.entries())
      t.equal(part.firstLine, at === 0 ? 1 : parts[at - 1]!.lastLine + 1, 'lines are counted through');
    t.equal(parts.at(-1)!.lastLine, lineCount);
  }
});

t.test('SECURITY I05: eight mebibytes are parted in time, whatever their lines', async (t) => {
  const before = process.cpuUsage();
  for (const text of ['\n'.repeat(8 * mebibyte), 'x'.repeat(8 * mebibyte), 'é\n'.repeat(4 * mebibyte)])
    partOfText(text, { line: 1e7 });
  const { user } = process.cpuUsage(before);
  t.ok(user < 2_000_000, `${user} µs`);
});

t.test('the number of a part is read from the address', async (t) => {
  t.strictSame(
    [null, '', '2', '0', '-1', '1e3', '0x10', '9999999', '7'].map(readPartNumber),
    [1, 1, 2, 0, 1, 1, 1, 1, 7],
  );
});
