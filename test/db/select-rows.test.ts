import t from 'tap';
import { EntitySchema } from 'typeorm';
import { inList, selectRaw, selectRows } from '../../src/db/index.ts';
import { repositorySchema } from '../../src/repositories/schema/repository-schema.ts';
import { insertRow, openTestDatabase } from '../fixtures/test-database.ts';

const names = ["it's", '":colon"', 'third'];

t.test('rows of a statement are equal to those that the mapper reads', async (t) => {
  const { db } = await openTestDatabase(t, { entities: [repositorySchema] });
  await db.write(async (tx) => {
    await insertRow(tx, 'users', { id: 'u1', username: 'alice', password_hash: 'x', created_at: 1 });
    for (const [at, name] of names.entries())
      await insertRow(tx, 'repositories', {
        id: `r${at}`,
        owner_user_id: 'u1',
        name,
        name_folded: name,
        description: '',
        visibility: 'PUBLIC',
        default_branch: 'main',
        is_template: at,
        created_at: at,
        updated_at: at,
      });
  });
  const sql = `SELECT r.* FROM repositories r WHERE ${inList('r.name', { parameter: ':names' })}
    AND r.created_at >= :since AND r.visibility = :visibility ORDER BY r.id`;
  const parameters = { names: JSON.stringify(names.slice(0, 2)), since: 0, visibility: 'PUBLIC', unused: 'x' };
  const rows = await selectRows(db.read, repositorySchema, sql, parameters);
  const mapped = await db.read.find(repositorySchema, { order: { id: 'ASC' } });
  t.strictSame(
    rows,
    mapped.slice(0, 2).map((row) => ({ ...row })),
  );
  t.same(
    rows.map(({ isTemplate }) => isTemplate),
    [false, true],
    'truth values, not numbers',
  );
  t.same(await selectRaw(db.read, 'SELECT count(*) AS n FROM repositories'), [{ n: 3 }], 'without parameters');
});

t.test('a truth value that is not known stays null', async (t) => {
  const { db } = await openTestDatabase(t);
  const schema = new EntitySchema<{ id: string; forced: boolean | null }>({
    name: 'update',
    tableName: 'push_updates',
    columns: { id: { type: 'text', primary: true }, forced: { type: 'boolean', nullable: true } },
  });
  const values = "SELECT 'a' AS id, 1 AS forced UNION SELECT 'b', 0 UNION SELECT 'c', NULL ORDER BY id";
  const rows = await selectRows(db.read, schema, values);
  t.same(
    rows.map(({ forced }) => forced),
    [true, false, null],
  );
});

t.test('inside a write the rows of that write are there', async (t) => {
  const { db } = await openTestDatabase(t, { entities: [repositorySchema] });
  await db.write(async (tx) => {
    await insertRow(tx, 'setup_tokens', { token_hash: 'x', created_at: 1, expires_at: 2 });
    t.same(
      await selectRaw(tx.manager, 'SELECT created_at AS at FROM setup_tokens WHERE token_hash = :hash', { hash: 'x' }),
      [{ at: 1 }],
    );
  });
});

t.test('a schema whose values need the mapper is refused', async (t) => {
  const { db } = await openTestDatabase(t);
  const schema = new EntitySchema<{ id: string; labels: string[] }>({
    name: 'runner',
    tableName: 'ci_runners',
    columns: { id: { type: 'text', primary: true }, labels: { type: 'simple-json' } },
  });
  await t.rejects(selectRows(db.read, schema, 'SELECT r.* FROM ci_runners r'), { message: /plain columns only/ });
});
