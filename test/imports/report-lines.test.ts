// time limit: 120 s
// The report after a later run: a line about what has been mended goes, one about what still holds stays.
import t from 'tap';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { startGiteaStub } from './gitea-stub.ts';

t.setTimeout(110_000);

t.test('lines of earlier runs', async (t) => {
  const port = await freePort();
  const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` } });
  const { imports } = web.modules;
  const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
  const forge = await startGiteaStub(t, { port, pageSize: 50 });
  const start = async (name: string): Promise<string> => {
    const { id } = await imports.start(alice, { address: `${forge.url}/bob/tool`, token: forge.world.token, name });
    await imports.runDue();
    return id;
  };
  const again = async (id: string): Promise<string[]> => {
    await imports.again(alice, id, { isFull: true });
    await imports.runDue();
    return lines(id);
  };
  const lines = async (id: string): Promise<string[]> => {
    const { id: importId, state } = (await imports.find(id))!;
    t.equal(state, 'done');
    return (await imports.problems(importId)).map(({ item, problem }) => `${item}: ${problem}`);
  };
  const [first, second] = [forge.addIssue({ title: '' }), forge.addIssue({ title: '' })];
  forge.world.labels.push({ name: 'a', color: '00ff00' }, { name: 'A', color: '00ff00' });
  forge.world.hooks.push({ type: 'gitea', config: { url: 'https://ci.example.org/x' }, events: ['push'] });
  forge.world.extras.set('/actions/secrets', [{ name: 'PASSWORD' }]);
  forge.fail({ pattern: /\/releases\?/, status: 200, headers: {}, body: '<h1>Sign in</h1>' });
  const [id, other] = [await start('one'), await start('two')];
  const before = await lines(id);
  const about = (text: RegExp): number => before.filter((line) => text.test(line)).length;
  t.equal(about(/^#[12]: it had no title/), 2);
  t.equal(about(/^releases: /), 1);
  t.equal(about(/^label A: two labels/), 1);
  t.equal(about(/^to do: Set the secret (?:PASSWORD|of the webhook)/), 2);
  t.equal((await again(other)).length, before.length, 'nothing is mended, and nothing is written twice');

  forge.heal();
  forge.world.labels.pop();
  forge.world.extras.set('/actions/secrets', []);
  const issue = forge.world.issues.find(({ number }) => number === first)!;
  Object.assign(issue, { title: 'A title', updated_at: '2024-02-01T00:00:00Z' });
  t.strictSame(await again(id), [
    `#${second}: it had no title`,
    'to do: Set the secret of the webhook https://ci.example.org/x and switch it on.',
  ]);
  t.equal((await lines(other)).length, before.length, 'those of another import stay');
});

t.test('a name with a sign of a pattern is no pattern', async (t) => {
  const port = await freePort();
  const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` } });
  const { imports } = web.modules;
  const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
  const forge = await startGiteaStub(t, { port });
  const names = ['a%', 'a% off', 'a_', 'ab'];
  const uuid = (at: number): string => `${String(at).padStart(8, '0')}-2222-4333-8444-555555555555`;
  forge.addIssue({ assets: names.map((name, at) => ({ uuid: uuid(at), name })) });
  const { id } = await imports.start(alice, { address: `${forge.url}/bob/tool`, token: forge.world.token });
  await imports.runDue();
  const lines = async (): Promise<string[]> =>
    (await imports.problems((await imports.find(id))!.id)).flatMap(({ item }) => (/^file/.test(item) ? item : []));
  t.strictSame(await lines(), ['file a%', 'file a% off', 'file a_', 'file ab']);
  // Only these come later; the lines about the others are not asked for again.
  for (const at of [0, 2]) forge.files.set(`/attachments/${uuid(at)}`, { body: 'text' });
  const done = names.map((_, at) => at).filter((at) => at % 2 === 1);
  for (const at of done)
    await web.modules.db.write(({ manager }) =>
      manager.query("UPDATE import_items SET fingerprint = 'done {}' WHERE item = ?", [`file:attachments/${uuid(at)}`]),
    );
  await imports.again(alice, id, { isFull: true });
  await imports.runDue();
  t.strictSame(await lines(), ['file a% off', 'file ab']);
});
