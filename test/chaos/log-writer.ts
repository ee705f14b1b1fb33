// A program for log-crash-recovery.test.ts: adds rows to the log of one task until it is killed.
// argv: the data folder, the runner's credentials as JSON, the task. Prints the number of acknowledged rows, one a
// line.
import { driveRunner, openCi } from '../ci/ci-fixture.ts';

const [folder, credentials, task] = process.argv.slice(2) as [string, string, string];
const { modules } = await openCi({ teardown() {} }, { folder });
const runner = await driveRunner(modules, JSON.parse(credentials) as { uuid: string; token: string });
let index = await runner.stored(Number(task));
for (;;) {
  const count = 1 + (index % 7);
  index = await runner.log(
    Number(task),
    index,
    Array.from({ length: count }, (_, at) => `row ${index + at}`),
  );
  process.stdout.write(`${index}\n`);
}
