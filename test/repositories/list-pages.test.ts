// Lists of repositories against what one plain query returns: over generated owners, rights, orders, filters and
// pages.
import t from 'tap';
import { anonymous, localAdministrator, visibleRepositories } from '../../src/access/index.ts';
import type { PersonViewer, Viewer } from '../../src/access/index.ts';
import { readKeysetPage } from '../../src/db/keyset.ts';
import { createOwners, avatarSchema, handleSchema } from '../../src/owners/index.ts';
import { countListed, listRepositories } from '../../src/repositories/list-repositories.ts';
import type { ListOptions } from '../../src/repositories/list-repositories.ts';
import { repositorySchema } from '../../src/repositories/schema/repository-schema.ts';
import type { RepositoryDeps } from '../../src/repositories/deps.ts';
import { insertRow, openTestDatabase } from '../fixtures/test-database.ts';

const { db, random } = await openTestDatabase(t, { entities: [repositorySchema, handleSchema, avatarSchema] as never });
const deps = { db, owners: createOwners({ db }) } as unknown as RepositoryDeps;
const languages = ['C', 'Go', 'TypeScript'];
const people = Array.from({ length: 6 }, () => random.uuid());
const organisations = Array.from({ length: 4 }, () => random.uuid());

await db.write(async (tx) => {
  const time = { created_at: 1 };
  const handle = (kind: string, owner_id: string, at: number) =>
    insertRow(tx, 'handles', { folded: `${kind}${at}`, display: `${kind}${at}`, kind, owner_id });
  for (const [at, id] of people.entries()) {
    await insertRow(tx, 'users', { id, username: `user${at}`, ...time });
    await handle('user', id, at);
  }
  for (const [at, id] of organisations.entries()) {
    await insertRow(tx, 'organisations', { id, name: `organisation${at}`, ...time });
    await handle('organisation', id, at);
    for (const user_id of people)
      if (random.chance(0.4))
        await insertRow(tx, 'organisation_members', { organisation_id: id, user_id, role: 'GUEST', ...time });
  }
  for (let at = 0; at < 150; at += 1) {
    const id = random.uuid();
    const ofPerson = random.chance(0.5);
    const name = `${random.pick(['alpha', 'beta', 'Gamma'])}-${at}`;
    await insertRow(tx, 'repositories', {
      id,
      owner_user_id: ofPerson ? random.pick(people) : null,
      owner_org_id: ofPerson ? null : random.pick(organisations),
      name,
      name_folded: name.toLowerCase(),
      visibility: random.pick(['PUBLIC', 'PRIVATE']),
      deleted_at: random.chance(0.1) ? 1 : null,
      // Few moments and sizes: what is equal must have an order, too.
      created_at: random.below(5),
      updated_at: random.below(5),
      size_bytes: random.below(5),
    });
    await insertRow(tx, 'repository_languages', { repository_id: id, position: 0, language: random.pick(languages) });
    for (const user_id of people)
      if (random.chance(0.1))
        await insertRow(tx, 'collaborators', { repository_id: id, user_id, role: 'read', ...time });
  }
});
const all = (await db.read.query('SELECT id FROM repositories')) as { id: string }[];

const person = (id: string, repositoryIds: string[] | null = null): PersonViewer => ({
  kind: 'person',
  id,
  username: null,
  isAdministrator: false,
  via: 'token',
  scope: 'read',
  repositoryIds,
});
const viewers: Viewer[] = [
  anonymous,
  localAdministrator,
  ...people.map((id) => person(id)),
  person(people[0]!, []),
  person(
    people[1]!,
    all.slice(0, 40).map(({ id }) => id),
  ),
  { kind: 'task', taskId: 1, repositoryId: all[7]!.id, scope: 'read' },
];
const orders = {
  updated: 'updated_at DESC, id DESC',
  created: 'created_at DESC, id DESC',
  size: 'size_bytes DESC, id DESC',
  name: 'name_folded, id',
};

/** As one would ask without thinking of indexes. */
async function plainly(
  viewer: Viewer,
  { owner, filter, prefix, language, sort = 'updated' }: Omit<ListOptions, 'limit'>,
) {
  const { sql, parameters } = visibleRepositories(viewer, 'r');
  const [statement, values] = db.read.connection.driver.escapeQueryWithParameters(
    `SELECT r.id FROM repositories r WHERE (${sql}) AND r.deleted_at IS NULL
     ${owner === undefined ? '' : `AND COALESCE(owner_user_id, owner_org_id) = :ownerId`}
     ${filter === undefined ? '' : 'AND instr(name_folded, :filter) > 0'}
     ${prefix === undefined ? '' : 'AND substr(name_folded, 1, length(:prefix)) = :prefix'}
     ${language === undefined ? '' : 'AND r.id IN (SELECT repository_id FROM repository_languages WHERE language = :language)'}
     ORDER BY ${orders[sort]}`,
    {
      ...parameters,
      ownerId: owner?.id ?? '',
      filter: filter?.toLowerCase() ?? '',
      prefix: prefix?.toLowerCase() ?? '',
      language: language ?? '',
    },
  );
  return ((await db.read.query(statement, values)) as { id: string }[]).map(({ id }) => id);
}

