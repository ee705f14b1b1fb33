import t from 'tap';
import { compareCounts, isForeignKeyViolation, readCounts, recount } from '../../src/db/index.ts';
import type { Database, Tx } from '../../src/db/index.ts';
import { compareUsage, createStorageUsage, recountUsage } from '../../src/doctor/storage-usage.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { insertRow, openTestDatabase } from '../fixtures/test-database.ts';

interface Compared {
  name: string;
  stored: number | null;
  actual: number;
}

/** In a worker thread, as the doctor does. */
async function wrongCounts(db: Database): Promise<Compared[]> {
  const thread = db.openThread({ requestMs: 10_000, queue: 4 });
  const [rows = []] = await thread.run([{ sql: compareCounts, parameters: [] }]);
  await thread.close();
  return (rows as unknown as Compared[]).filter(({ stored, actual }) => stored !== actual);
}

async function wrongUsage(db: Database): Promise<unknown[]> {
  const thread = db.openThread({ requestMs: 10_000, queue: 4 });
  const [rows = []] = await thread.run([{ sql: compareUsage, parameters: [] }]);
  await thread.close();
  return rows.map((row) => row['owner_id']);
}

t.test('counts equal the numbers of rows after any change of these', async (t) => {
  const { db } = await openTestDatabase(t);
  const random = seededRandom(4);
  const made: Record<string, (string | number)[]> = {};
  const some = (table: string) => (made[table]?.length ? random.pick(made[table]) : null);
  let last = 0;
  async function add(tx: Tx, table: string, row: Record<string, unknown>) {
    last += 1;
    const id = table === 'federation_delivery' || table === 'ci_runners' ? last : `id-${last}`;
    const key = table === 'mirrors' ? 'repository_id' : 'id';
    await insertRow(tx, table, key in row ? row : { [key]: id, ...row });
    (made[table] ??= []).push((row[key] as string | undefined) ?? id);
  }
  const time = { created_at: 1 };
  const changes: ((tx: Tx) => Promise<unknown>)[] = [
    (tx) =>
      add(tx, 'users', {
        username: random.chance(0.8) ? `p${last}` : null,
        disabled_at: random.chance(0.2) ? 1 : null,
        ...time,
      }),
    (tx) => add(tx, 'organisations', { name: `o${last}`, ...time }),
    async (tx) => {
      const owner = some('users');
      if (owner === null) return;
      const deleted_at = random.chance(0.2) ? 5 : null;
      const name = `r${last}`;
      const facts = { visibility: 'PUBLIC', updated_at: 1, size_bytes: random.below(1_000), deleted_at, ...time };
      await add(tx, 'repositories', { owner_user_id: owner, name, name_folded: name, ...facts });
    },
    async (tx) => {
      await add(tx, 'federation_outbox', { actor_path: '/a', type: 'Push', is_public: 1, activity: '{}', ...time });
      const facts = { target_inbox: 'https://x/inbox', host: 'x', next_attempt_at: 1, ...time };
      const outbox_id = made['federation_outbox']!.at(-1);
      for (const state of ['PENDING', 'DELIVERED', 'FAILED'])
        await add(tx, 'federation_delivery', { outbox_id, state, ...facts });
    },
    async (tx) => {
      const repository_id = some('repositories');
      if (repository_id === null || made['mirrors']?.includes(repository_id)) return;
      const facts = { direction: 'pull', url: 'https://x/y', next_at: 1, updated_at: 1, ...time };
      await add(tx, 'mirrors', { repository_id, failures: random.below(2), ...facts });
    },
    async (tx) => {
      const repository_id = some('repositories');
      if (repository_id === null) return;
      last += 1;
      const facts = { shared: random.below(2), bytes: random.below(1_000), arrived_at: 1, seen_at: 1 };
      await insertRow(tx, 'lfs_objects', { repository_id, oid: `oid-${last}`, ...facts });
    },
    (tx) => add(tx, 'ci_runners', { uuid: `u${last}`, token_salt: '', token_hash: '', name: 'x', ...time }),
    ({ manager }) =>
      manager.query('UPDATE users SET disabled_at = ? WHERE id = ?', [random.pick([null, 7]), some('users')]),
    ({ manager }) => manager.query('UPDATE users SET username = NULL WHERE id = ?', [some('users')]),
    ({ manager }) =>
      manager.query('UPDATE repositories SET size_bytes = size_bytes + ? WHERE id = ?', [
        random.below(50),
        some('repositories'),
      ]),
    ({ manager }) =>
      manager.query('UPDATE repositories SET shared_bytes = ? WHERE id = ?', [random.below(50), some('repositories')]),
    ({ manager }) =>
      manager.query('UPDATE repositories SET owner_user_id = ?, owner_org_id = NULL WHERE id = ?', [
        some('users'),
        some('repositories'),
      ]),
    ({ manager }) =>
      manager.query('UPDATE repositories SET owner_user_id = NULL, owner_org_id = ?, size_bytes = 7 WHERE id = ?', [
        some('organisations'),
        some('repositories'),
      ]),
    async (tx) => {
      const repository_id = some('repositories');
      if (repository_id === null) return;
      last += 1;
      const release = `release-${last}`;
      await insertRow(tx, 'releases', {
        id: release,
        repository_id,
        tag: release,
        target: 'main',
        tag_message: '',
        title: '',
        body: '',
        is_draft: 0,
        is_prerelease: 0,
        revision: 1,
        listed_at: 1,
        updated_at: 1,
        ...time,
      });
      await insertRow(tx, 'release_files', {
        id: `file-${release}`,
        release_id: release,
        repository_id,
        name: 'x',
        bytes: random.below(1_000),
        sha256: 'x',
        downloads: 0,
        ...time,
      });
    },
    ({ manager }) => manager.query('DELETE FROM release_files WHERE repository_id = ?', [some('repositories')]),
    ({ manager }) =>
      manager.query('UPDATE repositories SET deleted_at = ? WHERE id = ?', [
        random.pick([null, 9]),
        some('repositories'),
      ]),
    ({ manager }) =>
      manager.query('UPDATE federation_delivery SET state = ? WHERE id = ?', [
        random.pick(['PENDING', 'DELIVERED', 'FAILED']),
        some('federation_delivery'),
      ]),
    ({ manager }) =>
      manager.query('UPDATE mirrors SET failures = ? WHERE repository_id = ?', [random.below(3), some('mirrors')]),
    // Mirrors are deleted with their repositories, deliveries with their activities.
    ({ manager }) => manager.query('DELETE FROM repositories WHERE id = ?', [some('repositories')]),
    ({ manager }) => manager.query('DELETE FROM federation_outbox WHERE id = ?', [some('federation_outbox')]),
    ({ manager }) => manager.query('DELETE FROM organisations WHERE id = ?', [some('organisations')]),
    ({ manager }) => manager.query('DELETE FROM lfs_objects WHERE repository_id = ?', [some('repositories')]),
    ({ manager }) => manager.query('DELETE FROM ci_runners WHERE id = ?', [some('ci_runners')]),
    ({ manager }) =>
      manager.query('DELETE FROM users WHERE id = ? AND id NOT IN (SELECT owner_user_id FROM repositories)', [
        some('users'),
      ]),
  ];
  for (let turn = 0; turn < 400; turn += 1) {
    const change = random.pick(random.chance(0.5) ? changes.slice(0, 7) : changes);
    const isUndone = random.chance(0.1);
    await db
      .write(async (tx) => {
        await change(tx);
        if (isUndone) throw new Error('undone');
      })
      .catch((error: Error) => {
        // Its parent was rolled back or deleted: then all of this write is rolled back.
        if (error.message !== 'undone' && !isForeignKeyViolation(error)) throw error;
      });
  }
  t.strictSame(await wrongCounts(db), []);
  t.strictSame(await wrongUsage(db), []);
  const usage = await createStorageUsage(db).byOwner();
  const sizes = usage.map(({ gitBytes, lfsBytes, releaseBytes }) => gitBytes + lfsBytes + releaseBytes);
  t.strictSame(
    sizes,
    sizes.toSorted((one, other) => other - one),
  );
  for (const part of ['repositories', 'gitBytes', 'lfsBytes', 'releaseBytes'] as const)
    t.ok(
      usage.some((owner) => owner[part] > 0),
      `some have ${part}`,
    );
  const counts = await readCounts(db.read);
  t.ok(
    Object.values(counts).every((count) => count > 0),
    JSON.stringify(counts),
  );
});

