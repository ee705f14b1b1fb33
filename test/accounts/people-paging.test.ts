import t from 'tap';
import { listReferencedPeople } from '../../src/accounts/people/list-members-paged.ts';
import { listAccounts, listProfiles } from '../../src/accounts/people/list-profiles.ts';
import type { PeopleOptions, PeoplePage } from '../../src/accounts/people/list-profiles.ts';
import type { AccountsDeps } from '../../src/accounts/deps.ts';
import { userSchema } from '../../src/accounts/schema/user-schema.ts';
import { insertRow, openTestDatabase } from '../fixtures/test-database.ts';

const { db, random } = await openTestDatabase(t, { entities: [userSchema] as never });
const deps = { db } as unknown as AccountsDeps;

interface Account {
  id: string;
  username: string | null;
  disabled: boolean;
  createdAt: number;
}

const accounts: Account[] = Array.from({ length: 60 }, (_, at) => ({
  id: random.uuid(),
  username: random.chance(0.8) ? `${random.pick(['al', 'Bo', 'bo-', 'z.'])}${at}` : null,
  disabled: random.chance(0.2),
  createdAt: random.below(10),
}));
await db.write(async (tx) => {
  for (const { id, username, disabled, createdAt } of accounts)
    await insertRow(tx, 'users', { id, username, disabled_at: disabled ? 1 : null, created_at: createdAt });
});

const keyOf = ({ username, id }: Account): string => username?.toLowerCase() ?? `~${id}`;
const byHandle = (a: Account, b: Account): number => (keyOf(a) < keyOf(b) ? -1 : 1);
const byAge = (a: Account, b: Account): number => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
const ids = (some: readonly { id: string }[]): string[] => some.map(({ id }) => id);

async function walk(list: (paging: PeopleOptions) => Promise<PeoplePage>): Promise<[string[], string[]]> {
  const forwards: string[] = [];
  let page = await list({ limit: 7 });
  for (;;) {
    forwards.push(...ids(page.people));
    if (page.next === null) break;
    page = await list({ limit: 7, after: page.next });
  }
  const backwards = ids(page.people);
  while (page.previous !== null) {
    page = await list({ limit: 7, before: page.previous });
    backwards.unshift(...ids(page.people));
  }
  return [forwards, backwards];
}

const profiles = accounts.filter(({ username, disabled }) => username !== null && !disabled);

t.test('the public list has people with a handle who are not disabled, by handle or the latest first', async (t) => {
  const named = ids(profiles.toSorted(byHandle));
  t.strictSame(await walk((paging) => listProfiles(deps, paging)), [named, named]);
  const latest = ids(profiles.toSorted(byAge));
  t.strictSame(await walk((paging) => listProfiles(deps, { ...paging, sort: 'created' })), [latest, latest]);
});

t.test('a prefix finds handles that begin with it, ignoring case, sorted by handle', async (t) => {
  for (const prefix of ['bo', 'BO-', 'z.', 'nobody', '%', '~']) {
    const expected = ids(
      profiles.filter(({ username }) => username!.toLowerCase().startsWith(prefix.toLowerCase())).toSorted(byHandle),
    );
    const found = await walk((paging) => listProfiles(deps, { ...paging, prefix, sort: 'created' }));
    t.strictSame(found, [expected, expected], prefix);
  }
});

t.test('administrators see all accounts, those without a handle last', async (t) => {
  const expected = ids(accounts.toSorted(byHandle));
  t.strictSame(await walk((paging) => listAccounts(deps, paging)), [expected, expected]);
  const bo = ids(accounts.filter(({ username }) => username?.toLowerCase().startsWith('bo')).toSorted(byHandle));
  t.strictSame(await walk((paging) => listAccounts(deps, { ...paging, prefix: 'Bo' })), [bo, bo]);
});

const refused = { reason: 'invalid_page' } as unknown as Error;

t.test('a page key that was not issued is refused', async (t) => {
  await t.rejects(listProfiles(deps, { sort: 'created', limit: 5, after: 'x' }), refused);
  await t.resolves(listProfiles(deps, { limit: 5, after: 'x' }), 'any name can have been one');
});

t.test('the people of an organisation are sorted by handle, in a small one and in a very large one', async (t) => {
  const members = accounts.filter(() => random.chance(0.5));
  await db.write(async (tx) => {
    for (const id of ['small', 'large']) await insertRow(tx, 'organisations', { id, name: id, created_at: 1 });
    for (const { id: user_id } of members)
      for (const organisation_id of ['small', 'large'])
        await insertRow(tx, 'organisation_members', { organisation_id, user_id, role: 'MEMBER', created_at: 1 });
    const many = 'WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1100)';
    await tx.manager.query(
      `${many} INSERT INTO users (id, username, created_at) SELECT 'many' || n, 'many' || n, n FROM n`,
    );
    await tx.manager.query(
      `INSERT INTO organisation_members (organisation_id, user_id, role, created_at) SELECT 'large', id, 'GUEST', 1 FROM users WHERE id LIKE 'many%'`,
    );
  });
  const among = (id: string, options: PeopleOptions) =>
    listReferencedPeople(deps, { table: 'organisation_members', column: 'organisation_id', id }, options);
  const expected = ids(members.filter(({ username }) => username !== null).toSorted(byHandle));
  t.strictSame(await walk((paging) => among('small', paging)), [expected, expected]);
  const [forwards, backwards] = await walk((paging) => among('large', paging));
  t.strictSame(
    forwards.filter((id) => !id.startsWith('many')),
    expected,
  );
  t.equal(forwards.length, expected.length + 1_100);
  t.strictSame(backwards, forwards);
  const al = ids(members.filter(({ username }) => username?.startsWith('al')).toSorted(byHandle));
  t.strictSame(await walk((paging) => among('large', { ...paging, prefix: 'AL' })), [al, al]);
});
