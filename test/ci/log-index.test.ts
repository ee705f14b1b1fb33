// The index of a log, and the search in it, against a model that reads every row: whatever is appended, in whatever
// parts, with reopened logs and damaged, lost or foreign index files in between.
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { annotationLevels, markOf, readLogCommand } from '../../src/ci/log-command.ts';
import { indexFileOf, LogFile, LogView } from '../../src/ci/log-storage/log-file.ts';
import type { LogReader } from '../../src/ci/log-storage/log-file.ts';
import { recordBytes } from '../../src/ci/log-storage/log-index.ts';
import { formatRow, readRow } from '../../src/ci/log-storage/row-buffer.ts';
import { contentOf } from './followed-log-writer.ts';
import { searchLog } from '../../src/ci/logs/search-log.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const numRuns = Number(process.env['HEARTH_LOG_ROUNDS'] ?? 60);
const kills = Number(process.env['HEARTH_CHAOS'] ?? 6);
const folder = temporaryFolder(t);
const time = { seconds: 1_767_225_600n, nanos: 0 };

const content = fc.oneof(
  {
    weight: 60,
    arbitrary: fc.constantFrom(
      'plain',
      'x'.repeat(90),
      '',
      'Größe: 5 µm',
      'GRÖẞE ΟΔΟΣ Å',
      '::not a command',
      'a::error::b',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '::error::no',
      '##[error]no',
      '::error file=a.ts,line=3::Straße',
      '::warning::w',
      '##[notice]n',
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom('::group::g', '##[group]h', '::endgroup::', '##[endgroup]') },
);

/** Runs of rows, so that logs have thousands. */
const rows = fc
  .array(fc.record({ content, times: fc.integer({ min: 1, max: 120 }) }), { minLength: 1, maxLength: 30 })
  .map((parts) =>
    parts.flatMap(({ content, times }) => (markOf(content) === null ? Array<string>(times).fill(content) : [content])),
  );

type Harm = 'none' | 'reopen' | 'lose' | 'cut' | 'flip' | 'old' | 'torn row';

async function check(log: LogReader, all: readonly string[], probe: number): Promise<void> {
  const fail = (what: string, got: unknown, wanted: unknown): void => {
    if (JSON.stringify(got) !== JSON.stringify(wanted))
      throw new Error(`${what} of ${all.length} rows: ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`);
  };
  await log.load();
  fail('rows', log.rows, all.length);
  const at = probe % (all.length + 2);
  fail(
    'window',
    (await log.read(at, 300)).map((line) => readRow(line).content),
    all.slice(at, at + 300),
  );
  const marks = all.map(markOf);
  for (const levels of [['error'], ['error', 'warning'], ['notice']] as const) {
    const isWanted = (row: number): boolean => (levels as readonly (string | null)[]).includes(marks[row]!);
    const next = marks.findIndex((_, row) => row >= at && isWanted(row));
    fail(`next ${levels.join()} from ${at}`, await log.findAnnotation(levels, at), next === -1 ? null : next);
    const before = marks.findLastIndex((_, row) => row < at && isWanted(row));
    fail(`${levels.join()} before ${at}`, await log.findAnnotation(levels, at, -1), before === -1 ? null : before);
  }
  const to = at + (probe % 700);
  for (const level of annotationLevels)
    fail(
      `${level} count`,
      await log.countAnnotations(level, at, to),
      marks.slice(at, to).filter((mark) => mark === level).length,
    );
  let group: number | null = null;
  marks.slice(0, at).forEach((mark, row) => (group = mark === 'group' ? row : mark === 'endgroup' ? null : group));
  if (at <= all.length) fail(`group of ${at}`, await log.groupOf(at), group);
}

t.test(`append, damage, reopen: the index answers as a scan of all rows (${numRuns} rounds)`, async (t) => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          rows,
          parts: fc.integer({ min: 1, max: 4 }),
          harm: fc.constantFrom<Harm>('none', 'none', 'reopen', 'lose', 'cut', 'flip', 'old', 'torn row'),
          where: fc.nat(),
          probe: fc.nat(),
        }),
        { minLength: 1, maxLength: 5 },
      ),
      async (steps) => {
        const file = path.join(folder, `${(number += 1)}.log`);
        const index = indexFileOf(file);
        let log = new LogFile(file);
        const all: string[] = [];
        for (const { rows, parts, harm, where, probe } of steps) {
          const size = Math.ceil(rows.length / parts);
          for (let at = 0; at < rows.length; at += size) {
            await log.append(
              Buffer.from(
                rows
                  .slice(at, at + size)
                  .map((row) => formatRow(time, row))
                  .join(''),
              ),
            );
            await log.sync();
          }
          const kept = existsSync(index) ? readFileSync(index) : null;
          all.push(...rows);
          await check(log, all, probe);
          if (harm === 'none') continue;
          await log.close();
          if (harm === 'torn row') appendFileSync(file, '2026-01-01T00:00:00.0000000Z ::error::torn');
          else if (kept !== null) {
            const [from, bytes] = [where % kept.length, Buffer.from(kept)];
            if (harm === 'lose') rmSync(index);
            if (harm === 'cut') truncateSync(index, from);
            if (harm === 'flip') writeFileSync(index, bytes.fill(bytes[from]! ^ 0x55, from, from + 1));
            // As a restored backup leaves it: an index of an earlier time, with what was written later behind it.
            if (harm === 'old')
              writeFileSync(index, Buffer.concat([bytes.subarray(0, from - (from % recordBytes)), bytes]));
          }
          log = new LogFile(file);
          await check(log, all, probe);
          await check(new LogView(file), all, where);
        }
        await log.close();
      },
    ),
    { numRuns, endOnFailure: true },
  );
  t.pass();
});

