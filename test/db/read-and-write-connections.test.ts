import t from 'tap';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as tick } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { EntitySchema, QueryFailedError } from 'typeorm';
import { createDatabase, isForeignKeyViolation, isUniqueViolation } from '../../src/db/index.ts';
import type { Tx } from '../../src/db/index.ts';
import { embedded } from '../../src/embedded/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { databaseOptions, insertRow, openTestDatabase } from '../fixtures/test-database.ts';

interface Note {
  hash: string;
  madeAt: number;
}

/** A small table of every schema version, as an example. */
const noteSchema = new EntitySchema<Note>({
  name: 'note',
  tableName: 'setup_tokens',
  columns: {
    hash: { type: 'text', name: 'token_hash', primary: true },
    madeAt: { type: 'integer', name: 'created_at' },
  },
});

const note = (tx: Tx, hash: string) =>
  insertRow(tx, 'setup_tokens', { token_hash: hash, created_at: tx.now, expires_at: 0 });

async function notes(connection: { query(sql: string): Promise<{ token_hash: string }[]> }): Promise<string[]> {
  return (await connection.query('SELECT token_hash FROM setup_tokens ORDER BY 1')).map((row) => row.token_hash);
}

t.test('both connections read back the settings that durability depends on', async (t) => {
  const { db } = await openTestDatabase(t);
  const setting = async (connection: Tx['manager'], name: string) =>
    Object.values((await connection.query<Record<string, unknown>[]>(`PRAGMA ${name}`))[0]!)[0];

  const both = { foreign_keys: 1, trusted_schema: 0, cell_size_check: 1, temp_store: 2, journal_mode: 'wal' };
  const writing = { ...both, synchronous: 2, journal_size_limit: 67108864, wal_autocheckpoint: 1000 };
  for (const [name, value] of Object.entries(both)) t.equal(await setting(db.read, name), value, `read: ${name}`);
  await db.write(async ({ manager }) => {
    for (const [name, value] of Object.entries(writing)) t.equal(await setting(manager, name), value, `write: ${name}`);
  });
});

t.test('a file that cannot take a setting is refused, and so is one that is no database', async (t) => {
  await t.rejects(createDatabase(databaseOptions(':memory:')), {
    reason: 'database_unavailable',
    message: /journal_mode at memory instead of WAL/,
  });
  await t.rejects(createDatabase(databaseOptions(temporaryFolder(t))), {
    code: 'unavailable',
    reason: 'database_unavailable',
  });
});

t.test('writes run one at a time, in the order of the calls, each with one timestamp', async (t) => {
  const clock = fixedClock();
  const { db } = await openTestDatabase(t, { clock });
  const order: string[] = [];
  await Promise.all(
    ['one', 'two', 'three'].map((name) =>
      db.write(async (tx) => {
        order.push(`${name} begins`);
        const now = tx.now;
        clock.advance(1000);
        await note(tx, name);
        await tick();
        t.equal(tx.now, now);
        order.push(`${name} ends`);
      }),
    ),
  );
  t.strictSame(order, ['one begins', 'one ends', 'two begins', 'two ends', 'three begins', 'three ends']);
});

t.test('the read connection sees no uncommitted row, never waits and refuses to write', async (t) => {
  const { db } = await openTestDatabase(t, { entities: [noteSchema] });
  let insert = () => {};
  let finish = () => {};
  const inserted = new Promise<void>((resolve) => (insert = resolve));
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const write = db.write(async (tx) => {
    await note(tx, 'open');
    insert();
    await finished;
    return tx.manager.countBy(noteSchema, {});
  });
  await inserted;
  t.strictSame(await notes(db.read), [], 'while the write is open');
  finish();
  t.equal(await write, 1, 'a write reads what it wrote, and its result comes back');
  t.strictSame(await notes(db.read), ['open']);

  await t.rejects(db.read.query("INSERT INTO setup_tokens VALUES ('x', 1, 2, NULL)"), /readonly/);
  await t.rejects(db.read.insert(noteSchema, { hash: 'x', madeAt: 1 }), /readonly/);
  await t.rejects(db.read.query('CREATE TABLE more (id)'), /readonly/);
  t.strictSame(await notes(db.read), ['open']);
});

