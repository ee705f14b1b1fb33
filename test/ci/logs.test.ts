import t from 'tap';
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { LogFile, LogView } from '../../src/ci/log-storage/log-file.ts';
import { createMask } from '../../src/ci/logs/mask.ts';
import { formatRow, maxRowBytes, readRow, RowBuffer } from '../../src/ci/log-storage/row-buffer.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { driveRunner, openCi, reasonOf, workflow } from './ci-fixture.ts';

const simple = workflow('on: push\njobs:\n  a:\n    runs-on: linux\n    steps: [{run: one}]\n');

async function running(t: Owner, options: Parameters<typeof openCi>[1] = {}) {
  const fixture = await openCi(t, options);
  await fixture.push(simple);
  const runner = await fixture.addRunner(['linux']);
  const { taskId } = (await runner.fetch())!;
  const file = path.join(fixture.folder, 'data/ci/logs/0', `${taskId}.log`);
  return {
    ...fixture,
    runner,
    taskId,
    file,
    stored: () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => readRow(line).content),
  };
}

t.test('SPEC §2.1 rows are stored, skipped or refused by their first index', async (t) => {
  const { runner, taskId, stored } = await running(t);
  const log = (index: number, rows: string[], noMore = false) => runner.log(taskId, index, rows, noMore);
  t.equal(await log(1, ['b']), 0, 'a gap: nothing is stored');
  t.equal(await log(1, ['b'], true), 0, 'nor sealed');
  t.equal(await log(0, ['a', 'b']), 2);
  t.equal(await log(0, ['a', 'b']), 2, 'a repeat');
  t.equal(await log(1, ['b']), 2, 'a part again');
  t.equal(await log(1, ['b', 'c', 'd']), 4, 'an overlap');
  t.equal(await log(4, []), 4, 'nothing new');
  t.equal(await log(9, []), 4);
  t.equal(await reasonOf(log(-1, ['x'])), 'negative_log_index');
  t.equal(await log(3, ['d', 'e'], true), 5, 'the last ones, and the seal');
  t.equal(await reasonOf(log(5, ['f'])), 'log_sealed');
  t.equal(await reasonOf(log(4, ['e', 'f'], true)), 'log_sealed');
  t.equal(await log(3, ['d', 'e'], true), 5, 'the seal again');
  t.equal(await log(5, [], true), 5);
  t.same(stored(), ['a', 'b', 'c', 'd', 'e']);
});

t.test('rows of another runner’s task, and of a missing one, are refused alike', async (t) => {
  const { addRunner, runner, taskId } = await running(t);
  const other = await addRunner(['linux']);
  t.equal(await reasonOf(other.log(taskId, 0, ['x'])), 'task_not_found');
  t.equal(await reasonOf(other.log(taskId + 1, 0, ['x'])), 'task_not_found');
  t.equal(await reasonOf(runner.log(2 ** 52, 0, ['x'])), 'task_not_found');
});

t.test('SPEC §2.1 any sequence of calls ends with every row once, in order (a model, 30 rounds)', async (t) => {
  const { runner, taskId, stored } = await running(t);
  const random = seededRandom(11);
  const all = Array.from({ length: 400 }, (_, at) => `row ${at}`);
  let known = 0;
  for (let round = 0; round < 30; round += 1) {
    const index = random.below(known + 6);
    const rows = all.slice(index, index + random.below(30));
    const end = index + rows.length;
    if (index <= known) known = Math.max(known, end);
    // A runner cuts acknowledged rows off its buffer, and panics when that is more than it has.
    t.equal(await runner.log(taskId, index, rows), Math.min(known, end), `${rows.length} rows at ${index}`);
  }
  t.same(stored(), all.slice(0, known));
});

t.test('concurrent calls for one log are serialised', async (t) => {
  const { runner, taskId, stored } = await running(t);
  const acks = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      runner.log(
        taskId,
        0,
        Array.from({ length: at + 1 }, (_, n) => String(n)),
      ),
    ),
  );
  t.equal(Math.max(...acks), 8);
  t.same(stored(), ['0', '1', '2', '3', '4', '5', '6', '7']);
});

t.test('a full log acknowledges further rows and drops them; the count continues, also after a restart', async (t) => {
  const first = await running(t, { env: { SERVICE_CI_MAX_LOG_SIZE: '64KiB' } });
  const line = 'x'.repeat(1000);
  let index = 0;
  for (let call = 0; call < 10; call += 1) {
    const ack = await first.runner.log(
      first.taskId,
      index,
      Array.from({ length: 10 }, () => line),
    );
    t.equal(ack, index + 10);
    index = ack;
  }
  t.match(first.stored().at(-1), /reached its largest size/);
  t.equal(first.stored().filter((content) => content.startsWith('[the log')).length, 1);
  await first.close();
  const second = await openCi(t, { folder: first.folder, env: { SERVICE_CI_MAX_LOG_SIZE: '64KiB' } });
  const again = await driveRunner(second.modules, first.runner.credentials);
  t.equal(await again.log(first.taskId, index, [line]), index + 1);
  t.equal(await again.log(first.taskId, index + 1, [], true), index + 1);
});

