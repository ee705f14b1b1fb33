// Lists that are longer than a page: filters and pages in addresses, what stands when nothing is found, and who sees
// them.
import t, { type Test } from 'tap';
import { extractMain, sendRequest, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse, Visitor } from '../../fixtures/web-fixture.ts';

const web = await startWeb(t);
const alice = await signedIn(web, 'alice', { isAdministrator: true });
const bob = await signedIn(web, 'bob');
const anonymous = visitor(web);
const { accounts, organisations, repositories, db } = web.modules;
const people = Array.from({ length: 53 }, (_, at) => `person${String(at).padStart(2, '0')}`);

await db.write(async ({ manager, now }) => {
  const rows = JSON.stringify(people);
  await manager.query(
    `INSERT INTO users (id, username, created_at) SELECT 'id-' || value, value, ${now} FROM json_each(?)`,
    [rows],
  );
  await manager.query(
    "INSERT INTO handles (folded, display, kind, owner_id) SELECT value, value, 'user', 'id-' || value FROM json_each(?)",
    [rows],
  );
});

const viewer = {
  kind: 'person',
  id: bob.id,
  username: 'bob',
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
} as const;

await organisations.create(viewer, { name: 'acme' });
await repositories.create(viewer, { name: 'notes', visibility: 'PRIVATE' });
await repositories.create(viewer, { owner: 'acme', name: 'tool', visibility: 'PRIVATE' });

for (const username of people) {
  await organisations.addMember(viewer, 'acme', { username, role: 'MEMBER' });
  await repositories.collaborators.add(viewer, 'bob', 'notes', { username, role: 'read' });
}

const link = (response: PageResponse, rel: 'next' | 'prev'): string | null =>
  new RegExp(`href="([^"]+)" rel="${rel}"`).exec(extractMain(response))?.[1]?.replaceAll('&amp;', '&') ?? null;

const namesIn = (response: PageResponse): string[] =>
  [...extractMain(response).matchAll(/class="row-title"[^>]*>([^<]*)</g)].map(([, text]) => text!);

/** Two pages there and back; returns the names of both. */
async function thereAndBack(t: Test, who: Visitor, start: string): Promise<string[]> {
  const first = await who.get(start);
  t.equal(link(first, 'prev'), null, `${start} is the first page`);
  const second = await who.get(link(first, 'next')!);
  t.equal(link(second, 'next'), null, 'and the second the last');
  const again = await who.get(link(second, 'prev')!);
  t.strictSame(namesIn(again), namesIn(first), 'back on the first');
  t.match(extractMain(first), /<nav class="more actions" aria-label="Pages">/, 'the links are named together');
  return [...namesIn(first), ...namesIn(second)];
}

t.test('people are explored page by page, counted, and filtered by how a username begins', async (t) => {
  t.strictSame(await thereAndBack(t, anonymous, '/explore/users'), ['alice', 'bob', ...people]);
  t.match(extractMain(await anonymous.get('/explore/users')), '55 users');
  const filtered = await anonymous.get('/explore/users?q=PERSON1');
  t.strictSame(namesIn(filtered), people.slice(10, 20));
  t.match(extractMain(filtered), /<input[^>]*name="q"[^>]*value="PERSON1"/, 'the filter stays in its field');
  t.strictSame(await thereAndBack(t, anonymous, '/explore/users?q=person&sort=created'), people);
  t.match(link(await anonymous.get('/explore/users?q=person'), 'next'), /\?q=person&after=/, 'and in the address');
  t.match(
    extractMain(await anonymous.get('/explore/users?q=%25')),
    /No username starts with “%”/,
    'nothing is a wildcard',
  );
  t.match(
    extractMain(await anonymous.get('/explore/users?sort=created')),
    /<input type="hidden" name="sort" value="created"/,
  );
  t.match(extractMain(await anonymous.get('/explore/orgs?q=ac')), 'acme');
  t.match(extractMain(await anonymous.get('/explore/orgs?q=x')), /No organisation begins with “x”/);
});

