import { PassThrough } from 'node:stream';
import t from 'tap';
import { createOutput, never } from '../../src/cli/terminal/output.ts';
import type { Column, OutputFlags } from '../../src/cli/terminal/output.ts';
import { escapeControls } from '../../src/cli/terminal/escape-controls.ts';
import { reportError, withHint } from '../../src/cli/report-error.ts';
import { cut, displayWidth, layOut } from '../../src/cli/terminal/table.ts';
import { absoluteTime, relativeTime } from '../../src/cli/terminal/times.ts';
import { DomainError } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';

const now = Date.UTC(2026, 10, 20, 9, 31, 2);
const hour = 3_600_000;

interface Person {
  username: string;
  name: string;
  seen: number | null;
  bytes: number;
}

const people: Person[] = [
  { username: 'alice', name: 'Alice of the long gardens', seen: now - 2 * hour, bytes: 1_900_000_000 },
  { username: 'bob', name: '', seen: null, bytes: 999 },
];
const columns: Column<Person>[] = [
  { title: 'USERNAME', cell: (row) => row.username, whole: true },
  { title: 'NAME', cell: (row) => row.name },
  { title: 'LAST SEEN', cell: (row) => never(row.seen) },
  { title: 'SIZE', cell: (row) => ({ bytes: row.bytes }), align: 'right' },
  { title: 'ID', cell: () => ({ id: '0d3cc8a1-5b0e-4f0a-9a57-0f2f6a1c9a11' }) },
];

/** The output of a list in one mode. */
function shown(flags: Partial<OutputFlags>, { isTTY = false, width = 100, rows = people } = {}): string {
  const stdout = Object.assign(new PassThrough(), { isTTY, columns: width });
  const stderr = Object.assign(new PassThrough(), { isTTY });
  const output = createOutput(
    { stdout, stderr, clock: fixedClock(now) },
    { json: false, plain: false, quiet: false, color: 'never', ...flags },
  );
  output.list(rows, columns, ['user', 'users'], (row) => ({ username: row.username, size: row.bytes }));
  return String(stdout.read() ?? '');
}

t.test('a table has headers, aligned columns, relative times and a count', async (t) => {
  t.equal(
    shown({}, { isTTY: true }),
    [
      'USERNAME  NAME                       LAST SEEN      SIZE  ID',
      'alice     Alice of the long gardens  2 hours ago  1.9 GB  0d3cc8a1',
      'bob                                  never         999 B  0d3cc8a1',
      '2 users',
      '',
    ].join('\n'),
  );
  t.match(shown({}, { isTTY: true, rows: people.slice(0, 1) }), /\n1 user\n$/);
  t.equal(shown({}, { isTTY: true, rows: [] }), '0 users\n', 'headers over nothing say nothing');
});

t.test('a narrow terminal truncates prose, never a header, a name, a time or a size', async (t) => {
  const lines = shown({}, { isTTY: true, width: 50 }).split('\n');
  t.equal(lines[1], 'alice     Alice of…  2 hours ago  1.9 GB  0d3cc8a1');
  t.ok(lines.every((line) => displayWidth(line) <= 50));
  t.match(shown({}, { isTTY: true, width: 10 }), /^USERNAME {2}NAME {2}LAST SEEN {6}SIZE {2}ID\n/);
});

t.test('without a terminal, or with --plain, rows are tab-separated, complete and absolute', async (t) => {
  const plain = [
    'alice\tAlice of the long gardens\t2026-11-20T07:31:02Z\t1900000000\t0d3cc8a1-5b0e-4f0a-9a57-0f2f6a1c9a11',
    'bob\t\tnever\t999\t0d3cc8a1-5b0e-4f0a-9a57-0f2f6a1c9a11',
    '',
  ].join('\n');
  t.equal(shown({}), plain);
  t.equal(shown({ plain: true }, { isTTY: true, width: 20 }), plain);
});

t.test('--json prints one document', async (t) => {
  t.equal(shown({ json: true }), '[{"username":"alice","size":1900000000},{"username":"bob","size":999}]\n');
  t.same(JSON.parse(shown({ json: true }, { isTTY: true })), [
    { username: 'alice', size: 1_900_000_000 },
    { username: 'bob', size: 999 },
  ]);
  t.equal(shown({ json: true }, { rows: [] }), '[]\n');
});

