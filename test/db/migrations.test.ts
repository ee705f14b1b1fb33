// time limit: 1200 s
import t from 'tap';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { migrations } from '../../migrations/index.ts';
import { createDatabase, isForeignKeyViolation } from '../../src/db/index.ts';
import type { Database, Migration } from '../../src/db/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import type { Logger } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { databaseOptions, insertRow, openTestDatabase } from '../fixtures/test-database.ts';
import { rowsByVersion } from './rows-by-version.ts';
import type { Row } from './rows-by-version.ts';

/**
 * The steps that released programs had. Numbers fixed by SPEC §9 were added later below higher ones, so an upgrade is
 * not always a longer list.
 */
const released: number[][] = [[1, 3, 13, 14]];

const versionsUpTo = (version: number): number[] =>
  migrations.map((step) => step.version).filter((other) => other <= version);

const only = (versions: readonly number[]): Migration[] => migrations.filter((step) => versions.includes(step.version));

async function fill(db: Database, versions: readonly number[]): Promise<void> {
  // A later step may have made a view of a table.
  const views: { name: string }[] = await db.read.query("SELECT name FROM sqlite_master WHERE type = 'view'");
  await db.write(async (tx) => {
    for (const version of versions)
      for (const [table, row] of rowsByVersion[version] ?? [])
        if (!views.some(({ name }) => name === table)) await insertRow(tx, table, row);
  });
}

function inspect<T>(file: string, look: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return look(database);
  } finally {
    database.close();
  }
}

const schemaOf = (file: string) =>
  inspect(file, (database) =>
    database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name').all(),
  );

const applied = (file: string): unknown[] =>
  inspect(file, (database) =>
    database
      .prepare('SELECT name FROM migrations ORDER BY timestamp')
      .all()
      .map((row) => row['name']),
  );

function tablesOf(file: string): Map<string, Row[]> {
  return inspect(file, (database) => {
    // Shadow tables of virtual tables are skipped.
    const names = database
      .prepare(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
      )
      .all();
    return new Map(names.map(({ name }) => [String(name), database.prepare(`SELECT * FROM "${name}"`).all() as Row[]]));
  });
}

/** A database as the program of that version left it: its schema, rows in every table. */
async function makeDatabase(file: string, versions: readonly number[], logger: Logger = silentLogger): Promise<void> {
  const db = await createDatabase(databaseOptions(file, { migrations: only(versions), logger }));
  await fill(db, versions);
  await db.close();
}

t.test(
  'SPEC §9 the migrations are in order, numbered once, and V13 and V14 are what the specification names',
  async (t) => {
    const versions = migrations.map((migration) => migration.version);
    t.strictSame(
      versions,
      [...new Set(versions)].sort((a, b) => a - b),
    );
    const statements = (version: number) => migrations.find((step) => step.version === version)!.statements.join('\n');
    t.match(statements(13), /image_content_type[\s\S]*image_updated_at/);
    t.match(statements(14), /CREATE TABLE organisations[\s\S]*owner_org_id/);
    for (const step of migrations) {
      if ([2, 9, 19].includes(step.version))
        t.match(step.statements.join('\n'), /federation|remote_|followers|received_pushes/);
    }
  },
);

t.test('every table has a row in rows-by-version.ts, which later steps must keep', async (t) => {
  const file = path.join(temporaryFolder(t), 'hearth.db');
  await makeDatabase(file, versionsUpTo(Infinity));
  t.strictSame(
    [...tablesOf(file)].filter(([, rows]) => rows.length === 0).map(([table]) => table),
    [],
  );
});

/** Tables whose rows are made anew by the first start after a step, kept with every change, or dropped. */
const madeAnew: Record<string, number> = {
  search_repositories: 72,
  search_people: 72,
  storages: 400,
  leases: 400,
  counts: Infinity,
};

/** Columns that a later step has moved into another table, or dropped. */
const movedColumns: Record<string, Record<string, number>> = {
  repositories: { default_branch_protected: 100, storage_id: 400 },
  package_blobs: { removing_at: 443 },
};

