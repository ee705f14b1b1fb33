// SPEC §4.4: organisations and their members, as pages and forms on the real modules.
import t from 'tap';
import { localAdministrator } from '../../../src/access/index.ts';
import { extractMain, password, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const web = await startWeb(t);
const alice = await signedIn(web, 'alice');
const bob = await signedIn(web, 'bob');
const carol = await signedIn(web, 'carol');
const anonymous = visitor(web);
const where = ({ status, headers }: PageResponse): [number, string | undefined] => [status, headers.location];
const bytes = ({ status, body }: PageResponse): [number, string] => [status, body];

t.test('SPEC §4.4 any signed-in person creates an organisation and is its first OWNER', async (t) => {
  t.same(where(await anonymous.get('/orgs/new')), [303, '/login?next=%2Forgs%2Fnew']);
  t.same(where(await anonymous.post('/orgs', { name: 'acme' })), [303, '/login']);
  t.match(extractMain(await alice.get('/orgs/new')), /name="name"[^]*name="display_name"/);
  t.same(where(await alice.post('/orgs', { name: 'Acme', display_name: 'Acme <tools>' })), [
    303,
    '/orgs/Acme?done=organisation-created',
  ]);
  const page = extractMain(await alice.get('/orgs/Acme'));
  t.match(page, /Acme &lt;tools&gt;/);
  t.match(page, /You are an owner here/);
  t.match(page, /\/orgs\/Acme\/members[^]*\/orgs\/Acme\/settings/, 'the tabs of an OWNER');
});

t.test('SPEC §4.4 a handle taken in either namespace is refused, with the form as it was', async (t) => {
  for (const [name, message] of [
    ['bob', /already taken/],
    ['ACME', /already taken/],
    ['orgs', /reserved/],
    ['no_', /letters and digits/],
    ['', /Choose a handle/],
  ] as const) {
    const response = await alice.post('/orgs', { name, display_name: 'Kept' });
    t.equal(response.status, 422, name);
    t.match(extractMain(response), message);
    t.match(extractMain(response), /value="Kept"/);
    t.match(extractMain(response), /id="name"[^>]*aria-invalid="true"/);
  }
  const person = await signedIn(web, 'dora');
  t.equal(
    (await person.post('/settings/account/handle', { handle: 'acme', confirm: 'dora' })).status,
    422,
    'people cannot take it either',
  );
});

t.test('the page of an organisation is public, in one spelling', async (t) => {
  t.same(where(await anonymous.get('/orgs/acme')), [301, '/orgs/Acme']);
  t.same(where(await anonymous.get('/Acme')), [301, '/orgs/Acme']);
  const page = extractMain(await anonymous.get('/orgs/Acme'));
  t.match(page, /1 user/);
  t.notMatch(page, /members|settings|Leave|New repository/, 'without what is not the visitor’s');
  t.equal((await anonymous.get('/orgs/alice')).status, 404, 'a person is no organisation');
  t.equal((await anonymous.get('/users/Acme')).status, 404, 'and the other way round');
  for (const name of ['none', '__proto__', '%00', 'a%2Fb', 'x'.repeat(300)])
    t.match((await anonymous.get(`/orgs/${name}`)).status, /400|404/, name);
});

t.test('SPEC §4.4 members are managed by OWNERs only', async (t) => {
  const members = '/orgs/Acme/members';
  t.same(where(await anonymous.get(members)), [303, '/login?next=%2Forgs%2FAcme%2Fmembers']);
  t.same(
    where(await anonymous.get('/orgs/none/members')),
    [303, '/login?next=%2Forgs%2Fnone%2Fmembers'],
    'before anything is looked up',
  );
  const absent = await bob.get('/orgs/none/members');
  t.same(
    bytes(await bob.get(members)),
    bytes(absent),
    'a person who is not a member sees the 404 of what is not there',
  );
  t.same(where(await alice.post(members, { username: 'Bob', role: 'guest' })), [303, `${members}?done=member-added`]);
  for (const path of [members, '/orgs/Acme/settings'])
    t.same(bytes(await bob.get(path)), bytes(absent), `a GUEST at ${path}`);
  for (const path of [
    members,
    `${members}/alice/role`,
    `${members}/alice/remove`,
    '/orgs/Acme/settings',
    '/orgs/Acme/rename',
    '/orgs/Acme/delete',
    '/orgs/Acme/avatar/delete',
  ]) {
    t.same(
      bytes(await bob.post(path, { username: 'carol', role: 'OWNER', confirm: 'Acme', name: 'mine' })),
      bytes(absent),
      `a GUEST posts to ${path}`,
    );
  }

  for (const [form, message] of [
    [{ username: 'nobody', role: 'MEMBER' }, /No user has this username\./],
    [{ username: 'Acme', role: 'MEMBER' }, /No user has this username\./],
    [{ username: 'bob', role: 'MEMBER' }, /bob is already a member/],
    [{ username: 'carol', role: 'KING' }, /Choose one of the roles/],
    [{}, /Choose one of the roles/],
  ] as const) {
    const response = await alice.post(members, form);
    t.match([response.status, extractMain(response)], [422, message]);
  }
  const kept = extractMain(await alice.post(members, { username: 'nobody', role: 'OWNER' }));
  t.match(kept, /value="nobody"/);
  t.match(kept, /<option value="OWNER" selected>[^]*<\/form>/);
});

t.test('SPEC §3 the last OWNER cannot be removed, downgraded, or leave: 409, in words', async (t) => {
  const members = '/orgs/Acme/members';
  for (const [path, form] of [
    [`${members}/alice/role`, { role: 'MEMBER' }],
    [`${members}/alice/remove`, {}],
    ['/orgs/Acme/leave', {}],
  ] as const) {
    const response = await alice.post(path, form);
    t.equal(response.status, 409, path);
    t.match(extractMain(response), /Every organisation needs at least one owner/);
  }
  t.same(
    where(await alice.post(`${members}/alice/role`, { role: 'OWNER' })),
    [303, `${members}?done=role-changed`],
    'the same role is no change',
  );
  t.equal((await alice.post(`${members}/carol/role`, { role: 'OWNER' })).status, 404, 'who is no member has no role');
  const refused = await alice.post('/settings/account/delete', { confirm: 'alice', password });
  t.match([refused.status, extractMain(refused)], [409, /only owner of Acme/], 'nor can the account go');
});

t.test('roles act at once; who loses their own is led away', async (t) => {
  const members = '/orgs/Acme/members';
  await alice.post('/repos', { owner: 'acme', name: 'anvil', visibility: 'PRIVATE' });
  const home = '/repos/Acme/anvil';
  const may = async (who: typeof bob) => [(await who.get(home)).status, (await who.get(`${home}/settings`)).status];
  t.same(await may(bob), [200, 404], 'a GUEST reads what is private');
  t.same(await may(carol), [404, 404]);
  t.notMatch(extractMain(await bob.get('/orgs/Acme')), /New repository/);
  t.equal(
    (await bob.post('/repos', { owner: 'Acme', name: 'mine', visibility: 'PUBLIC' })).status,
    422,
    'a GUEST makes none',
  );
  await alice.post(`${members}/bob/role`, { role: 'MEMBER' });
  t.match(extractMain(await bob.get('/orgs/Acme')), /href="\/repos\/new\?owner=Acme"/);
  t.match(extractMain(await bob.get('/repos/new?owner=Acme')), /<option value="Acme" selected>/);
  t.same(where(await bob.post('/repos', { owner: 'acme', name: 'bellows', visibility: 'PUBLIC' })), [
    303,
    '/repos/Acme/bellows',
  ]);
  t.equal((await anonymous.get('/orgs/Acme')).body.includes('anvil'), false, 'visitors see the public ones');
  t.match(extractMain(await anonymous.get('/orgs/Acme')), /bellows/);
  await alice.post(`${members}/bob/role`, { role: 'OWNER' });
  t.same(await may(bob), [200, 200]);
  t.same(
    where(await alice.post(`${members}/alice/role`, { role: 'GUEST' })),
    [303, '/orgs/Acme?done=role-changed'],
    'there is another OWNER now',
  );
  t.same(await may(alice), [200, 404]);
  t.same(where(await alice.post('/orgs/Acme/leave')), [303, '/?done=organisation-left']);
  t.same(await may(alice), [404, 404]);
  t.equal((await alice.post('/orgs/Acme/leave')).status, 404);
  await bob.post(members, { username: 'alice', role: 'OWNER' });
  t.same(where(await bob.post(`${members}/bob/remove`)), [303, '/?done=member-removed']);
});

t.test('settings: what it says of itself, its name, and its end', async (t) => {
  t.same(where(await alice.post('/orgs/Acme/settings', { display_name: 'Acme', description: 'We forge.' })), [
    303,
    '/orgs/Acme/settings?done=settings-saved',
  ]);
  t.match(extractMain(await anonymous.get('/orgs/Acme')), /We forge\./);
  const long = await alice.post('/orgs/Acme/settings', { display_name: 'x'.repeat(101), description: 'kept' });
  t.match([long.status, extractMain(long)], [422, /id="display_name-error"[^]*value="kept"/]);

  t.equal((await alice.post('/orgs/Acme/rename', { name: 'carol' })).status, 422);
  t.same(where(await alice.post('/orgs/Acme/rename', { name: 'apex' })), [
    303,
    '/orgs/apex/settings?done=organisation-renamed',
  ]);
  for (const [from, to] of [
    ['/orgs/Acme', '/orgs/apex'],
    ['/acme', '/orgs/apex'],
    ['/repos/acme/bellows', '/repos/apex/bellows'],
    ['/acme/bellows', '/repos/apex/bellows'],
  ]) {
    t.same(where(await anonymous.get(from!)), [301, to], `${from} leads on`);
  }
  t.same(where(await alice.get('/orgs/acme/members?x=1')), [301, '/orgs/apex/members?x=1']);
  t.equal((await anonymous.get('/repos/acme/anvil')).status, 404, 'but not to what is hidden');
  t.equal((await bob.post('/orgs', { name: 'Acme' })).status, 422, 'the old name stays reserved');

  const wrong = await alice.post('/orgs/apex/delete', { confirm: 'Apex' });
  t.match([wrong.status, extractMain(wrong)], [422, /id="confirm-error">Type apex to confirm/]);
  const owning = await alice.post('/orgs/apex/delete', { confirm: 'apex' });
  t.match(
    [owning.status, extractMain(owning)],
    [409, /apex still owns apex\/anvil, apex\/bellows[^]*href="\/repos\/apex\/anvil\/settings\/danger"/],
  );
  for (const name of ['anvil', 'bellows'])
    await alice.post(`/repos/apex/${name}/settings/delete`, { confirm: `apex/${name}` });
  t.match(
    extractMain(await alice.get('/orgs/apex/settings')),
    /trash will also be permanently deleted: (?:anvil, bellows|bellows, anvil)/,
  );
  t.same(where(await alice.post('/orgs/apex/delete', { confirm: 'apex' })), [303, '/?done=organisation-deleted']);
  t.equal((await alice.get('/orgs/apex')).status, 404);
  t.equal((await bob.post('/orgs', { name: 'apex' })).status, 422, 'its name stays reserved');
  t.equal((await alice.post('/orgs', { name: 'apex' })).status, 303, 'for the user who deleted it');
});

t.test('SPEC §9 before a rename the page says how many follow from other servers', async (t) => {
  await alice.post('/repos', { owner: 'alice', name: 'followed', visibility: 'PUBLIC' });
  const pages = ['/settings/account', '/repos/alice/followed/settings/danger'];
  for (const page of pages) t.notMatch(extractMain(await alice.get(page)), 'other server');
  const { repository } = await web.modules.repositories.find(localAdministrator, 'alice', 'followed');
  const follow = (actorId: string) =>
    web.modules.db.write(({ manager }) =>
      manager.query(
        'INSERT INTO repository_followers (repository_id, actor_id, inbox, host, follow_id, created_at) VALUES (?, ?, ?, ?, ?, 1)',
        [repository.id, actorId, `${actorId}/inbox`, 'other.example', `${actorId}/1`],
      ),
    );
  await follow('https://other.example/users/dan');
  for (const page of pages)
    t.match(
      extractMain(await alice.get(page)),
      'One follower on another server</strong> stays, and keeps seeing the old name.',
    );
  await follow('https://other.example/users/eve');
  for (const page of pages) t.match(extractMain(await alice.get(page)), '2 followers on other servers</strong> stay');
  t.notMatch(extractMain(await alice.get('/orgs/Acme/settings')), 'other server');
});