t.test('a header is bold only where colour is wanted', async (t) => {
  t.match(shown({ color: 'always' }, { isTTY: true }), /^\u001b\[1mUSERNAME/);
  t.notMatch(shown({ color: 'always', plain: true }, { isTTY: true }), /\u001b/);
});

t.test('names cannot move the cursor, break a row or reverse the text', async (t) => {
  const hostile = [{ ...people[0]!, name: 'a\u001b[2Jb\tc\nd\u202e' }];
  for (const isTTY of [true, false]) {
    const text = shown({}, { isTTY, rows: hostile });
    t.match(text, 'a\\u001b[2Jb\\u0009c\\u000ad\\u202e');
    t.notMatch(text, /\u001b|\u202e/);
  }
  t.equal(escapeControls('Ünïcode 日本語 🔥'), 'Ünïcode 日本語 🔥');
});

t.test('wide characters take two cells', async (t) => {
  t.equal(displayWidth('日本'), 4);
  t.equal(displayWidth('🔥'), 2);
  t.equal(displayWidth('e\u0301'), 1);
  t.equal(cut('日本語', 5), '日本…');
  t.equal(cut('abc', 3), 'abc');
  t.same(
    layOut(
      [
        ['A', 'B'],
        ['日本', 'x'],
        ['abcd', 'y'],
      ],
      [],
      80,
    ),
    ['A     B', '日本  x', 'abcd  y'],
  );
});

t.test('times', async (t) => {
  t.equal(absoluteTime(now + 250), '2026-11-20T09:31:02Z');
  const cases: [number, string][] = [
    [0, 'just now'],
    [30_000, 'in a moment'],
    [-59_999, 'just now'],
    [-60_000, '1 minute ago'],
    [-hour, '1 hour ago'],
    [-47 * hour, '1 day ago'],
    [90 * 24 * hour, 'in 3 months'],
    [-800 * 24 * hour, '2 years ago'],
  ];
  for (const [distance, text] of cases) t.equal(relativeTime(now + distance, now), text);
});

t.test('one property per line; a secret is alone on stdout', async (t) => {
  const stdout = Object.assign(new PassThrough(), { isTTY: false });
  const stderr = new PassThrough();
  const flags = { json: false, plain: false, quiet: false, color: 'never' } as const;
  const output = createOutput({ stdout, stderr, clock: fixedClock(now) }, flags);
  output.show(
    [
      ['Name', 'alice'],
      ['Seen', never(null)],
    ],
    {},
  );
  output.secret('hth_x', 'Created token.', {});
  t.equal(String(stdout.read()), 'Name\talice\nSeen\tnever\nhth_x\n');
  t.equal(String(stderr.read()), 'Created token.\n');
  const quiet = createOutput({ stdout, stderr, clock: fixedClock(now) }, { ...flags, quiet: true });
  quiet.secret('hth_x', 'Created token.', {});
  quiet.result('Done.', {});
  t.equal(String(stdout.read()), 'hth_x\n');
  t.equal(stderr.read(), null);
});

t.test('an error and its hint cannot act on the terminal', async (t) => {
  const written: string[] = [];
  const stderr = { write: (text: string) => written.push(text) > 0, on: () => 0 };
  const output = createOutput(
    { stdout: stderr, stderr, clock: { now: () => 0 } },
    { json: false, plain: false, quiet: false, color: 'never' },
  );
  const refusal = new DomainError(
    'not_found',
    'no_such_thing',
    'There is no \u001b]0;title\u0007 here.\nNor \u009b2J there.',
  );
  reportError(withHint(refusal, 'look at \u001b[2J'), output, stderr, { debug: false });
  const text = written.join('');
  t.match(text, /^error: there is no .*title.* here\.\n {7}Nor .*2J there\.\nhint: look at .*\[2J\n$/i);
  t.notMatch(text, /[\u001b\u0007\u009b]/);
});

t.test('system errors are explained, and are not reported as faults of this program', async (t) => {
  const explanation = (code: string): string => {
    const written: string[] = [];
    const stderr = { write: (text: string) => written.push(text) > 0, on: () => 0 };
    const output = createOutput(
      { stdout: stderr, stderr, clock: { now: () => 0 } },
      { json: false, plain: false, quiet: false, color: 'never' },
    );
    reportError(
      Object.assign(new Error(`${code}: some words, open '/srv/x'`), { code, path: '/srv/x' }),
      output,
      stderr,
      { debug: false },
    );
    return written.join('');
  };
  t.equal(
    explanation('EACCES'),
    'error: /srv/x: permission denied\nhint: run it as the owner of this path, or with sudo; or specify another path\n',
  );
  t.match(explanation('ENOSPC'), /^error: \/srv\/x: the disk is full\nhint: /);
  t.match(explanation('EMFILE'), /^error: internal error: EMFILE/, 'others stay what they are');
});
