import t from 'tap';
import { measureCpuTime } from '../../fixtures/thread-cpu.ts';
import { readCsv, tableSeparator } from '../../../src/pages/code/csv-table.view.ts';

t.test('separated values are read as RFC 4180 says, and as spreadsheets write them', async (t) => {
  const cases: [text: string, separator: ',' | '\t', table: unknown][] = [
    ['a,b\n1,2\n', ',', { head: ['a', 'b'], rows: [['1', '2']], isCut: false }],
    ['a,b\r\n1,2', ',', { head: ['a', 'b'], rows: [['1', '2']], isCut: false }],
    ['a,b\n"x, ""y""\nz",2\n', ',', { head: ['a', 'b'], rows: [['x, "y"\nz', '2']], isCut: false }],
    ['a\tb,c\n1\t2\n', '\t', { head: ['a', 'b,c'], rows: [['1', '2']], isCut: false }],
    ['a;b\n1,5;2\n', ',', { head: ['a', 'b'], rows: [['1,5', '2']], isCut: false }],
    [
      'a,b\n1\n1,2,3\n',
      ',',
      {
        head: ['a', 'b', ''],
        rows: [
          ['1', '', ''],
          ['1', '2', '3'],
        ],
        isCut: false,
      },
    ],
    ['a,b\n,\n', ',', { head: ['a', 'b'], rows: [['', '']], isCut: false }],
    ['5" disk,b\n1,2\n', ',', { head: ['5" disk', 'b'], rows: [['1', '2']], isCut: false }],
    ['a\nb\n', ',', null],
    ['a,"b\n1,2\n', ',', null],
    ['', ',', null],
  ];
  for (const [text, separator, table] of cases) t.strictSame(readCsv(text, separator), table, JSON.stringify(text));
  t.strictSame(['a.csv', 'A.TSV', 'csv', 'a.csv.txt'].map(tableSeparator), [',', '\t', null, null]);
});

t.test('SECURITY I05: a table has limits, and the time grows with the text', async (t) => {
  const long = readCsv('a,b\n'.repeat(10_000), ',')!;
  t.equal(long.rows.length, 1_999);
  t.equal(long.isCut, true);
  const wide = readCsv(`${'x,'.repeat(500)}x\n1,2\n`, ',')!;
  t.equal(wide.head.length, 100);
  t.equal(wide.isCut, true);
  const { cpuMs } = await measureCpuTime(() => {
    for (const hostile of [
      '"'.repeat(512 * 1024),
      ','.repeat(512 * 1024),
      '",'.repeat(256 * 1024),
      '"\n'.repeat(256 * 1024),
    ])
      readCsv(hostile, ',');
  });
  t.ok(cpuMs < 2_000, `half a megabyte of quotes and separators: ${cpuMs} ms`);
});