t.test('from every earlier version: rows are kept, and the schema equals that of a fresh database', async (t) => {
  const fresh = path.join(temporaryFolder(t), 'hearth.db');
  await (await createDatabase(databaseOptions(fresh))).close();

  const newest = migrations.map((step) => step.version);
  for (const start of [...newest.slice(0, -1).map(versionsUpTo), ...released]) {
    const file = path.join(temporaryFolder(t), 'hearth.db');
    await makeDatabase(file, start);
    const before = tablesOf(file);
    const db = await createDatabase(databaseOptions(file));
    t.ok(
      (await db.schema()).every((step) => step.state === 'applied'),
      `V${start.join(', V')} goes to the newest`,
    );
    await fill(
      db,
      newest.filter((version) => !start.includes(version)),
    );
    await db.close();

    const after = tablesOf(file);
    for (const [table, rows] of before) {
      if (start.at(-1)! < (madeAnew[table] ?? 0)) continue;
      for (const row of rows) {
        const columns = Object.keys(row).filter((column) => movedColumns[table]?.[column] === undefined);
        const kept = after
          .get(table)
          ?.some((other) => columns.every((column) => Object.is(other[column], row[column])));
        if (kept !== true) t.fail(`from V${start.at(-1)}, ${table} lost ${JSON.stringify(row)}`);
      }
    }
    t.strictSame(schemaOf(file), schemaOf(fresh), `from V${start.at(-1)} the schema is the same`);
    inspect(file, (database) => {
      t.strictSame(database.prepare('PRAGMA foreign_key_check').all(), []);
      t.same(database.prepare('PRAGMA integrity_check').all(), [{ integrity_check: 'ok' }]);
    });
  }
});

t.test('V100 makes a rule of the checkbox that kept the default branch from being rewritten', async (t) => {
  const file = path.join(temporaryFolder(t), 'hearth.db');
  const before = versionsUpTo(99);
  const db = await createDatabase(databaseOptions(file, { migrations: only(before) }));
  await fill(db, before);
  await db.write((tx) =>
    tx.manager.query("UPDATE repositories SET default_branch_protected = CASE WHEN id = 'r1' THEN 0 ELSE 1 END"),
  );
  await db.close();
  await (await createDatabase(databaseOptions(file))).close();
  const tables = tablesOf(file);
  const rules = tables.get('branch_rules')!;
  const ids = tables.get('repositories')!.map(({ id }) => id);
  t.same(rules.map((rule) => rule['repository_id']).toSorted(), ids.filter((id) => id !== 'r1').toSorted());
  for (const rule of rules)
    t.match(rule, {
      target: 'BRANCH',
      pattern: '~DEFAULT_BRANCH',
      push_level: 'write',
      push_tasks: 1,
      force_level: 'nobody',
      force_tasks: 0,
      create_level: 'write',
      delete_level: 'nobody',
      linear: 0,
    });
});

t.test('one step at a time, with a restart after each, gives the schema of a fresh database', async (t) => {
  const fresh = path.join(temporaryFolder(t), 'hearth.db');
  await (await createDatabase(databaseOptions(fresh))).close();
  const file = path.join(temporaryFolder(t), 'hearth.db');
  for (const { version } of migrations)
    await (await createDatabase(databaseOptions(file, { migrations: only(versionsUpTo(version)) }))).close();
  t.strictSame(schemaOf(file), schemaOf(fresh));
  t.strictSame(applied(file), applied(fresh));
});

t.test('security J07, SPEC §2.2 a repository has exactly one owner, by the named constraint', async (t) => {
  const { db } = await openTestDatabase(t);
  await fill(
    db,
    migrations.map((step) => step.version),
  );
  const row = { name: 'n', name_folded: 'n', visibility: 'PUBLIC', created_at: 1, updated_at: 1 };
  const insert = (owners: Row) => db.write((tx) => insertRow(tx, 'repositories', { id: 'new', ...row, ...owners }));
  await t.rejects(insert({}), /CHECK constraint failed: repositories_exactly_one_owner/);
  await t.rejects(insert({ owner_user_id: 'alice-id', owner_org_id: 'o' }), /repositories_exactly_one_owner/);
  const move = (set: string) => db.write((tx) => tx.manager.query(`UPDATE repositories SET ${set} WHERE id = 'r1'`));
  await t.rejects(move('owner_user_id = NULL'), /repositories_exactly_one_owner/);
  await t.rejects(move("owner_org_id = 'o'"), /repositories_exactly_one_owner/);
  await t.resolves(
    move("owner_org_id = 'o', owner_user_id = NULL, name_folded = 'tool-2'"),
    'a transfer in one statement',
  );
  await t.rejects(move("visibility = 'public'"), /repositories_visibility/);
});

