// The statement that writes inboxes says the same on SQLite and on PostgreSQL.
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { migrations } from '../../migrations/index.ts';
import { inPostgres } from '../../src/db/dialect.ts';
import { upsertNotificationsSql } from '../../src/notifications/fan-out/write-notifications.ts';
import { schemaInPostgres } from '../../src/db/postgres/schema-words.ts';
import { startPostgres } from '../fixtures/postgres.ts';

type Value = string | number | null;

/** A statement with its values written into it, for a client that takes text only. */
const withValues = (sql: string, values: readonly Value[]): string =>
  inPostgres(sql).replace(/\$(\d+)/g, (_all, at) => {
    const value = values[Number(at) - 1]!;
    return value === null ? 'NULL' : typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
  });

/** One event: its position and time, and who gets it as `[user, reason, inbox, feed]`. */
type Event = [position: number, at: number, rows: [string, string, number, number][]];
const events: Event[] = [
  [
    0,
    10,
    [
      ['a', 'watching', 1, 1],
      ['b', 'author', 1, 0],
      ['c', 'reply', 0, 1],
      ['gone', 'reply', 1, 1],
    ],
  ],
  [
    2,
    20,
    [
      ['a', 'mention', 1, 1],
      ['b', 'mention', 0, 1],
    ],
  ],
  [1, 30, [['a', 'reply', 1, 1]]],
  [
    3,
    40,
    [
      ['a', 'reply', 1, 1],
      ['c', 'reply', 1, 1],
    ],
  ],
];
const valuesOf = ([position, at, rows]: Event): Value[] => [
  'issue:i',
  'r',
  'i',
  '{}',
  '',
  position,
  position,
  at,
  at,
  JSON.stringify(rows),
];
const shown = 'user_id, reason, first_position, last_position, listed_at, fed_at, read_at';
const select = `SELECT ${shown} FROM notifications ORDER BY user_id`;

t.test('one row for a person and subject, in both', async (t) => {
  const sqlite = new DatabaseSync(':memory:');
  t.teardown(() => sqlite.close());
  sqlite.exec('CREATE TABLE migrations (id INTEGER PRIMARY KEY, timestamp BIGINT NOT NULL, name TEXT NOT NULL)');
  for (const { statements } of migrations) for (const sql of statements) sqlite.exec(sql);
  const objects = sqlite
    .prepare(
      `SELECT type, name, tbl_name AS "table", sql FROM sqlite_master
        WHERE tbl_name = 'notifications' AND type IN ('table', 'index') AND sql IS NOT NULL`,
    )
    .all() as { sql: string }[];
  sqlite.exec('PRAGMA foreign_keys = OFF');
  const postgres = await startPostgres(t);
  for (const table of ['users', 'repositories', 'issues'])
    postgres.run(`CREATE TABLE ${table} (id TEXT COLLATE "C" PRIMARY KEY)`);
  postgres.run("INSERT INTO repositories VALUES ('r'); INSERT INTO issues VALUES ('i')");
  for (const sql of objects.flatMap(({ sql }) => schemaInPostgres(sql))) postgres.run(sql);
  for (const id of ['a', 'b', 'c']) {
    postgres.run(`INSERT INTO users VALUES ('${id}')`);
    sqlite.exec(`INSERT INTO users (id, username, created_at) VALUES ('${id}', '${id}', 1)`);
  }
  for (const event of events) {
    sqlite.prepare(upsertNotificationsSql).run(...valuesOf(event));
    postgres.run(withValues(upsertNotificationsSql, valuesOf(event)));
    if (event[1] === 20) {
      sqlite.exec("UPDATE notifications SET read_at = 25 WHERE user_id = 'a'");
      postgres.run("UPDATE notifications SET read_at = 25 WHERE user_id = 'a'");
    }
  }
  const found = sqlite
    .prepare(select)
    .all()
    .map((row) => ({ ...row }));
  t.strictSame(postgres.query(select), found);
  t.match(found, [
    { user_id: 'a', reason: 'reply', first_position: 3, last_position: 3, listed_at: 40, read_at: null },
    { user_id: 'b', reason: 'author', first_position: 0, last_position: 2, listed_at: 10, fed_at: 20 },
    { user_id: 'c', reason: 'reply', first_position: 3, last_position: 3, listed_at: 40, fed_at: 40 },
  ]);
});
