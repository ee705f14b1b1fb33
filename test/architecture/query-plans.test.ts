// No statement of the program takes time proportional to a large table: `watchStatements` of the fixtures checks the
// query plan of each statement that a test makes it run. These tests check the checker and its lists.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { allowedScans } from '../fixtures/allowed-scans.ts';
import { allPlanFaults, largeTables, normalise, planFaults, smallTables } from '../fixtures/query-plans.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { projectFolder, readSources } from './source-files.ts';

const faultsOf = (sql: string): string[] => planFaults(sql).map(({ fault }) => fault);

t.test('a full scan of a large table is refused, whatever its form', async (t) => {
  t.strictSame(faultsOf('SELECT * FROM users WHERE bio = ?'), ['SCAN users']);
  t.strictSame(faultsOf('SELECT "u"."id" FROM "users" "u" WHERE "u"."bio" = ?'), ['SCAN users']);
  t.strictSame(faultsOf('SELECT count(*) FROM pushes'), ['SCAN pushes'], 'through an index, too');
  t.strictSame(faultsOf("UPDATE repositories AS r SET name = '' WHERE description = ?"), ['SCAN repositories']);
  t.strictSame(faultsOf('DELETE FROM ci_tasks WHERE log_rows > 5'), ['SCAN ci_tasks']);
  t.strictSame(
    faultsOf('SELECT id FROM users WHERE id = ? AND EXISTS (SELECT 1 FROM handles h WHERE h.display = ?)'),
    ['SCAN handles'],
    'in a question within it',
  );
  t.strictSame(
    faultsOf('SELECT id FROM repositories WHERE owner_user_id = ?1 OR owner_org_id = ?1'),
    ['SCAN repositories'],
    'an owner of either kind',
  );
  t.match(
    faultsOf('SELECT d.id FROM webhook_deliveries d WHERE d.status = ?'),
    [/^SCAN (webhook_messages|outbox)$/],
    'behind a view',
  );
});

t.test('a sort of a large table is refused, and reading in index order is not', async (t) => {
  t.strictSame(faultsOf('SELECT id FROM pushes WHERE repository_id = ? ORDER BY via'), ['TEMP B-TREE']);
  t.strictSame(faultsOf('SELECT event, count(*) FROM ci_runs WHERE repository_id = ? GROUP BY event'), ['TEMP B-TREE']);
  t.strictSame(faultsOf('SELECT id FROM pushes WHERE repository_id = ? ORDER BY created_at DESC LIMIT 10'), []);
  t.strictSame(faultsOf('SELECT * FROM users WHERE id IN (?, ?, ?)'), []);
});

t.test('small tables, and statements other than queries, pass', async (t) => {
  t.strictSame(faultsOf('SELECT * FROM job_runs ORDER BY last_error'), []);
  t.strictSame(faultsOf('PRAGMA integrity_check'), []);
  t.strictSame(faultsOf('BEGIN IMMEDIATE'), []);
});

t.test('statements that differ only in lists, numbers and columns are equal', async (t) => {
  const one = 'SELECT "r"."id" AS "r_id", "r"."name" AS "r_name" FROM "x" "r" WHERE "r"."id" IN (?, ?) LIMIT 51';
  const other = 'SELECT "r"."id" AS "r_id" FROM "x" "r"  WHERE "r"."id" IN (?,?,?) LIMIT 9';
  t.equal(normalise(one), normalise(other));
});

t.test('every entry of the allowed scans belongs to one reason, and every reason is stated', async (t) => {
  const parts = allowedScans.flatMap(({ parts }) => parts);
  t.strictSame(
    parts.filter((part, at) => parts.indexOf(part) !== at),
    [],
  );
  for (const { reason, parts } of allowedScans) t.ok(reason.length > 10 && parts.length > 0, reason);
  for (const [table, reason] of Object.entries(smallTables)) {
    t.notOk(largeTables.includes(table), `${table}: ${reason}`);
    t.strictSame(allPlanFaults(`SELECT * FROM ${table}`), []);
  }
});

/** A program in a file below `src` runs the statement; the fixtures listen. */
const planted = (sql: string): string => `
  import vm from 'node:vm';
  import { openTestDatabase } from '${projectFolder}test/fixtures/test-database.ts';
  const endings = [];
  const { db } = await openTestDatabase({ teardown: (fn) => endings.push(fn) });
  const ask = vm.compileFunction('return (async () => await db.read.query(sql))()', ['db', 'sql'], { filename: '${pathToFileURL(projectFolder).href}src/accounts/planted.ts' });
  await ask(db, ${JSON.stringify(sql)});
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (const end of endings.reverse()) await end();
`;
function runPlanted(owner: Owner, sql: string) {
  const file = path.join(temporaryFolder(owner), 'planted.mjs');
  writeFileSync(file, planted(sql));
  return promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', file]);
}

t.test('a test whose program runs such a statement fails with its text', async (t) => {
  await t.resolves(runPlanted(t, 'SELECT id FROM users WHERE id = 1'), 'a good one passes');
  const { stderr } = (await runPlanted(t, 'SELECT id FROM users WHERE bio = 1').then(
    () => t.fail('a bad one does not'),
    (error: { stderr: string }) => error,
  )) as { stderr: string };
  t.match(stderr, /PlanError: .*SCAN users[^]*SELECT id FROM users WHERE bio = N/);
});

t.test('no condition is written as NOT(… IS NULL), for which SQLite uses no partial index', async (t) => {
  const wrong = readSources('src').filter(({ text }) => /\bNot\(\s*IsNull\(/.test(text));
  t.strictSame(
    wrong.map(({ path: file }) => file),
    [],
    'isNotNull() of src/db instead',
  );
});