t.test('a write inside a write, and a read past it, throw at once', async (t) => {
  const { db } = await openTestDatabase(t);
  const outer = db.write(async (tx) => {
    await note(tx, 'outer');
    await t.rejects(
      db.write((inner) => note(inner, 'inner')),
      { code: 'internal', message: /inside a write/ },
    );
    t.throws(() => db.read, { code: 'internal', message: /tx\.manager/ });
    await tick();
    t.throws(() => db.read, { code: 'internal' }, 'also after a pause');
  });
  await outer;
  t.strictSame(await notes(db.read), ['outer']);
});

t.test(
  'the committed state at the start of a write can be read without its thread, until the write changes something',
  async (t) => {
    const { db } = await openTestDatabase(t);
    await Promise.all([
      db.write((tx) => note(tx, 'before')),
      db.write(async (tx) => {
        const { before } = tx;
        t.strictSame(await notes(tx.before), ['before'], 'with what the write just before it has left');
        t.strictSame(await notes(tx.manager), ['before']);
        t.strictSame(await notes(tx.before), ['before'], 'reading changes nothing');
        await note(tx, 'mine');
        t.throws(() => tx.before, { code: 'internal', message: /tx\.manager/ });
        t.strictSame(await notes(before), ['before']);
      }),
    ]);
    let kept: Tx;
    await db.write(async (tx) => void (kept = tx));
    t.throws(() => kept.before, { code: 'internal' }, 'nor once it is over');
  },
);

t.test('work that a write did not await is refused instead of joining the next write', async (t) => {
  const { db } = await openTestDatabase(t);
  let start = () => {};
  const started = new Promise<void>((resolve) => (start = resolve));
  let late: Promise<void>;
  await db.write(async (tx) => {
    late = started.then(() => note(tx, 'late'));
    await note(tx, 'in time');
  });
  const next = db.write(async (tx) => {
    start();
    await t.rejects(late, { code: 'internal', message: /after its write ended/ });
    await note(tx, 'next');
  });
  await next;

  // Work that was started inside, but is independent of the write, may read and write.
  let follow: Promise<string[]>;
  await db.write(async () => {
    follow = tick().then(async () => {
      await tick();
      await db.write((tx) => note(tx, 'on its own'));
      return notes(db.read);
    });
  });
  t.strictSame(await follow!, ['in time', 'next', 'on its own']);
});

t.test('a full disk is reported, and later writes succeed', async (t) => {
  const { db } = await openTestDatabase(t);
  await db.write((tx) => tx.manager.query('PRAGMA max_page_count = 100'));
  for (const attempt of [1, 2]) {
    const tooMuch = db.write(async (tx) => {
      for (let row = 0; row < 30; row++) await note(tx, `${attempt}-${row}-${'x'.repeat(20_000)}`);
    });
    await t.rejects(tooMuch, { code: 'unavailable', reason: 'disk_full' });
  }
  await t.rejects(
    db.write(async (tx) => (await note(tx, 'undone'), Promise.reject(new Error('no')))),
    /^no$/,
  );
  await db.write((tx) => note(tx, 'kept'));
  t.strictSame(await notes(db.read), ['kept'], 'acknowledged, so every other connection sees it');
});

t.test('a value that cannot be stored fails its write alone', async (t) => {
  const { db } = await openTestDatabase(t);
  for (const value of [() => {}, Symbol('x'), { an: 'object' }, new Date()]) {
    const write = db.write((tx) => tx.manager.query('INSERT INTO setup_tokens VALUES (?, 1, 2, NULL)', [value]));
    await t.rejects(write, QueryFailedError);
  }
  await db.write((tx) => note(tx, 'kept'));
  t.strictSame(await notes(db.read), ['kept']);
});

