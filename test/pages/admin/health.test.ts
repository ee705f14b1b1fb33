import t from 'tap';
import { startAdminWeb } from '../../fixtures/admin-web-fixture.ts';
import { localAdministrator } from '../../../src/access/index.ts';
import { sendRequest } from '../../fixtures/web-fixture.ts';
import { startHearth } from '../../fixtures/start-hearth.ts';

const { web, administrator, member } = await startAdminWeb(t);

t.test('health shows the last successful restore test', async (t) => {
  const before = (await administrator.get('/admin/health')).body;
  t.match(
    before,
    /There is no backup yet[^]*No restore test yet\. Restore tests run every night/,
    'what needs attention is first',
  );
  t.notMatch(before, 'All required services', 'and nothing says that all is well');
  await web.modules.backups.create();
  await web.modules.backups.drill();
  t.match((await administrator.get('/admin/health')).body, /0 of 0 repositories/);
  t.notMatch((await administrator.get('/admin/health')).body, 'too old');
  t.match((await administrator.get('/admin/health')).body, 'All required services are available');
  web.clock.advance(2 * 86_400_000 + 1);
  t.match(
    (await administrator.get('/admin/health')).body,
    /0 of 0 repositories[^]*too old[^]*hearth backup drill[^]*too old[^]*hearth backup create/,
  );
  web.unready.push('storage');
  t.match((await administrator.get('/admin/health')).body, /Not ready: storage\./);
  web.unready.length = 0;
});

t.test('health shows the program: version, start, memory', async (t) => {
  const { body } = await administrator.get('/admin/health');
  t.match(body, /<dt>Version<\/dt><dd>Hearth \d+\.\d+[^<]*, git \d+\.\d+[^]*<dt>Started<\/dt><dd><time/);
  t.match(body, /<dt>Memory<\/dt><dd>\d[\d.]* [MG]B/);
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
  t.match((await administrator.get('/admin/health')).body, /1 mirror, all up to date/);
  await web.modules.db.write(({ manager }) =>
    manager.query("UPDATE mirrors SET failures = 10, is_paused = 1, last_error = 'its name does not resolve'"),
  );
  t.match(
    (await administrator.get('/admin/health')).body,
    /alice\/copy[^]*Paused[^]*from git\.example\.org[^]*its name does not resolve[^]*Sync now: alice\/copy/,
  );
  t.equal((await member.post(`/admin/mirrors/${id}/sync`, {})).status, 404);
  t.match(await administrator.post(`/admin/mirrors/${id}/sync`, {}), {
    status: 303,
    headers: { location: '/admin/health?done=mirror-sync' },
  });
  t.match(await web.modules.mirrors.find(id), { isPaused: false, nextAt: web.clock.now() });
  t.match((await administrator.post('/admin/mirrors/none/sync', {})).body, /not a mirror/);
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
    /1 push arrived[^]*alice\/parked[^]*failed 3×[^]*ci: &lt;b&gt;broken[^]*Try again: push to alice\/parked/,
  );
  t.match(await web.modules.counts(), { unannouncedPushes: { parked: 1, failing: 0 } });
  t.equal((await member.post(`/admin/pushes/${id}/retry`, {})).status, 404);
  t.match(await administrator.post(`/admin/pushes/${id}/retry`, {}), {
    status: 303,
    headers: { location: '/admin/health?done=push-retried' },
  });
  await web.modules.repositories.stop();
  t.notMatch((await administrator.get('/admin/health')).body, 'Parked pushes');
  t.equal((await administrator.post('/admin/pushes/none/retry', {})).status, 404);
  t.match(await administrator.post(`/admin/pushes/${id}/retry`, {}), {
    status: 409,
    body: /have already received this push/,
  });
  await web.modules.repositories.trash.move(localAdministrator, 'alice', 'parked');
});

t.setTimeout(120_000);

t.test('the administrator’s page names the host of a failing mirror in each form of address', async (t) => {
  const here = await startHearth(t);
  const alice = await here.addPerson('alice');
  await here.modules.accounts.setAdministrator(alice.id, true);
  // A person who becomes an administrator signs in again.
  const session = (await here.modules.accounts.startSession(alice.id, { address: '', userAgent: '' })).secret;
  const viewer = {
    kind: 'person',
    id: alice.id,
    username: 'alice',
    isAdministrator: true,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  } as const;
  for (const [name, url] of [
    ['one', 'git@git.example.org:bob/tool.git'],
    ['two', 'ssh://git@git.example.net:2222/bob/tool.git'],
    ['three', 'https://git.example.com:8443/bob/tool.git'],
  ] as const) {
    const { id } = await here.modules.repositories.create(viewer, { name, visibility: 'PRIVATE' });
    await here.modules.db.write(({ manager, now }) =>
      manager.query(
        "INSERT INTO mirrors (repository_id, direction, url, failures, last_error, is_paused, next_at, created_at, updated_at) VALUES (?, 'pull', ?, 3, 'no', 1, ?, ?, ?)",
        [id, url, now, now, now],
      ),
    );
  }
  const { status, body } = await sendRequest({ port: Number(new URL(here.url).port) }, '/admin/health', {
    headers: { Cookie: `hearth_session=${session}` },
  });
  t.equal(status, 200);
  for (const host of ['git.example.org', 'git.example.net:2222', 'git.example.com:8443'])
    t.match(body, `from ${host}`, host);
});
