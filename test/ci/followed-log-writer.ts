// node followed-log-writer.ts FILE SEED: appends rows to a log as the server does and prints how many are acknowledged,
// until it is killed; a reader follows it in the same process. The content of each row follows from its number.
import { writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LogFile, LogView } from '../../src/ci/log-storage/log-file.ts';
import { formatRow, readRow } from '../../src/ci/log-storage/row-buffer.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';

const time = { seconds: 1_767_225_600n, nanos: 0 };

export function contentOf(row: number): string {
  if (row % 97 === 0) return `::error file=a.ts,line=${row}::no`;
  if (row % 131 === 0) return '::warning::w';
  if (row % 300 === 7) return '::group::g';
  if (row % 300 === 200) return '::endgroup::';
  return `row ${row} ${'x'.repeat(row % 120)}`;
}

const rowsFrom = (from: number, count: number): Buffer =>
  Buffer.from(Array.from({ length: count }, (_, at) => formatRow(time, contentOf(from + at))).join(''));

async function write(file: string, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const log = new LogFile(file);
  await log.load();
  const follower = new LogView(file);
  void follow(follower);
  for (;;) {
    for (let parts = 1 + random.below(3); parts > 0; parts -= 1)
      await log.append(rowsFrom(log.rows, 1 + random.below(600)));
    await log.sync();
    writeSync(1, `${log.rows}\n`);
  }
}

/** What a follower reads is what was written, while it is written. */
async function follow(view: LogView): Promise<void> {
  for (let from = 0; ; ) {
    await view.refresh();
    const rows = await view.read(from, 500);
    const wrong = rows.findIndex((line, at) => readRow(line).content !== contentOf(from + at));
    if (wrong !== -1) writeSync(1, `wrong ${from + wrong}: ${rows[wrong]}\n`);
    from += rows.length;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await write(process.argv[2]!, Number(process.argv[3]));