t.test('security J09 unusual text is returned as it was stored; NUL too', async (t) => {
  const { db } = await openTestDatabase(t);
  const texts = [
    '',
    ' ',
    'Ünïcode',
    '日本語',
    '👩‍👩‍👧‍👦',
    '\u202egnp.exe',
    "'; DROP TABLE users; --",
    '%_\\',
    'a\0b',
    '\r\n\t',
    'ς',
  ];
  for (const text of texts) await db.write((tx) => note(tx, text));
  t.strictSame(new Set(await notes(db.read)), new Set(texts));
});

t.test('security J03 empty criteria are refused', async (t) => {
  const { db } = await openTestDatabase(t, { entities: [noteSchema] });
  await db.write((tx) => note(tx, 'somebody'));
  for (const hash of [undefined, null] as unknown as string[]) {
    await t.rejects(db.read.findOneBy(noteSchema, { hash }));
    await t.rejects(db.write((tx) => tx.manager.delete(noteSchema, { hash })));
    await t.rejects(db.write((tx) => tx.manager.update(noteSchema, { hash }, { madeAt: 0 })));
  }
  await t.rejects(db.write((tx) => tx.manager.delete(noteSchema, {})));
  t.strictSame(await notes(db.read), ['somebody']);
});

t.test('a broken unique rule is recognised by its name, and no other one', async (t) => {
  const { db } = await openTestDatabase(t);
  const person = { username: 'alice', created_at: 1 };
  const repository = { owner_user_id: 'a', visibility: 'PUBLIC', created_at: 1, updated_at: 1 };
  await db.write(async (tx) => {
    await insertRow(tx, 'users', { ...person, id: 'a' });
    await insertRow(tx, 'repositories', { ...repository, id: 'r', name: 'Tool', name_folded: 'tool' });
  });
  const failure = async (work: (tx: Tx) => Promise<void>): Promise<unknown> =>
    db.write(work).then(
      () => null,
      (error) => error,
    );

  const twice = await failure((tx) => insertRow(tx, 'users', { ...person, id: 'b' }));
  t.ok(isUniqueViolation(twice, 'users_username'));
  t.notOk(isUniqueViolation(twice, 'handles_pkey'));
  t.notOk(isUniqueViolation(twice, 'repositories_user_name'));
  t.notOk(isForeignKeyViolation(twice));

  const sameName = await failure((tx) =>
    insertRow(tx, 'repositories', { ...repository, id: 's', name: 'tool', name_folded: 'tool' }),
  );
  t.ok(isUniqueViolation(sameName, 'repositories_user_name'));
  t.notOk(isUniqueViolation(sameName, 'repositories_org_name'), 'one column of two is not enough');
  t.notOk(isUniqueViolation(sameName, 'users_username'));

  const noOwner = await failure((tx) =>
    insertRow(tx, 'repositories', { ...repository, id: 's', name: 'x', name_folded: 'x', owner_user_id: 'nobody' }),
  );
  t.ok(isForeignKeyViolation(noOwner));
  t.notOk(isUniqueViolation(noOwner, 'repositories_user_name'));
  t.ok(isForeignKeyViolation(await failure((tx) => tx.manager.query("DELETE FROM users WHERE id = 'a'"))));

  for (const other of [new Error('UNIQUE constraint failed: users.username'), null, undefined, 'UNIQUE']) {
    t.notOk(isUniqueViolation(other, 'users_username'), 'only what the database said counts');
    t.notOk(isForeignKeyViolation(other));
  }
});

t.test('closing waits for the writes already requested; afterwards connections are closed', async (t) => {
  const { db, file } = await openTestDatabase(t);
  const writes = ['a', 'b', 'c'].map((hash) => db.write((tx) => note(tx, hash)));
  await db.close();
  t.strictSame(
    (await Promise.allSettled(writes)).map((result) => result.status),
    ['fulfilled', 'fulfilled', 'fulfilled'],
  );
  await t.rejects(db.write((tx) => note(tx, 'd')));
  await t.resolves(db.close(), 'twice is once');
  const again = await createDatabase(databaseOptions(file));
  t.strictSame(await notes(again.read), ['a', 'b', 'c']);
  await again.close();
});

