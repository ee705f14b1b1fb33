// time limit: 120 s
// A repository that is renamed at the source while it is followed: its API and its pages answer redirects from then on,
// which git does not follow.
import t from 'tap';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { startGiteaStub } from './gitea-stub.ts';

t.setTimeout(110_000);

t.test('what is new there comes along after a rename, and the source is archived under its new name', async (t) => {
  const port = await freePort();
  const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` } });
  const { imports, db, repositories, git } = web.modules;
  const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
  const forge = await startGiteaStub(t, { port, pageSize: 50 });
  const { world } = forge;
  forge.addIssue({ title: 'First' });
  forge.setRef('refs/tags/v1', forge.tip());
  const release = { name: 'One', created_at: '2024-01-01T00:00:00Z', assets: [] };
  world.releases.push({ ...release, id: 1, tag_name: 'v1' });
  const { id } = await imports.start(alice, { address: `${forge.url}/bob/tool`, token: world.token, name: 'tool' });
  await imports.runDue();
  const read = async (): Promise<unknown[]> => {
    const { path } = (await repositories.locate([id])).get(id)!;
    const titles = await db.read.query('SELECT title AS title FROM issues WHERE repository_id = ? ORDER BY number', [
      id,
    ]);
    const tags = await db.read.query('SELECT tag AS tag FROM releases WHERE repository_id = ? ORDER BY tag', [id]);
    const refs = await git.refs.list(path);
    return [
      titles.map(({ title }: { title: string }) => title),
      tags.map(({ tag }: { tag: string }) => tag),
      refs.get('refs/heads/main'),
    ];
  };
  t.strictSame(await read(), [['First'], ['v1'], forge.tip()]);

  forge.rename('bob/kits');
  forge.addIssue({ title: 'Second' });
  const tip = forge.push('main');
  forge.setRef('refs/tags/v2', tip);
  world.releases.push({ ...release, id: 2, tag_name: 'v2' });
  await imports.again(alice, id, {});
  await imports.runDue();
  const found = (await imports.find(id))!;
  t.match(found, { state: 'done', lastError: null });
  t.strictSame(await read(), [['First', 'Second'], ['v1', 'v2'], tip]);
  const lines = (await imports.problems(found.id)).map(({ item, problem }) => `${item}: ${problem}`);
  t.strictSame(lines, ['address: it is bob/kits there now']);

  await imports.again(alice, id, { isLast: true, archivesSource: true });
  await imports.runDue();
  t.match(await imports.find(id), { state: 'ended' });
  t.strictSame(forge.changes, [['PATCH', '/api/v1/repos/bob/kits', '{"archived":true}']]);
});