t.test(
  'SPEC §2.2 a name is unique per owner, ignoring case, and free again once its repository is in the trash',
  async (t) => {
    const { db } = await openTestDatabase(t);
    await fill(
      db,
      migrations.map((step) => step.version),
    );
    const row = { name: 'TOOL', name_folded: 'tool', visibility: 'PUBLIC', created_at: 1, updated_at: 1 };
    const insert = (id: string, more: Row) => db.write((tx) => insertRow(tx, 'repositories', { ...row, id, ...more }));
    await t.rejects(
      insert('a', { owner_user_id: 'alice-id' }),
      /repositories\.owner_user_id, repositories\.name_folded/,
    );
    await t.rejects(insert('b', { owner_org_id: 'o' }), /repositories\.owner_org_id, repositories\.name_folded/);
    await t.resolves(insert('c', { owner_user_id: 'bob-id' }));
    await db.write((tx) => tx.manager.query("UPDATE repositories SET deleted_at = 9 WHERE id IN ('r1', 'r4')"));
    await t.resolves(insert('d', { owner_user_id: 'alice-id' }));
    await t.resolves(insert('e', { owner_org_id: 'o' }));
  },
);

t.test('security J07, SPEC §2.3 owners of repositories stay; memberships go with either side', async (t) => {
  const { db } = await openTestDatabase(t);
  await fill(
    db,
    migrations.map((step) => step.version),
  );
  const remove = (table: string, id: string) =>
    db.write((tx) => tx.manager.query(`DELETE FROM ${table} WHERE id = ?`, [id]));
  for (const [table, id] of [
    ['users', 'alice-id'],
    ['organisations', 'o'],
  ] as const) {
    t.ok(
      isForeignKeyViolation(
        await remove(table, id).then(
          () => null,
          (error) => error,
        ),
      ),
      `${table} with repositories`,
    );
  }
  const members = async () => ((await db.read.query('SELECT * FROM organisation_members')) as Row[]).length;
  await db.write((tx) => insertRow(tx, 'users', { id: 'carol-id', created_at: 1 }));
  await db.write((tx) =>
    insertRow(tx, 'organisation_members', { organisation_id: 'o', user_id: 'carol-id', role: 'GUEST', created_at: 1 }),
  );
  t.equal(await members(), 2);
  await remove('users', 'carol-id');
  t.equal(await members(), 1);
  await remove('repositories', 'r4');
  await remove('organisations', 'o');
  t.equal(await members(), 0);
});

t.test('foreign keys to repositories refer to the table that V14 rebuilt', async (t) => {
  const { db } = await openTestDatabase(t);
  await fill(
    db,
    migrations.map((step) => step.version),
  );
  const children = ['collaborators', 'access_token_repositories', 'pushes', 'push_updates', 'push_announcements'];
  await db.write((tx) => tx.manager.query("DELETE FROM repositories WHERE id = 'r1'"));
  for (const table of children) t.strictSame(await db.read.query(`SELECT * FROM ${table}`), [], table);
});

t.test('SPEC §4.4 one current handle per owner, and one owner per folded handle', async (t) => {
  const { db } = await openTestDatabase(t);
  const claim = (folded: string, owner_id: string, released_at: number | null = null) =>
    db.write((tx) => insertRow(tx, 'handles', { folded, display: folded, kind: 'user', owner_id, released_at }));
  await claim('alice', 'a');
  await t.rejects(claim('alice', 'b'), /handles\.folded/);
  await t.rejects(claim('alison', 'a'), /handles\.owner_id/);
  await t.resolves(claim('formerly-alice', 'a', 5));
});