t.test('when the writing thread dies, writes fail and the program is notified', async (t) => {
  const start = embedded.startWorker;
  let worker: Worker;
  embedded.startWorker = (...args) => (worker = start(...args));
  t.teardown(() => (embedded.startWorker = start));
  const faults: unknown[] = [];
  const { db } = await openTestDatabase(t, { more: { onStorageFault: (error) => faults.push(error) } });
  await db.write((tx) => note(tx, 'kept'));
  await worker!.terminate();
  await t.rejects(
    db.write((tx) => note(tx, 'lost')),
    /thread has ended/,
  );
  t.equal(faults.length, 1);
  t.strictSame(await notes(db.read), ['kept'], 'reading goes on until the program ends');
});

t.test('a slow write is logged by name', async (t) => {
  const lines: string[] = [];
  const log = (event: string) => void lines.push(event);
  const logger = { debug: log, info: log, warn: log, error: log, child: () => logger };
  const { db } = await openTestDatabase(t, { more: { logger } });
  const real = performance.now.bind(performance);
  t.teardown(() => (performance.now = real));
  await db.write(async (tx) => {
    performance.now = () => real() + 1500;
    await note(tx, 'slow');
  });
  t.strictSame(lines, ['db.slow_write']);
});

t.test('after a write that is synced with the next one, writes are synced again', async (t) => {
  const { db } = await openTestDatabase(t);
  const level = () =>
    db.write(
      async ({ manager }) =>
        Object.values((await manager.query<Record<string, unknown>[]>('PRAGMA synchronous'))[0]!)[0],
    );
  await db.write(
    async (tx) => {
      t.same(await tx.manager.query('PRAGMA synchronous'), [{ synchronous: 1 }]);
      await note(tx, 'soon');
    },
    { durable: 'with-the-next' },
  );
  t.same(await notes(db.read), ['soon'], 'others see it at once');
  t.equal(await level(), 2);
  await t.rejects(db.write(() => Promise.reject(new Error('no')), { durable: 'with-the-next' }));
  t.equal(await level(), 2, 'also when it fails');
});

t.test('a lookup returns what the mapper does', async (t) => {
  const { db } = await openTestDatabase(t, { entities: [noteSchema] });
  await db.write((tx) => note(tx, 'one'));
  t.same(await db.lookup(noteSchema, { hash: 'one' }), await db.read.findBy(noteSchema, { hash: 'one' }));
  t.same(await db.lookup(noteSchema, { hash: 'two' }), []);
  t.same(await db.lookup(noteSchema, { hash: 'one', madeAt: null as never }), [], 'null is a value like others');
  await t.rejects(
    db.write(async () => db.lookup(noteSchema, { hash: 'one' })),
    { code: 'internal' },
    'not inside a write',
  );
});

t.test('a lookup caches nothing over a commit, of any process', async (t) => {
  const { db, file } = await openTestDatabase(t, { entities: [noteSchema] });
  const count = async () => (await db.lookup(noteSchema, { hash: 'one' })).length;
  t.equal(await count(), 0);
  await db.write((tx) => note(tx, 'one'));
  t.equal(await count(), 1, 'the write door');
  const [mine] = await db.lookup(noteSchema, { hash: 'one' });
  mine!.hash = 'changed by who asked';
  t.equal((await db.lookup(noteSchema, { hash: 'one' }))[0]!.hash, 'one', 'everyone has rows of their own');
  const other = new DatabaseSync(file);
  other.exec("DELETE FROM setup_tokens WHERE token_hash = 'one'");
  other.close();
  const deadline = Date.now() + 5_000;
  while ((await count()) > 0 && Date.now() < deadline) await tick();
  t.equal(await count(), 0, 'another program, some milliseconds later');
});
