import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { startWeb, visitor, password } from '../fixtures/web-fixture.ts';

const web = await startWeb(t, { env: { SERVICE_METRICS_TOKEN: 'canary-token' } });
const alice = await web.modules.accounts.addPerson({ username: 'alice', password, isAdministrator: true });
const bob = await web.modules.accounts.addPerson({ username: 'bob', password });
const administrator = visitor(web);
await administrator.post('/login', { username: 'alice', password });
const stranger = visitor(web);
await stranger.post('/login', { username: 'bob', password });

const pages = ['health', 'people', 'repositories', 'jobs', 'settings', 'audit'];

t.test('the pages are there for administrators, and for nobody else', async (t) => {
  for (const page of pages) {
    const { status, body } = await administrator.get(`/admin/${page}`);
    t.equal(status, 200, page);
    t.match(body, `href="/admin/${page}" aria-current="page"`, `${page} marks itself`);
    t.equal((await stranger.get(`/admin/${page}`)).status, 404, page);
  }
});

t.test('health says when a restore was last proven', async (t) => {
  t.match((await administrator.get('/admin/health')).body, /none yet: a backup is proven by restoring it/);
  await web.modules.backups.create();
  await web.modules.backups.drill();
  t.match((await administrator.get('/admin/health')).body, /0 of 0 repositories/);
  t.notMatch((await administrator.get('/admin/health')).body, 'too old');
  web.clock.advance(2 * 86_400_000 + 1);
  t.match(
    (await administrator.get('/admin/health')).body,
    /0 of 0 repositories[^]*too old[^]*hearth backup drill[^]*too old[^]*hearth backup create/,
  );
  web.unready.push('storage');
  t.match((await administrator.get('/admin/health')).body, /Not ready: storage\./);
  web.unready.length = 0;
});

t.test('mirrors that fail are named with the reason, and tried again from here', async (t) => {
  t.notMatch((await administrator.get('/admin/health')).body, '<h2>Mirrors</h2>', 'there are none');
  const { id } = await web.modules.repositories.create(localAdministrator, {
    owner: 'alice',
    name: 'copy',
    visibility: 'PRIVATE',
  });
  const later = web.clock.now() + 3_600_000;
  await web.modules.db.write(({ manager }) =>
    manager.query(
      `INSERT INTO mirrors (repository_id, direction, url, username, interval_ms, failures, last_error, is_paused, next_at, created_at, updated_at)
    VALUES (?, 'pull', 'https://git.example.org/bob/tool.git', '', 3600000, 0, NULL, 0, ?, 1, 1)`,
      [id, later],
    ),
  );
  t.match((await administrator.get('/admin/health')).body, /1 mirror, all of them up to date/);
  await web.modules.db.write(({ manager }) =>
    manager.query("UPDATE mirrors SET failures = 10, is_paused = 1, last_error = 'its name does not resolve'"),
  );
  t.match(
    (await administrator.get('/admin/health')).body,
    /alice\/copy[^]*waits for you[^]*from git\.example\.org[^]*its name does not resolve[^]*Sync alice\/copy now/,
  );
  t.equal((await stranger.post(`/admin/mirrors/${id}/sync`, {})).status, 404);
  t.match(await administrator.post(`/admin/mirrors/${id}/sync`, {}), {
    status: 303,
    headers: { location: '/admin/health?done=mirror-sync' },
  });
  t.match(await web.modules.mirrors.find(id), { isPaused: false, nextAt: web.clock.now() });
  t.match((await administrator.post('/admin/mirrors/none/sync', {})).body, /no mirror/);
  await web.modules.db.write(({ manager }) => manager.query('DELETE FROM mirrors'));
});

t.test('parked pushes are named with the reason, and tried again from here', async (t) => {
  t.notMatch((await administrator.get('/admin/health')).body, 'Parked pushes', 'there are none');
  const { id: repositoryId } = await web.modules.repositories.create(localAdministrator, {
    owner: 'alice',
    name: 'parked',
    visibility: 'PRIVATE',
  });
  const id = '0b9f2c1e-6d5a-4f1b-9c39-5f1c2a7d8e90';
  await web.modules.db.write(({ manager, now }) =>
    manager.query(
      `INSERT INTO pushes (id, repository_id, via, created_at, settled_at, attempts, last_error, parked_at)
    VALUES (?, ?, 'http', 1, 1, 3, 'ci: <b>broken</b>', ?)`,
      [id, repositoryId, now],
    ),
  );
  t.match(
    (await administrator.get('/admin/health')).body,
    /1 push arrived[^]*alice\/parked[^]*failed 3×[^]*ci: &lt;b&gt;broken[^]*Try the push to alice\/parked again/,
  );
  t.match(await web.modules.counts(), { unannouncedPushes: { parked: 1, failing: 0 } });
  t.equal((await stranger.post(`/admin/pushes/${id}/retry`, {})).status, 404);
  t.match(await administrator.post(`/admin/pushes/${id}/retry`, {}), {
    status: 303,
    headers: { location: '/admin/health?done=push-retried' },
  });
  await web.modules.repositories.stop();
  t.notMatch((await administrator.get('/admin/health')).body, 'Parked pushes');
  t.equal((await administrator.post('/admin/pushes/none/retry', {})).status, 404);
  t.match(await administrator.post(`/admin/pushes/${id}/retry`, {}), { status: 409, body: /has heard of this push/ });
  await web.modules.repositories.moveToTrash(localAdministrator, 'alice', 'parked');
});

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

t.test('settings are shown with their origins, secrets are not', async (t) => {
  const { body } = await administrator.get('/admin/settings');
  t.match(body, /metrics\.token[^]*••••/);
  t.notMatch(body, 'canary-token');
});