t.test(
  `${kills} kills while a log is written and followed: no acknowledged row is lost, and the index fits`,
  async (t) => {
    const file = path.join(folder, 'killed.log');
    const random = seededRandom(22);
    let acknowledged = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const writer = spawn(
        process.execPath,
        [
          '--disable-warning=ExperimentalWarning',
          fileURLToPath(new URL('followed-log-writer.ts', import.meta.url)),
          file,
          `${kill}`,
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const ended = new Promise((resolve) => writer.once('close', resolve));
      let said = '';
      for await (const part of writer.stdout) {
        if (said === '') setTimeout(() => writer.kill('SIGKILL'), random.below(60));
        said += String(part);
      }
      await ended;
      t.notMatch(said, /wrong/, 'followers read what was written');
      // The last line may be incomplete.
      acknowledged = Math.max(acknowledged, Number(said.split('\n').at(-2)));
      const log = new LogFile(file);
      await log.load();
      t.ok(log.rows >= acknowledged, `${log.rows} rows, ${acknowledged} acknowledged`);
      const all = Array.from({ length: log.rows }, (_, row) => contentOf(row));
      for (const probe of [0, acknowledged, random.below(log.rows)]) await check(log, all, probe);
      await check(new LogView(file), all, log.rows - 1);
      await log.close();
    }
    t.ok(acknowledged > kills, 'every writer went on where the last one was killed');
  },
);

t.test('an index is small, is used, and is left behind when the log is shorter than it says', async (t) => {
  const file = path.join(folder, '900.log');
  const log = new LogFile(file);
  for (let part = 0; part < 20; part += 1) {
    await log.append(Buffer.from(formatRow(time, part === 7 ? '::error::x' : 'y').repeat(1000)));
    await log.sync();
  }
  await log.close();
  t.equal(statSync(indexFileOf(file)).size, Math.floor(20_000 / 256) * recordBytes);
  // Same length, other content: only a log that trusts its index still finds the errors.
  copyFileSync(file, path.join(folder, '901.log'));
  writeFileSync(path.join(folder, '901.log'), readFileSync(file, 'utf8').replaceAll('::error::x', '::erro_::x'));
  copyFileSync(indexFileOf(file), path.join(folder, '901.idx'));
  const trusting = new LogView(path.join(folder, '901.log'));
  t.equal(await trusting.countAnnotations('error', 7_168, 7_680), 512);
  truncateSync(file, formatRow(time, 'y').length * 300);
  const cut = new LogView(file);
  await cut.load();
  t.equal(cut.rows, 300);
  t.equal(await cut.findAnnotation(['error'], 0), null);
});

t.test('the last block ends a search for annotations', async (t) => {
  const log = new LogFile(path.join(folder, '902.log'));
  await log.append(Buffer.from(['::error::x', 'y', 'z'].map((row) => formatRow(time, row)).join('')));
  t.equal(await log.findAnnotation(['error'], 1), null);
  t.equal(await log.findAnnotation(['error'], 1, -1), 0);
  await log.close();
});

t.test('a search counts every row once, in content only, and ignores case as a scan does', async (t) => {
  const needles = [
    'x',
    'ERROR',
    'größe',
    'ὀδός',
    'ς',
    '\u212b',
    '\u212a',
    '2026',
    ':',
    'a::error::b',
    'µ',
    '[',
    'plain',
    'no such',
  ];
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.constantFrom(...needles),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 9, max: 40 }),
      async (all, text, limit, atMost) => {
        const file = path.join(folder, 'search.log');
        rmSync(file, { force: true });
        writeFileSync(file, all.map((row) => formatRow(time, row)).join(''));
        const log = new LogView(file);
        const found = await searchLog({ logs: { log: () => Promise.resolve(log) } } as never, 1, text, limit, atMost);
        const wanted = all.flatMap((row, at) => (row.toLowerCase().includes(text.toLowerCase()) ? [at] : []));
        if (found.count !== Math.min(wanted.length, atMost) || found.isCut !== wanted.length > atMost)
          throw new Error(`${found.count} of ${wanted.length}`);
        const hits = found.hits.map(({ number, content }) => `${number} ${content}`);
        if (
          hits.join('\n') !==
          wanted
            .slice(0, limit)
            .map((at) => `${at} ${all[at]}`)
            .join('\n')
        )
          throw new Error('hits');
      },
    ),
    { numRuns, endOnFailure: true },
  );
  t.pass();
});