t.test('a copy is made before a migration of an existing schema, and none otherwise', async (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'hearth.db');
  const events: string[] = [];
  const logger: Logger = { ...silentLogger, info: (event) => void events.push(event) };
  await makeDatabase(file, versionsUpTo(13), logger);
  t.notOk(existsSync(path.join(folder, 'backups')), 'a new database has nothing to copy');
  t.same(events.splice(0), ['db.created'], 'nor steps that anyone wants to read');
  const before = tablesOf(file);

  await (await createDatabase(databaseOptions(file, { logger }))).close();
  t.same([...new Set(events)], ['db.snapshot', 'db.migrated']);
  const newest = migrations.at(-1)!.version;
  t.strictSame(readdirSync(path.join(folder, 'backups')), [`V13-before-V${newest}.db`]);
  const copy = path.join(folder, 'backups', `V13-before-V${newest}.db`);
  t.strictSame(tablesOf(copy), before, 'the copy is the database as it was');

  await (await createDatabase(databaseOptions(file, { clock: fixedClock(5) }))).close();
  t.equal(readdirSync(path.join(folder, 'backups')).length, 1, 'nothing pending, nothing copied');
});

t.test('a newer schema is refused and not one byte of the file changes', async (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'hearth.db');
  await (await createDatabase(databaseOptions(file))).close();
  const newer = [...migrations, { version: 999, name: 'Tomorrow', statements: ['CREATE TABLE tomorrow (id TEXT)'] }];
  await (await createDatabase(databaseOptions(file, { migrations: newer }))).close();
  const bytes = readFileSync(file);
  const files = readdirSync(folder).sort();

  const refusal = { code: 'unavailable', reason: 'schema_newer', message: /V999Tomorrow/ };
  for (const migrate of ['always', 'when-new'] as const) {
    await t.rejects(createDatabase(databaseOptions(file, { migrate })), refusal, migrate);
  }
  const db = await createDatabase(databaseOptions(file, { migrate: 'never' }));
  await t.rejects(db.schema(), refusal);
  await t.rejects(db.migrate(), refusal);
  await db.close();
  t.ok(readFileSync(file).equals(bytes));
  t.strictSame(readdirSync(folder).sort(), files, 'and nothing lies beside it');
});

t.test('a failing migration is rolled back as a whole, named, and can be tried again', async (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'hearth.db');
  await makeDatabase(file, versionsUpTo(Infinity));
  const [schema, rows, steps] = [schemaOf(file), tablesOf(file), applied(file)];
  const broken = (statements: string[]) => [...migrations, { version: 999, name: 'Broken', statements }];
  const attempts: [string, string[]][] = [
    [
      'a statement that fails',
      ['CREATE TABLE half (id TEXT)', "UPDATE users SET bio = 'changed'", 'INSERT INTO nowhere VALUES (1)'],
    ],
    ['a rebuild that loses parents', ["DELETE FROM users WHERE id = 'bob-id'"]],
  ];
  for (const [what, statements] of attempts) {
    for (let restart = 0; restart < 3; restart++) {
      await t.rejects(
        createDatabase(databaseOptions(file, { migrations: broken(statements), clock: fixedClock(restart) })),
        {
          code: 'unavailable',
          reason: 'migration_failed',
          message: /V999 Broken/,
        },
      );
    }
    t.strictSame([schemaOf(file), tablesOf(file), applied(file)], [schema, rows, steps], what);
  }
  const copies = readdirSync(path.join(folder, 'backups')).filter((name) => name.endsWith('.db'));
  t.equal(copies.length, 1, 'a restart loop keeps one copy, not one per restart');

  const db = await createDatabase(databaseOptions(file, { migrations: broken(attempts[0]![1]), migrate: 'never' }));
  await t.rejects(db.migrate());
  await db.write(async ({ manager }) => t.same(await manager.query('PRAGMA foreign_keys'), [{ foreign_keys: 1 }]));
  await t.rejects(
    db.write((tx) => tx.manager.query("DELETE FROM users WHERE id = 'alice-id'")),
    /FOREIGN KEY/,
  );
  await db.close();

  await (await createDatabase(databaseOptions(file, { migrations: broken(['CREATE TABLE whole (id TEXT)']) }))).close();
  t.equal(applied(file).length, steps.length + 1);
});