/** Every page forwards, and then every page back to the first. */
async function walk(viewer: Viewer, options: Omit<ListOptions, 'limit'>) {
  const forwards: string[][] = [];
  let page = await listRepositories(deps, viewer, { ...options, limit: 7 });
  t.equal(page.previous, null, 'nothing is before the first page');
  for (;;) {
    forwards.push(page.repositories.map(({ id }) => id));
    if (page.next === null) break;
    page = await listRepositories(deps, viewer, { ...options, limit: 7, after: page.next });
  }
  const backwards: string[][] = [page.repositories.map(({ id }) => id)];
  while (page.previous !== null) {
    page = await listRepositories(deps, viewer, { ...options, limit: 7, before: page.previous });
    backwards.unshift(page.repositories.map(({ id }) => id));
  }
  return { forwards: forwards.flat(), backwards: backwards.flat() };
}

t.test('every list has each visible repository once, in order, forwards and backwards', async (t) => {
  let listed = 0;
  for (const viewer of viewers) {
    for (let turn = 0; turn < 25; turn += 1) {
      const options: Omit<ListOptions, 'limit'> = {
        sort: random.pick(['updated', 'created', 'size', 'name'] as const),
        ...(random.chance(0.5) && {
          owner: random.chance(0.5)
            ? { kind: 'user' as const, id: random.pick(people) }
            : { kind: 'organisation' as const, id: random.pick(organisations) },
        }),
        ...(random.chance(0.3) && { filter: random.pick(['1', 'AMMA', 'nothing']) }),
        ...(random.chance(0.3) && { prefix: random.pick(['a', 'Gamma-1', 'z']) }),
        ...(random.chance(0.3) && { language: random.pick(languages) }),
      };
      const expected = await plainly(viewer, options);
      const { forwards, backwards } = await walk(viewer, options);
      const label = JSON.stringify([viewer, options]);
      if (forwards.join() !== expected.join()) t.strictSame(forwards, expected, label);
      if (backwards.join() !== expected.join()) t.strictSame(backwards, expected, `backwards, ${label}`);
      const counted = await countListed(deps, viewer, options);
      if (counted !== expected.length) t.equal(counted, expected.length, `the number, ${label}`);
      listed += expected.length;
    }
    if (viewer.kind !== 'person') continue;
    for (const option of ['isGranted', 'isWritable']) {
      const { forwards } = await walk(viewer, { [option]: true, sort: 'name' });
      t.equal(new Set(forwards).size, forwards.length, `${option}: each one once`);
      t.equal(await countListed(deps, viewer, { [option]: true, sort: 'name' }), forwards.length, option);
    }
  }
  t.ok(listed > 1_000, `${listed} rows compared`);
});

t.test('a page has at most a hundred rows, and one that ends exactly with the list is the last', async (t) => {
  const all = Array.from({ length: 300 }, (_, at) => String(at + 100));
  const read = (limit: number, count: number) =>
    readKeysetPage(
      { limit },
      (row: string) => row,
      async (range) => all.slice(0, count).slice(0, range.limit),
    );
  t.equal((await read(1_000, 300)).rows.length, 100);
  t.strictSame(await read(1_000, 100), { rows: all.slice(0, 100), next: null, previous: null });
  t.strictSame((await read(0, 300)).rows, all.slice(0, 1));
  t.strictSame(await read(5, 6), { rows: all.slice(0, 5), next: all[4], previous: null });
});

const refused = { reason: 'invalid_page' } as unknown as Error;

t.test('a page key that no page contained is refused', async (t) => {
  for (const key of ['nonsense', '5', 'x.00000000-0000-4000-8000-000000000000'])
    for (const side of ['after', 'before'])
      await t.rejects(listRepositories(deps, anonymous, { limit: 5, [side]: key }), refused);
});

t.test('a language with very many repositories is listed the same', async (t) => {
  await db.write(async ({ manager }) => {
    const many = 'WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2100)';
    await manager.query(
      `${many} INSERT INTO repositories (id, owner_user_id, name, name_folded, visibility, created_at, updated_at)
       SELECT printf('%08x-0000-4000-8000-000000000000', n), ?, 'many-' || n, 'many-' || n, CASE n % 3 WHEN 0 THEN 'PRIVATE' ELSE 'PUBLIC' END, n % 50, n % 70 FROM n`,
      [people[2]],
    );
    await manager.query(
      `${many} INSERT INTO repository_languages (repository_id, position, language)
       SELECT printf('%08x-0000-4000-8000-000000000000', n), 0, 'C' FROM n`,
    );
  });
  for (const viewer of viewers.slice(0, 6)) {
    for (const sort of ['updated', 'created', 'name'] as const) {
      const expected = await plainly(viewer, { language: 'C', sort });
      const first = await listRepositories(deps, viewer, { language: 'C', sort, limit: 60 });
      const second = await listRepositories(deps, viewer, { language: 'C', sort, limit: 60, after: first.next });
      t.strictSame(
        [...first.repositories, ...second.repositories].map(({ id }) => id),
        expected.slice(0, 120),
      );
    }
  }
});
