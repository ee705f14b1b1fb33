// time limit: 120 s
// The report after a later run: a line about what has been mended goes, one about what still holds stays.
import t from 'tap';
import type { Test } from 'tap';
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

t.test('a source that is archived: once at first, later as a line', async (t) => {
  const port = await freePort();
  const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` } });
  const { imports, repositories } = web.modules;
  const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
  const forge = await startGiteaStub(t, { port, pageSize: 50 });
  const start = async (name: string, watches: boolean): Promise<string> => {
    const address = `${forge.url}/bob/tool`;
    const { id } = await imports.start(alice, {
      address,
      token: forge.world.token,
      name,
      watchMs: watches ? 3_600_000 : null,
    });
    await imports.runDue();
    return id;
  };
  const again = async (id: string): Promise<void> => {
    await imports.again(alice, id, {});
    await imports.runDue();
  };
  const state = async (id: string): Promise<[isArchived: boolean, lines: number]> => {
    const { id: importId } = (await imports.find(id))!;
    const lines = (await imports.problems(importId)).filter(({ item }) => item === 'archived there');
    return [(await repositories.locate([id])).get(id)!.repository.archivedAt !== null, lines.length];
  };
  const [open, watched] = [await start('open', false), await start('watched', true)];
  for (const id of [open, watched]) t.strictSame(await state(id), [false, 0]);

  forge.world.repository['archived'] = true;
  for (const id of [open, watched]) {
    await again(id);
    t.strictSame(await state(id), [false, 1], 'it goes on here');
  }
  t.strictSame(await state(await start('late', false)), [true, 0], 'it was archived when it came');
  t.strictSame(await state(await start('late-watched', true)), [false, 1], 'its watch needs it open');
  await repositories.setArchived(alice, 'alice', 'open', true);
  await again(open);
  t.strictSame(await state(open), [true, 0], 'it is archived here, too');

  forge.world.repository['archived'] = false;
  await again(watched);
  t.strictSame(await state(watched), [false, 0]);
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

t.test('releases: a file with another name, and a release without a tag', async (t) => {
  const { forge, start, again } = await startOne(t);
  forge.setRef('refs/tags/v1', forge.tip());
  const names = ['a/b.txt', 'bell\u0007.txt', `${'x'.repeat(300)}.txt`, 'good.txt', 'cafe\u0301.txt'];
  const at = '2024-01-01T00:00:00Z';
  const row = { body: '', draft: false, prerelease: false, created_at: at, published_at: at };
  const assets = names.map((name, index) => {
    forge.files.set(`/files/${index}`, { body: 'text' });
    return { id: index + 1, name, size: 4, created_at: at, browser_download_url: `${forge.url}/files/${index}` };
  });
  forge.world.releases.push({ ...row, id: 1, tag_name: 'v1', name: 'One', assets });
  forge.world.releases.push({ ...row, id: 2, tag_name: '', name: 'Nightly', assets: [] });
  forge.world.releases.push({ ...row, id: 3, tag_name: ' ', name: '', assets: [] });
  const wanted = [
    'releases: 2 did not arrive. the release “Nightly”: it has no tag there, and every release here needs one; ' +
      'the release 3: it has no tag there, and every release here needs one.',
    'releases: the file a/b.txt of v1 is named a_b.txt here',
    'releases: the file bell\ufffd.txt of v1 is named bell_.txt here',
    `releases: the file ${'x'.repeat(120)}… of v1 is named ${'x'.repeat(120)}… here`,
  ];
  const { id, lines } = await start();
  t.strictSame(lines, wanted);
  t.strictSame(await again(id), wanted, 'a second run says the same');
});

t.test('what was deleted there stays here and is named', async (t) => {
  const { forge, start, again, numbersOf } = await startOne(t);
  const [first, second] = [forge.addIssue(), forge.addIssue()];
  const third = forge.addPull(forge.push('topic'));
  const { id, lines } = await start();
  t.strictSame(lines, []);
  const { issues } = forge.world;
  const whole = [...issues];
  const line = `gone there: the lists of the source no longer have #${second}, #${third}; nothing is deleted here`;
  forge.world.issues = whole.filter(({ number }) => number === first);
  forge.world.pulls = [];
  t.strictSame(await again(id, { isFull: false }), [], 'a list of what is new says nothing');
  t.strictSame(await again(id), [line]);
  t.strictSame(await numbersOf(id), [first, second, third]);
  forge.fail({ pattern: /\/issues\?/, status: 404, times: 1 });
  t.strictSame(await again(id), [line], 'a list that broke off changes nothing');
  forge.world.issues = whole.filter(({ number }) => number !== third);
  t.strictSame(await again(id), [line.replace(`#${second}, `, '')], 'one is back');
});

/** A server, a forge that it may ask, and a repository there. */
async function startOne(t: Test) {
  const port = await freePort();
  const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` } });
  const { imports, db } = web.modules;
  const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
  const forge = await startGiteaStub(t, { port, pageSize: 50 });
  const linesOf = async (id: string): Promise<string[]> => {
    const found = (await imports.find(id))!;
    t.equal(found.state, 'done');
    return (await imports.problems(found.id)).map(({ item, problem }) => `${item}: ${problem}`);
  };
  return {
    forge,
    async start() {
      const { id } = await imports.start(alice, { address: `${forge.url}/bob/tool`, token: forge.world.token });
      await imports.runDue();
      return { id, lines: await linesOf(id) };
    },
    async again(id: string, { isFull = true } = {}) {
      await imports.again(alice, id, { isFull });
      await imports.runDue();
      return linesOf(id);
    },
    async numbersOf(id: string): Promise<number[]> {
      const rows = await db.read.query('SELECT number AS n FROM issues WHERE repository_id = ? ORDER BY number', [id]);
      return rows.map(({ n }: { n: number }) => Number(n));
    },
  };
}