t.test('an incomplete row after a crash does not count; rows lost by a disk are replaced', async (t) => {
  const first = await running(t);
  await first.runner.log(first.taskId, 0, ['one', 'two']);
  await first.close();
  appendFileSync(first.file, '2026-01-01T00:00:00.0000000Z thr');
  const second = await openCi(t, { folder: first.folder });
  const again = await driveRunner(second.modules, first.runner.credentials);
  t.equal(await again.stored(first.taskId), 2);
  t.equal(await again.log(first.taskId, 2, ['three'], false), 3);
  t.same(first.stored(), ['one', 'two', 'three']);
  await second.db.write(({ manager }) => manager.query('UPDATE ci_tasks SET log_rows = 3'));
  await second.close();
  truncateSync(first.file, readFileSync(first.file, 'utf8').indexOf('three') - 29);
  const third = await openCi(t, { folder: first.folder });
  t.equal(await (await driveRunner(third.modules, first.runner.credentials)).log(first.taskId, 3, ['four']), 4);
  t.same(first.stored(), ['one', 'two', '[log line lost in a server crash]', 'four']);
});

t.test('a row is one line, whatever its content', async (t) => {
  const at = { seconds: 1_767_225_600n, nanos: 123_456_789 };
  t.equal(formatRow(at, 'plain'), '2026-01-01T00:00:00.1234567Z plain\n');
  t.equal(formatRow(at, 'a\nb\r\nc\rd\n'), '2026-01-01T00:00:00.1234567Z a\\nb\\nc\rd\n');
  t.equal(formatRow(null, ''), '1970-01-01T00:00:00.0000000Z \n');
  for (const seconds of [-1n, 2n ** 63n - 1n, -(2n ** 63n)])
    t.match(formatRow({ seconds, nanos: -5 }, 'x'), /^(1970|9999)-.*\.0000000Z x\n$/);
  const long = formatRow(at, '🔥'.repeat(20_000)).slice(29, -1);
  t.ok(Buffer.byteLength(long) <= maxRowBytes);
  t.match(long, /🔥 \[cut: the line is longer than 64 KiB\]$/u);
  t.equal(formatRow(at, 'ä'.repeat(32_768)).length, 29 + 32_768 + 1, 'exactly the limit is kept');
  t.same(readRow('2026-01-01T00:00:00.1234567Z \u001b[1mx'), { at: Date.UTC(2026, 0, 1) + 123, content: '\u001b[1mx' });
});

t.test('security H06 secrets are masked literally, line by line, in base64 and percent-encoded', async (t) => {
  const key = '-----BEGIN KEY-----\nabcdefgh12345678\nzyxwvuts87654321\n-----END KEY-----\n';
  const mask = createMask(['s3cr+t/v(a)lue?', key, 'no', '2026']);
  const through = (content: string) =>
    mask(Buffer.from(formatRow({ seconds: 1_767_225_600n, nanos: 0 }, content)))
      .toString()
      .slice(29, -1);
  for (const [given, shown] of [
    ['say s3cr+t/v(a)lue?!', 'say ***!'],
    [`b ${Buffer.from('s3cr+t/v(a)lue?').toString('base64')}`, 'b ***'],
    [encodeURIComponent('s3cr+t/v(a)lue?'), '***'],
    ['abcdefgh12345678', '***'],
    [key, '***'],
    ['no', 'no'],
    ['ABCDEFGH12345678 S3CR+T/V(A)LUE?', '*** ***'],
    ['in 2026', 'in ***'],
    ['s3cr+t/v', 's3cr+t/v'],
    ['\u001b[1ms3cr\u001b[31m+t/v(a)\u001b[0mlue?\u001b[0m!', '\u001b[1m***\u001b[0m!'],
    ['\u001b[32mgreen\u001b[0m and s3cr+t/v(a)lue?', '\u001b[32mgreen\u001b[0m and ***'],
    ['abcd\u001b]8;;https://example.org\u0007efgh12345678', '***'],
    ['\u001b[1mnothing', '\u001b[1mnothing'],
    ['s3cr+t/\u0008v(a)lue?!', '***!'],
    ['s3cr+t/\u200bv(a)\u009blue?!', '***!'],
    ['\u0000s3cr+t\u007f/v(a)lue\u202e?', '\u0000***'],
    ['s3cr+t/\tv(a)lue?', 's3cr+t/\tv(a)lue?'],
    ['nothing \u0008', 'nothing \u0008'],
    // Before and behind the secret stand characters that share their bits with neighbours.
    ...['', 'u', 'us', 'use', 'user:', 'alice:'].map(
      (before) => [Buffer.from(`${before}s3cr+t/v(a)lue?`).toString('base64'), /^.{0,9}\*\*\*[^*]{0,3}$/] as const,
    ),
    ...['x', 'xy', 'xyz'].map(
      (after) => [Buffer.from(`alice:s3cr+t/v(a)lue?${after}`).toString('base64url'), /^.{0,9}\*\*\*.{0,5}$/] as const,
    ),
  ] as const)
    if (typeof shown === 'string') t.equal(through(given), shown, given);
    else t.match(through(given), shown, given);
  t.match(
    mask(Buffer.from(formatRow({ seconds: 1_767_225_600n, nanos: 0 }, 'x'))).toString(),
    /^2026-01-01T/,
    'the time of a row stays',
  );
  const short = createMask(['aB3dE6gH', 'cD4fG7j']);
  t.equal(
    short(Buffer.from(`${' '.repeat(29)}AB3DE6GH ab3de6gh CD4FG7J cD4fG7j\n`))
      .toString()
      .slice(29),
    '*** *** CD4FG7J ***\n',
    'from eight characters on in capitals, too',
  );
  const rows = Buffer.from('nothing\n');
  t.equal(createMask([])(rows), rows);

  // 14 bytes: their base64 ends in padding, which programs leave out. The other secret begins the first.
  const nested = createMask(['abcd', 'abcd1234567890']);
  const throughNested = (content: string) =>
    nested(Buffer.from(formatRow({ seconds: 1_767_225_600n, nanos: 0 }, content)))
      .toString()
      .slice(29, -1);
  for (const [given, shown] of [
    ['abcd1234567890 and abcd', '*** and ***'],
    ['YWJjZDEyMzQ1Njc4OTA=', '***'],
    ['YWJjZDEyMzQ1Njc4OTA', '***'],
    ['YWJjZDEyMzQ1Njc4OTA.signature', '***.signature'],
  ] as const)
    t.equal(throughNested(given), shown, given);
});

