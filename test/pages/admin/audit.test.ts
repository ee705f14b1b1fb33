import t from 'tap';
import { startAdminWeb } from '../../fixtures/admin-web-fixture.ts';
import { localAdministrator } from '../../../src/access/index.ts';

const { web, administrator, member } = await startAdminWeb(t);
const { repositories, accounts, audit } = web.modules;
await accounts.addPerson({ username: 'carol', displayName: '=1+1, "carol"' });
await repositories.create(localAdministrator, { owner: 'carol', name: 'garden', visibility: 'PRIVATE' });
await audit.flush();
web.clock.advance(3 * 86_400_000);
const { id } = await accounts.personByUsername('carol');
const carol = {
  kind: 'person',
  id,
  username: 'carol',
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
} as const;
await audit.as({ by: id, address: '192.0.2.7' }, () =>
  repositories.changeVisibility(carol, 'carol', 'garden', 'PUBLIC'),
);
await audit.flush();

const rowsOf = (body: string): number => body.split('<tbody>')[1]?.split('<tr>').slice(1).length ?? 0;
const shown = async (query: string) => (await administrator.get(`/admin/audit${query}`)).body;

t.test('the audit log is filtered by actor, event and day', async (t) => {
  const all = rowsOf(await shown(''));
  t.ok(all > 2);
  const events = await shown('?event=repository.');
  t.match(events, 'repository.visibility_changed');
  t.notMatch(events, '<code>person.');
  t.match(await shown('?actor=carol'), 'repository.visibility_changed');
  t.equal(rowsOf(await shown('?actor=carol')), 1);
  t.match(await shown('?actor=nobody-here'), 'No entry matches the filter');
  const [day, before] = [0, 1].map((days) => new Date(web.clock.now() - days * 86_400_000).toISOString().slice(0, 10));
  t.equal(rowsOf(await shown(`?since=${day}`)), 1, 'from the day of the last one');
  t.equal(rowsOf(await shown(`?until=${day}`)), all, 'the last day is included');
  t.equal(rowsOf(await shown(`?until=${before}`)), all - 1);
  t.equal(rowsOf(await shown('?since=yesterday')), all, 'what is no day does not filter');
  t.match(await shown('?event=repository.&actor=carol'), /export\?actor=carol&amp;event=repository\.&amp;format=csv/);
});

t.test('and exported as CSV and JSON', async (t) => {
  const json = await administrator.get('/admin/audit/export?event=repository.visibility&format=json');
  t.match(json.headers['content-disposition'], 'attachment; filename="audit.json"');
  const rows = JSON.parse(json.body) as Record<string, unknown>[];
  t.match(rows, [{ actorName: 'carol', address: '192.0.2.7', event: 'repository.visibility_changed' }]);
  t.ok(Date.parse(String(rows[0]!['at'])) > 0);
  t.match(rows[0]!['hash'], /^[0-9a-f]{64}$/, 'with what proves it');

  const csv = await administrator.get('/admin/audit/export?event=repository.visibility&format=csv');
  t.match(csv.headers['content-type'], 'text/csv');
  const [head, row, end] = csv.body.split('\r\n');
  t.equal(head, 'id,at,actor,actorName,address,event,details,hash');
  t.match(row, /,carol,192\.0\.2\.7,repository\.visibility_changed,"\{""/);
  t.equal(end, '');
  t.equal((await member.get('/admin/audit/export')).status, 404);
});