t.test('commands of rows, with their properties decoded once', (t) => {
  const read = (row: string) => {
    const command = readLogCommand(row);
    return command && [command.name, Object.fromEntries(command.properties), command.message];
  };
  t.same(read('::error file=a%2Cb.ts,line=3,endLine=5,title=O%3A1::50%25 %250A done'), [
    'error',
    { file: 'a,b.ts', line: '3', endline: '5', title: 'O:1' },
    '50% %0A done',
  ]);
  t.same(read('::warning::a::b'), ['warning', {}, 'a::b']);
  t.same(read('##[group]Run make'), ['group', {}, 'Run make']);
  t.same(read('[command]/usr/bin/git fetch'), ['command', {}, '/usr/bin/git fetch']);
  for (const row of ['::errors::x', ' ::error::x', '::error x', '##[error', '', ':', '::error'])
    t.equal(readLogCommand(row), null, row);
  t.equal(markOf('::debug::x'), null);
  t.end();
});

t.test('a log that could not be read once is read again at the next request', async (t) => {
  const file = path.join(folder, '950.log');
  // A link to itself can be opened by nobody, not even by root.
  symlinkSync('950.log', file);
  for (const log of [new LogFile(file), new LogView(file)]) {
    await t.rejects(log.load(), { code: 'ELOOP' });
    rmSync(file);
    writeFileSync(file, ['one', 'two'].map((text) => formatRow(time, text)).join(''));
    t.equal((await log.read(0, 9)).length, 2);
    rmSync(file);
    symlinkSync('950.log', file);
  }
  rmSync(file);
});
