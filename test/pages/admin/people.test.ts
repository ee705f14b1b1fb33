import t from 'tap';
import { startAdminWeb } from '../../fixtures/admin-web.ts';

const { web, alice, bob, administrator, member } = await startAdminWeb(t);

t.test(
  'administrators are not offered to end their own administration or account; others get no administration',
  async (t) => {
    const { body } = await administrator.get('/admin/people');
    for (const what of ['administrator', 'disabled']) {
      t.match(body, `action="/admin/people/${bob.id}/${what}"`);
      t.notMatch(body, `action="/admin/people/${alice.id}/${what}"`);
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