t.test('wrong counts are recomputed', async (t) => {
  const { db } = await openTestDatabase(t);
  await db.write(async (tx) => {
    await insertRow(tx, 'organisations', { id: 'o', name: 'acme', created_at: 1 });
    await tx.manager.query("UPDATE counts SET value = 5 WHERE name = 'organisations'");
    await tx.manager.query("DELETE FROM counts WHERE name = 'accounts'");
  });
  t.strictSame(
    (await wrongCounts(db)).map(({ name, stored, actual }) => [name, stored, actual]),
    [
      ['accounts', null, 0],
      ['organisations', 5, 1],
    ],
  );
  t.equal((await readCounts(db.read)).accounts, 0, 'what is missing counts as none');
  await db.write(({ manager }) => recount(manager));
  t.strictSame(await wrongCounts(db), []);
});

t.test('wrong bytes of owners are found and added up anew', async (t) => {
  const { db } = await openTestDatabase(t);
  await db.write(async (tx) => {
    for (const id of ['a', 'b', 'c']) await insertRow(tx, 'users', { id, username: id, created_at: 1 });
    for (const id of ['a', 'b'])
      await insertRow(tx, 'repositories', {
        id,
        owner_user_id: id,
        name: id,
        name_folded: id,
        visibility: 'PUBLIC',
        created_at: 1,
        updated_at: 1,
        size_bytes: 5,
      });
    await tx.manager.query("UPDATE owner_usage SET bytes = 9 WHERE owner_id = 'a'");
    await tx.manager.query("UPDATE owner_usage SET owner_id = 'c' WHERE owner_id = 'b'");
  });
  t.strictSame((await wrongUsage(db)).sort(), ['a', 'b', 'c']);
  await db.write(({ manager }) => recountUsage(manager));
  t.strictSame(await wrongUsage(db), []);
});
