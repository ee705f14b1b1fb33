import t from 'tap';
import { localAdministrator } from '../../../src/access/index.ts';
import { startAdminWeb } from '../../fixtures/admin-web-fixture.ts';
import { extractMain, password, visitor } from '../../fixtures/web-fixture.ts';

const { web, alice, bob, administrator, member } = await startAdminWeb(t);

t.test(
  'administrators are not offered to end their own administration or account; others get no administration',
  async (t) => {
    const { body } = await administrator.get('/admin/people');
    for (const what of ['administrator', 'disabled']) {
      t.match(body, `action="/admin/people/${bob.id}/${what}"`);
      t.notMatch(body, `action="/admin/people/${alice.id}/${what}"`);
    }
    for (const [id, isOffered] of [
      [bob.id, true],
      [alice.id, false],
    ] as const) {
      const person = (await administrator.get(`/admin/people/${id}`)).body;
      for (const what of ['administrator', 'disabled'])
        t.equal(person.includes(`action="/admin/people/${id}/${what}"`), isOffered, `${what} on the page of a person`);
    }
    t.match((await administrator.get('/explore')).body, 'href="/admin/health"');
    t.notMatch((await member.get('/explore')).body, /href="\/admin/);
  },
);

t.test('people are made administrators and shut out here, and the audit log says by whom', async (t) => {
  t.equal((await administrator.post(`/admin/people/${bob.id}/administrator`, { on: 'yes' })).status, 303);
  t.match((await administrator.get('/admin/people')).body, /bob[^]*Administrator/);
  t.equal((await administrator.post(`/admin/people/${bob.id}/administrator`, { on: '' })).status, 303);
  t.equal((await administrator.post(`/admin/people/${bob.id}/disabled`, { on: 'yes' })).status, 303);
  t.equal((await web.modules.accounts.personByUsername('bob'))?.disabledAt !== null, true);
  const refused = await administrator.post(`/admin/people/${alice.id}/disabled`, { on: 'yes' });
  t.match(refused.body, /last administrator/, 'the last one stays');
  await web.modules.audit.flush();
  t.match(await web.modules.audit.list({ limit: 3 }), [
    { event: 'person.disabled', actor: alice.id, address: '127.0.0.1', details: { username: 'bob' } },
    { event: 'person.administrator_unset', actor: alice.id },
    { event: 'person.administrator_set', actor: alice.id },
  ]);
  t.match((await administrator.get('/admin/audit')).body, /alice[^]*person\.disabled[^]*person<\/span> bob/);
});

const location = ({ headers }: { headers: { location?: string | undefined } }): string => headers.location ?? '';
const secretIn = (body: string): string => /id="secret"[^>]*value="([^"]+)"/.exec(body)![1]!;

t.test('an account is created with a password that is shown once and has to be replaced', async (t) => {
  const refused = await administrator.post('/admin/people/new', {
    username: 'bob',
    display_name: 'Carol of the garden',
    address: 'carol@example.org',
    administrator: 'yes',
  });
  t.equal(refused.status, 422);
  t.match(extractMain(refused), /id="username"[^>]*aria-invalid="true"/, 'the reason is beside the field');
  for (const kept of ['value="bob"', 'value="Carol of the garden"', 'value="carol@example.org"', 'checked'])
    t.match(extractMain(refused), kept);
  const long = await administrator.post('/admin/people/new', { username: 'carol', display_name: 'x'.repeat(300) });
  t.match(extractMain(long), /id="display_name"[^>]*aria-invalid="true"/);

  const made = await administrator.post('/admin/people/new', { username: 'carol', address: 'carol@example.org' });
  t.match(made, { status: 303, headers: { location: /^\/admin\/people\/[\w-]+\/secret\// } });
  t.equal((await member.get(location(made))).status, 404, 'not for others');
  const first = secretIn((await administrator.get(location(made))).body);
  t.match(location(await administrator.get(location(made))), /done=person-secret-gone$/, 'shown once');
  const carol = visitor(web);
  t.equal((await carol.post('/login', { username: 'carol@example.org', password: first })).status, 303);
  t.match(extractMain(await carol.get('/settings/account')), 'Choose your own password');
  const person = (await web.modules.accounts.personByUsername('carol'))!;
  t.match(person, { isAdministrator: false, mustChangePassword: true });
  t.match(await web.modules.accounts.addresses.list(person.id), [{ address: 'carol@example.org' }]);
});

t.test('an administrator renames a person, makes a password link, suspends after a question and deletes', async (t) => {
  const { accounts, repositories } = web.modules;
  const dora = await accounts.addPerson({ username: 'dora', password });
  const here = `/admin/people/${dora.id}`;
  const browser = visitor(web);
  await browser.post('/login', { username: 'dora', password });
  for (const path of ['reset-link', 'rename', 'delete', 'disabled'])
    t.equal((await browser.post(`${here}/${path}`, {})).status, 404, `${path}: for administrators only`);

  t.match(await administrator.post(`${here}/rename`, { username: 'bob' }), { status: 422, body: /value="bob"/ });
  t.match(await administrator.post(`${here}/rename`, { username: 'Dora2' }), { status: 303 });
  t.match(extractMain(await administrator.get(here)), /<h1>Dora2[^]*\/admin\/repositories\?q=Dora2%2F/);

  const made = await administrator.post(`${here}/reset-link`, {});
  const link = new URL(secretIn((await administrator.get(location(made))).body));
  t.equal(link.origin, web.origin);
  t.equal((await visitor(web).get(link.pathname + link.search)).status, 200, 'the link opens the form');

  const question =
    /<details class="remove"><summary[^>]*>Suspend<[^]*?sessions end[^]*?name="on" value="yes"|<details class="remove"><summary[^>]*>Suspend<[^]*?name="on" value="yes"[^]*?sessions end/;
  t.match(extractMain(await administrator.get(here)), question, 'asked first, without a script');
  t.match(await administrator.post(`${here}/disabled`, { on: 'yes' }), { status: 303 });
  t.equal((await browser.get('/settings/profile')).status, 303, 'signed out');
  t.match(extractMain(await administrator.get(here)), 'Reinstate');

  await repositories.create(localAdministrator, {
    owner: 'Dora2',
    name: 'garden',
    visibility: 'PRIVATE',
  });
  t.match(await administrator.post(`${here}/delete`, { confirm: 'Dora' }), {
    status: 422,
    body: /Type Dora2 to confirm/,
  });
  t.match((await administrator.post(`${here}/delete`, { confirm: 'Dora2' })).body, /repositor/, 'the reason is told');
  t.ok(await accounts.personById(dora.id), 'and nothing is deleted');
  const own = `/admin/people/${alice.id}`;
  t.match(await administrator.post(`${own}/delete`, { confirm: 'alice' }), { status: 422, body: /in your settings/ });

  const eve = await accounts.addPerson({ username: 'eve', password });
  const gone = await administrator.post(`/admin/people/${eve.id}/delete`, { confirm: 'eve' });
  t.equal(location(gone), '/admin/people?done=person-deleted');
  t.equal((await administrator.get(`/admin/people/${eve.id}`)).status, 404);
  await web.modules.audit.flush();
  const audited = new Map((await web.modules.audit.list({ limit: 20 })).map(({ event, actor }) => [event, actor]));
  for (const event of ['person.deleted', 'person.renamed', 'person.disabled', 'person.reset_link_made'])
    t.equal(audited.get(event), alice.id, event);
});
