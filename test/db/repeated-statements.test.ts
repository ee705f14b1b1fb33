// Rows that differ in their numbers alone are written by one statement, and their numbers are integers.
import { subscribe } from 'node:diagnostics_channel';
import t from 'tap';
import { rows } from '../../src/db/index.ts';
import { importHostSchema } from '../../src/imports/schema/import-schema.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { testPostgresUrl } from '../fixtures/test-postgres.ts';

t.test('one statement writes rows of any time', { skip: testPostgresUrl !== undefined && 'of SQLite' }, async (t) => {
  const { db } = (await startHearth(t)).modules;
  const texts: string[] = [];
  subscribe('hearth:db:statement', (message) => {
    const { sql } = message as { sql: string };
    if (/^(?:INSERT INTO|UPDATE) "import_hosts"/.test(sql)) texts.push(sql);
  });
  const times = [5, Number.MAX_SAFE_INTEGER, -3, 0];
  for (const [at, blockedUntil] of times.entries())
    await db.write(({ manager }) => manager.insert(importHostSchema, { host: `${at}.example.org`, blockedUntil }));
  const host = '0.example.org';
  await db.write(({ manager }) => manager.update(importHostSchema, { host, blockedUntil: 5 }, { blockedUntil: 6 }));
  const inserted = texts.filter((sql) => sql.startsWith('INSERT'));
  t.equal(inserted.length, times.length);
  t.equal(new Set(inserted).size, 1);
  const updated = texts.filter((sql) => sql.startsWith('UPDATE'));
  t.match(updated, [/SET "blocked_until" = \? WHERE .*= 5/], 'a condition keeps its numbers');
  const found = await rows(
    db.read,
    'SELECT blocked_until AS at, typeof(blocked_until) AS kind FROM import_hosts ORDER BY host',
    [],
  );
  t.strictSame(
    found.map((row) => ({ ...row })),
    [6, Number.MAX_SAFE_INTEGER, -3, 0].map((at) => ({ at, kind: 'integer' })),
  );
});
