import t from 'tap';
import { localAdministrator } from '../../../src/access/index.ts';
import { startAdminWeb } from '../../fixtures/admin-web-fixture.ts';
import { extractMain } from '../../fixtures/web-fixture.ts';

const { web, administrator, member } = await startAdminWeb(t);
const { repositories, audit, db } = web.modules;
const make = (owner: string, name: string, visibility: 'PUBLIC' | 'PRIVATE') =>
  repositories.create(localAdministrator, { owner, name, visibility });
const garden = await make('bob', 'garden', 'PUBLIC');
const ledger = await make('bob', 'ledger', 'PRIVATE');
await db.write(async ({ manager }) => {
  await manager.query('UPDATE repositories SET size_bytes = 3145728, shared_bytes = 1048576 WHERE id = ?', [garden.id]);
  await manager.query('UPDATE repositories SET size_bytes = 1048576 WHERE id = ?', [ledger.id]);
  await manager.query(
    'INSERT INTO lfs_objects (repository_id, oid, bytes, arrived_at, seen_at) VALUES (?, ?, 5242880, 1, 1)',
    [ledger.id, 'a'.repeat(64)],
  );
});

t.test('storage is shown by owner, and by kind for each repository', async (t) => {
  const text = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  t.match(text(extractMain(await administrator.get('/admin/usage'))), /bob 2 3\.1 MB 5\.2 MB 0 B 8\.4 MB/);
  t.match(extractMain(await administrator.get('/admin/usage')), 'href="/admin/repositories?q=bob%2F"');
  t.match(
    text(extractMain(await administrator.get('/admin/repositories/bob/garden'))),
    /Git 3\.1 MB [^]*Total 3\.1 MB 1\.0 MB of git/,
  );
  t.match(
    text(extractMain(await administrator.get('/admin/repositories/bob/ledger'))),
    /Git LFS 5\.2 MB [^]*Total 6\.3 MB/,
  );
  for (const path of ['/admin/usage', '/admin/repositories/bob/garden'])
    t.equal((await member.get(path)).status, 404, path);
  t.equal((await administrator.get('/admin/repositories/bob/none')).status, 404);
});

t.test('the list leads to each; a private repository is managed without being opened', async (t) => {
  const list = extractMain(await administrator.get('/admin/repositories'));
  for (const name of ['garden', 'ledger']) t.match(list, `href="/admin/repositories/bob/${name}"`);
  t.match(extractMain(await administrator.get('/admin/repositories/bob/garden')), 'href="/repos/bob/garden"');
  t.notMatch(extractMain(await administrator.get('/admin/repositories/bob/ledger')), 'href="/repos/bob/ledger"');
  t.equal((await administrator.get('/repos/bob/ledger')).status, 404, 'opening it needs access');
});

t.test('an administrator archives, makes private, transfers and deletes', async (t) => {
  const here = '/admin/repositories/bob/garden';
  for (const path of ['state', 'transfer', 'delete'])
    t.equal((await member.post(`${here}/${path}`, {})).status, 404, `${path}: for administrators only`);
  const there = async () => (await repositories.find(localAdministrator, 'bob', 'garden')).repository;
  t.equal((await administrator.post(`${here}/state`, { state: 'archived' })).status, 303);
  t.ok((await there()).archivedAt);
  t.match(extractMain(await administrator.get(here)), /Archived<[^]*>Unarchive</);
  t.equal((await administrator.post(`${here}/state`, { state: 'unarchived' })).status, 303);
  t.equal((await there()).archivedAt, null);
  t.equal((await administrator.post(`${here}/state`, { state: 'private' })).status, 303);
  t.equal((await there()).visibility, 'PRIVATE');
  t.notMatch(extractMain(await administrator.get(here)), 'Make private');
  t.equal((await administrator.post(`${here}/state`, { state: 'PUBLIC' })).status, 422, 'nothing is made public');

  t.match(await administrator.post(`${here}/transfer`, { new_owner: 'nobody-here' }), {
    status: 422,
    body: /id="new_owner"[^>]*value="nobody-here"[^>]*aria-invalid="true"/,
  });
  const moved = await administrator.post(`${here}/transfer`, { new_owner: 'alice' });
  t.equal(moved.headers.location, '/admin/repositories/alice/garden?done=transferred');
  t.match(extractMain(await administrator.get('/admin/repositories/alice/garden')), 'alice/garden');

  const now = '/admin/repositories/alice/garden';
  t.match(await administrator.post(`${now}/delete`, { confirm: 'garden' }), { status: 422, body: /value="garden"/ });
  const gone = await administrator.post(`${now}/delete`, { confirm: 'alice/garden' });
  t.equal(gone.headers.location, '/admin/repositories?done=admin-repository-deleted');
  t.equal((await administrator.get(now)).status, 404);
  await audit.flush();
  const by = new Map((await audit.list({ limit: 20 })).map(({ event, actor }) => [event, actor]));
  t.equal(by.get('repository.deleted'), (await web.modules.accounts.personByUsername('alice'))!.id);
});