t.test('administrators page through accounts and repositories, others may not', async (t) => {
  t.strictSame(await thereAndBack(t, alice, '/admin/people'), ['alice', 'bob', ...people]);
  t.strictSame(namesIn(await alice.get('/admin/people?q=bo')), ['bob']);
  t.match(extractMain(await alice.get('/admin/people?q=nobody')), /No username starts with “nobody”/);
  t.match(extractMain(await alice.get('/admin/people')), '55 users');
  const listed = async (q: string) =>
    [...extractMain(await alice.get(`/admin/repositories?q=${q}`)).matchAll(/<td><a [^>]*>([a-z]+\/[a-z]+)/g)].map(
      ([, name]) => name,
    );
  t.strictSame((await listed('')).sort(), ['acme/tool', 'bob/notes']);
  t.strictSame(await listed('NO'), ['bob/notes']);
  t.strictSame(await listed('acme/'), ['acme/tool']);
  t.strictSame(await listed('bob/to'), []);
  t.strictSame(await listed('nobody/'), []);
  t.match(extractMain(await alice.get('/admin/repositories?q=nobody/')), /No repository name starts with/);
  for (const address of ['/admin/people?q=bo', '/admin/repositories?q=bob/'])
    t.equal((await bob.get(address)).status, 404);
});

t.test('a refused change of a person shows the page it was made from', async (t) => {
  const response = await alice.post(`/admin/people/${alice.id}/disabled`, { on: 'yes' });
  t.equal(response.status, 409);
  t.match(namesIn(response).slice(0, 2), ['alice', 'bob']);
});

t.test('members and collaborators are paged and filtered for those who manage them', async (t) => {
  t.strictSame(await thereAndBack(t, bob, '/orgs/acme/members'), ['bob', ...people]);
  t.strictSame(namesIn(await bob.get('/orgs/acme/members?q=person5')), people.slice(50));
  t.match(
    extractMain(await bob.get('/orgs/acme/members')),
    /needs at least one owner/,
    'also where the owner is on another page',
  );
  t.match(extractMain(await bob.get(link(await bob.get('/orgs/acme/members'), 'next')!)), /needs at least one owner/);
  t.match(
    extractMain(await bob.get('/orgs/acme/members?q=x')),
    /No member's username begins with|No member&#39;s username begins with/,
  );
  const here = '/repos/bob/notes/settings/collaborators';
  t.strictSame(await thereAndBack(t, bob, here), people);
  t.strictSame(namesIn(await bob.get(`${here}?q=person0`)), people.slice(0, 10));
  t.equal((await alice.get('/orgs/acme/members')).status, 404);
  t.equal((await alice.get(here)).status, 404);
});

t.test('the API lists members and collaborators in pages that the Link header leads through', async (t) => {
  const { secret } = await accounts.addToken(bob.id, {
    name: 'api',
    access: 'admin',
    repositoryIds: null,
    expiresAt: null,
  });
  const get = (address: string) => sendRequest(web, address, { headers: { Authorization: `Bearer ${secret}` } });
  for (const [start, expected] of [
    ['/api/v1/orgs/acme/members?limit=40', ['bob', ...people]],
    ['/api/v1/repos/bob/notes/collaborators?limit=40', people],
  ] as const) {
    const names: string[] = [];
    for (let address: string | undefined = start; address !== undefined; ) {
      const response: PageResponse = await get(address);
      t.equal(response.status, 200, address);
      names.push(...(JSON.parse(response.body) as { username: string }[]).map(({ username }) => username));
      const to = /<([^>]+)>; rel="next"/.exec(response.headers.link?.toString() ?? '')?.[1];
      address = to === undefined ? undefined : new URL(to, web.origin).pathname + new URL(to, web.origin).search;
    }
    t.strictSame(names, expected);
  }
  const added = await sendRequest(web, '/api/v1/orgs/acme/members', {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: 'Alice', role: 'GUEST' }),
  });
  t.strictSame([added.status, (JSON.parse(added.body) as { username: string }).username], [201, 'alice']);
});

t.test('open invites are paged, the newest first', async (t) => {
  for (let at = 0; at < 52; at += 1) {
    web.clock.advance(1);
    await accounts.addInvite(alice.id);
  }
  const rows = (response: PageResponse): number => extractMain(response).match(/<li class="row"/g)?.length ?? 0;
  const first = await alice.get('/admin/invites');
  const second = await alice.get(link(first, 'next')!);
  t.strictSame([rows(first), rows(second)], [50, 2]);
  t.equal(rows(await alice.get(link(second, 'prev')!)), 50);
});