t.test('a migration while another program holds the lock is refused, not left halfway', async (t) => {
  const file = path.join(temporaryFolder(t), 'hearth.db');
  await makeDatabase(file, versionsUpTo(13));
  const steps = applied(file);
  const db = await createDatabase(databaseOptions(file, { migrate: 'never', busyTimeoutMs: 50 }));
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  await t.rejects(db.migrate(), { code: 'unavailable', reason: 'database_locked' });
  other.exec('ROLLBACK');
  other.close();
  t.strictSame(applied(file), steps);
  await db.migrate();
  t.ok((await db.schema()).every((step) => step.state === 'applied'));
  await db.close();
});

t.test('killed in the middle of a migration, the next start finishes it', async (t) => {
  const fresh = path.join(temporaryFolder(t), 'hearth.db');
  await (await createDatabase(databaseOptions(fresh))).close();
  const old = path.join(temporaryFolder(t), 'hearth.db');
  await makeDatabase(old, versionsUpTo(13));
  const rows = tablesOf(old);
  const rebuild = migrations.find((step) => step.version === 14)!.statements;
  const afterDrop = rebuild.findIndex((statement) => statement.startsWith('DROP TABLE repositories')) + 1;

  for (const at of [1, afterDrop, rebuild.length]) {
    const file = path.join(temporaryFolder(t), 'hearth.db');
    copyFileSync(old, file);
    const program = fileURLToPath(new URL('killed-migration.ts', import.meta.url));
    const run = spawnSync(process.execPath, [program, file, '14', String(at)]);
    t.equal(run.signal, 'SIGKILL', `killed before statement ${at} of V14`);
    t.ok(statSync(file).size > 0);
    const db = await createDatabase(databaseOptions(file));
    const kept = (await db.read.query('SELECT id FROM repositories ORDER BY id')) as Row[];
    await db.close();
    t.strictSame(schemaOf(file), schemaOf(fresh));
    t.same(
      kept,
      rows.get('repositories')!.map(({ id }) => ({ id })),
    );
    t.same(tablesOf(file).get('collaborators'), rows.get('collaborators'));
  }
});

t.test('a command beside the server migrates only a database without a schema', async (t) => {
  const folder = temporaryFolder(t);
  const options = (name: string) => databaseOptions(path.join(folder, name), { migrate: 'when-new' });
  for (const name of ['missing.db', 'empty.db']) {
    // An empty file is left by a first start that was killed at once.
    if (name === 'empty.db') writeFileSync(path.join(folder, name), '');
    const db = await createDatabase(options(name));
    t.ok(
      (await db.schema()).every((step) => step.state === 'applied'),
      name,
    );
    await db.close();
    await (await createDatabase(options(name))).close();
  }
  await makeDatabase(path.join(folder, 'old.db'), versionsUpTo(3));
  await t.rejects(createDatabase(options('old.db')), {
    code: 'unavailable',
    reason: 'schema_behind',
    message: new RegExp(`needs V${migrations.at(-1)!.version}\\.`),
  });
});

t.test('processes that meet at a fresh data folder, or at an old one, apply each step once', async (t) => {
  const open = (file: string, migrate: 'always' | 'when-new', steps = migrations) =>
    createDatabase(databaseOptions(file, { migrate, migrations: steps }));
  for (const [title, versions, second] of [
    ['fresh', [], 'when-new'],
    ['old', versionsUpTo(200), 'always'],
  ] as const) {
    const file = path.join(temporaryFolder(t), title, 'hearth.db');
    if (versions.length > 0) await (await open(file, 'always', only(versions))).close();
    const opened = await Promise.all([open(file, 'always'), open(file, second), open(file, second)]);
    for (const db of opened) {
      t.equal((await db.schema()).filter(({ state }) => state === 'pending').length, 0, title);
      await db.close();
    }
    t.equal(applied(file).length, migrations.length, title);
  }
});
