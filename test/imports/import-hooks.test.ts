// time limit: 200 s
// A followed import has a webhook at its source where the token may make one: a call begins the next run early, at most
// once a minute; it ends with the watch. Nothing of what is sent is believed, and a wrong secret is answered as an
// import that does not exist.
import t from 'tap';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { startGiteaStub } from './gitea-stub.ts';
import { gitlabProject, startGitlabStub } from './gitlab-stub.ts';

t.setTimeout(180_000);

const ports = [await freePort(), await freePort()] as const;
const web = await startWeb(t, {
  env: {
    SERVICE_MIRRORS_ALLOWED_HOSTS: ports.map((port) => `127.0.0.1:${port}`).join(','),
    SERVICE_BASE_URL: 'https://hearth.example.org',
  },
});
const { imports, db } = web.modules;
const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
const day = 24 * 3_600_000;
const importOf = async (repositoryId: string) => (await imports.find(repositoryId))!;
const call = async (address: string, body = '{}'): Promise<string> => {
  const { pathname } = new URL(address);
  const response = await fetch(`http://127.0.0.1:${web.port}${pathname}`, { method: 'POST', body });
  return `${response.status} ${await response.text()}`;
};
const lastRunAt = (importId: string, finishedAt: number): Promise<unknown> =>
  db.write(({ manager }) => manager.query('UPDATE imports SET finished_at = ? WHERE id = ?', [finishedAt, importId]));

t.test('a webhook at Gitea', async (t) => {
  const forge = await startGiteaStub(t, { port: ports[0] });
  forge.addRepository('bob/other');
  const start = async (project: string, watchMs: number | null): Promise<string> => {
    const { id } = await imports.start(alice, {
      address: `${forge.url}/${project}`,
      token: forge.world.token,
      watchMs,
    });
    await imports.runDue();
    t.match(await importOf(id), { state: 'done', lastError: null });
    return id;
  };
  const urls = (): unknown[] => forge.world.hooks.map((hook) => (hook['config'] as { url: string }).url);
  const unwatched = await start('bob/other', null);
  const id = await start('bob/tool', day);
  const { id: importId } = await importOf(id);
  t.equal(urls().length, 1);
  const [url] = urls() as [string];
  t.match(url, new RegExp(`^https://hearth\\.example\\.org/repos/import/${importId}/changes/[0-9a-f]{64}$`));
  t.strictSame(
    (await imports.problems(importId)).filter(({ item }) => item !== 'to do'),
    [],
  );

  await imports.again(alice, id, { isFull: true });
  await imports.runDue();
  t.equal(urls().length, 1, 'made once');
  t.strictSame(await web.modules.webhooks.list({ kind: 'repository', id }), [], 'it is no webhook of this repository');
  t.strictSame(await imports.problems(importId), [], 'and nothing to switch on');

  const unknown = url.replace(importId, '00000000-0000-4000-8000-000000000000');
  const foreign = url.replace(importId, (await importOf(unwatched)).id);
  const wrong = url.replace(/.{8}$/, '00000000');
  const answers = new Set<string>();
  for (const address of [unknown, foreign, wrong, `${url}0`, url.replace(/[0-9a-f]{64}$/, 'x')])
    answers.add(await call(address));
  t.equal(answers.size, 1, 'each wrong one alike');
  t.match([...answers][0], /^404 /);

  const before = (await importOf(id)).nextAt;
  t.match(await call(url, 'x'.repeat(100_000)), /^200 /);
  const early = await importOf(id);
  t.equal(early.nextAt, early.finishedAt! + 60_000, 'not within a minute of the last run');
  t.ok(early.nextAt < before);
  await call(url);
  t.equal((await importOf(id)).nextAt, early.nextAt, 'a second call changes nothing');
  await lastRunAt(importId, early.finishedAt! - day);
  forge.addIssue({ title: 'found at once' });
  t.match(await call(url), /^200 /);
  await imports.runDue();
  const rows: { title: string }[] = await db.read.query('SELECT title FROM issues WHERE repository_id = ?', [id]);
  t.strictSame(
    rows.map(({ title }) => title),
    ['found at once'],
  );

  await imports.again(alice, id, { isLast: true });
  await imports.runDue();
  t.match(await importOf(id), { state: 'ended' });
  t.strictSame(urls(), [], 'it ends with the watch');
  t.match(await call(url), /^404 /);
});

t.test('a token that may not, and an import that is ended by hand', async (t) => {
  const forge = await startGitlabStub(t, { port: ports[1] });
  const start = { address: `${forge.url}/${gitlabProject}`, token: forge.world.token, watchMs: day };
  forge.refusals.push({ pattern: /\/hooks$/, status: 403, headers: {} });
  const { id: refused } = await imports.start(alice, { ...start, name: 'refused' });
  await imports.runDue();
  const lines = await imports.problems((await importOf(refused)).id);
  t.ok(lines.some(({ item, problem }) => item === 'hook' && /may not make a webhook/.test(problem)));
  t.match(await importOf(refused), { state: 'done', watchMs: day }, 'it is asked again and again');

  forge.refusals.splice(0, 1, { pattern: /\/archive$/, status: 403, headers: {} });
  await imports.again(alice, refused, { isLast: true, archivesSource: true });
  await imports.runDue();
  t.match(await importOf(refused), { state: 'ended' });
  const last = (await imports.problems((await importOf(refused)).id)).map(({ item, problem }) => `${item}: ${problem}`);
  t.strictSame(last, [`to do: Archive ${forge.url}/${gitlabProject}: the token may not do it.`]);

  forge.refusals.splice(0);
  const { id } = await imports.start(alice, { ...start, name: 'ended' });
  await imports.runDue();
  const hooks = forge.world.lists.get('/hooks')!;
  t.match(hooks, [{ url: /^https:\/\/hearth\.example\.org\/repos\/import\//, note_events: true }]);
  await imports.end(alice, id);
  t.strictSame(hooks, []);
});