t.test('configured secrets and the task’s token never reach the log; a run that is not trusted has none', async (t) => {
  const { ci, push, addRunner, found, folder, db } = await openCi(t);
  await ci.secrets.set(
    { kind: 'repository', id: found.repository.id },
    { name: 'deploy_key', value: 'hunter2hunter2' },
  );
  await ci.secrets.set({ kind: 'instance' }, { name: 'WIDE', value: 'widewidewide' });
  await push(simple);
  const runner = await addRunner(['linux']);
  const task = (await runner.fetch())!;
  t.same([...task.secrets.keys()].sort(), ['DEPLOY_KEY', 'FORGEJO_TOKEN', 'GITEA_TOKEN', 'GITHUB_TOKEN', 'WIDE']);
  await runner.log(task.taskId, 0, [
    `hunter2hunter2 ${task.context.token} widewidewide ${task.context.gitea_runtime_token}`,
  ]);
  t.match(
    readFileSync(path.join(folder, 'data/ci/logs/0', `${task.taskId}.log`), 'utf8'),
    /Z \*\*\* \*\*\* \*\*\* \*\*\*\n$/,
  );
  await push({ a: '2' });
  await db.write(({ manager }) => manager.query('UPDATE ci_runs SET is_trusted = 0 WHERE number = 2'));
  const untrusted = (await runner.fetch())!;
  t.same([...untrusted.secrets.keys()].sort(), ['FORGEJO_TOKEN', 'GITEA_TOKEN', 'GITHUB_TOKEN']);
  t.match(await ci.tasks.viewerOfToken(String(untrusted.context.token)), { scope: 'read' });
});

t.test('a hundred thousand rows: any window is read without reading all, and memory is bounded', async (t) => {
  const folder = temporaryFolder(t);
  const rows = new RowBuffer(path.join(folder, 'waiting'));
  for (let at = 0; at < 100_000; at += 1)
    if (rows.add({ seconds: BigInt(at), nanos: 0 }, `line ${at} ${'·'.repeat(40)}`)) await rows.flush();
  await rows.flush();
  const file = path.join(folder, 'log');
  const log = new LogFile(file);
  for await (const chunk of rows.from(7)) await log.append(chunk);
  await log.sync();
  await rows.discard();
  t.equal(log.rows, 99_993);
  const other = new LogView(file);
  await other.load();
  t.equal(other.rows, 99_993);
  for (const from of [0, 1, 255, 256, 257, 50_000, 99_992]) {
    const [line] = await other.read(from, 1);
    t.match(readRow(line!).content, new RegExp(`^line ${from + 7} `));
  }
  t.equal((await other.read(99_990, 100)).length, 3);
  t.same(await other.read(99_993, 5), []);
  t.equal((await other.read(1000, 3000)).length, 3000);
  await log.append(Buffer.from(formatRow(null, 'more')));
  await other.refresh();
  t.equal(other.rows, 99_994, 'a command beside the server sees what is added');
  await log.close();
  writeFileSync(file, '');
  t.same(await other.read(0, 5), [], 'a truncated file is not waited for');
  await other.refresh();
  t.equal(other.rows, 0);
});
