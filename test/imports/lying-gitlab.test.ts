// time limit: 180 s
// A GitLab that lies: numbers twice, circles, long texts, gone accounts and commits, times in the future, redirects and
// rights that end. A clear line each in the report, nothing half is seen, and everything else comes.
import { createServer } from 'node:http';
import t from 'tap';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { gitlabProject, gitlabUser, startGitlabStub } from './gitlab-stub.ts';

/** What an API answers. */
type Json = ReturnType<typeof JSON.parse>;

t.setTimeout(160_000);

const [port, other] = [await freePort(), await freePort()];
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port},127.0.0.1:${other}` } });
const { imports, db } = web.modules;
const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
const anonymous = visitor(web);
const forge = await startGitlabStub(t, { port, pageSize: 50 });
forge.world.project['visibility'] = 'public';

let count = 0;
async function start(): Promise<{ id: string; name: string }> {
  count += 1;
  const name = `app-${count}`;
  const { id } = await imports.start(alice, {
    address: `${forge.url}/${gitlabProject}`,
    token: forge.world.token,
    name,
  });
  await imports.runDue();
  return { id, name };
}
const find = async (id: string) => (await imports.find(id))!;
async function linesOf(id: string): Promise<string[]> {
  const problems = await imports.problems((await find(id)).id);
  return problems.filter(({ item }) => item !== 'to do').map(({ item, problem }) => `${item}: ${problem}`);
}
const read = async (text: string, id: string): Promise<Json[]> => db.read.query(text, [id]);
const titles = async (id: string): Promise<string[]> =>
  (await read('SELECT title AS title FROM issues WHERE repository_id = ? ORDER BY number', id)).map(
    ({ title }) => title,
  );

t.test('each lie is a line of the report, and everything else comes', async (t) => {
  const { world } = forge;
  const first = forge.addIssue({ title: 'First' });
  forge.addNote('issues', first, 'x'.repeat(1024 * 1024));
  forge.addNote('issues', first, 'by an account that is gone', { author: null });
  forge.addNote('issues', first, 'later', { created_at: '2099-01-01T00:00:00Z', updated_at: '2099-01-01T00:00:00Z' });
  forge.addIssue({ title: 'Later', created_at: '2098-01-01T00:00:00Z', updated_at: '2098-01-01T00:00:00Z' });
  world.issues.push({ ...world.issues[0], title: 'Twice', created_at: '2023-01-01T00:00:00Z' });
  world.issues.push({ iid: 'seven' }, { iid: -1, title: 'below' });
  const lost = forge.addMerge([forge.tip()], { title: 'Gone' });
  Object.assign(world.merge_requests.find(({ iid }) => iid === lost)!, {
    sha: 'a'.repeat(40),
    diff_refs: { base_sha: forge.tip(), start_sha: forge.tip(), head_sha: 'a'.repeat(40) },
  });
  world.versions.set(lost, []);
  world.lists.get('/labels')!.push({ name: 'l'.repeat(300), color: 'none' }, { name: 'a' }, { name: 'A' });
  const { id, name } = await start();
  t.match(await find(id), { state: 'done', lastError: null });
  const lines = (await linesOf(id)).join('\n');
  for (const wanted of [
    /^#1: came twice with different content; the later one counts/m,
    /^#1: the comment \d+ is longer than 256 KiB and was cut/m,
    /^#1: the comment \d+ has a time in the future, 2099-01-01; it became now/m,
    /^#2: it has a time in the future, 2098-01-01; it became now/m,
    /^#3: the commits of this pull request are gone; its talk came as an issue/m,
    /^label [aA]: two labels have this name here/m,
  ])
    t.match(lines, wanted);
  t.strictSame(await titles(id), ['Twice', 'Later', 'Gone']);
  const comments = await read(
    `SELECT e.author_name AS name, e.author_id AS id, length(e.body) AS bytes FROM issue_entries e
     JOIN issues i ON i.id = e.issue_id WHERE i.repository_id = ? AND e.kind = 'comment' ORDER BY e.position`,
    id,
  );
  t.equal(comments.length, 3, 'those that are cut or have no author come, too');
  t.ok(comments.some(({ name: by, id: account }) => !by && account === null));
  t.ok(comments.every(({ bytes }) => Number(bytes) <= 256 * 1024));
  const late = await read('SELECT created_at AS at FROM issues WHERE repository_id = ?', id);
  t.ok(late.every(({ at }) => Number(at) <= web.clock.now()));
  t.equal((await anonymous.get(`/repos/alice/${name}`)).status, 200, 'public, since everything is here');
});

t.test('what breaks off waits or is asked for again; until then nothing is seen', async (t) => {
  forge.world.issues.splice(0);
  forge.world.merge_requests.splice(0);
  forge.world.discussions.clear();
  forge.addIssue({ title: 'First' });
  forge.addNote('issues', 1, 'a comment', { author: gitlabUser('bob') });
  const tokens: (string | undefined)[] = [];
  const foreign = createServer((request, response) => {
    tokens.push(request.headers.authorization);
    response.end('[]');
  });
  await new Promise<void>((resolve) => foreign.listen(other, '127.0.0.1', resolve));
  t.teardown(() => foreign.close());
  const rows: [what: string, pattern: RegExp, status: number, headers: Record<string, string>, state: object][] = [
    [
      'rights that are lost',
      /discussions/,
      403,
      {},
      { state: 'paused', lastError: /does not have the required permission on/ },
    ],
    ['a token that ends', /labels/, 401, {}, { state: 'paused', lastError: /does not accept the token/ }],
    [
      'a redirect elsewhere',
      /issues\?/,
      302,
      { Location: `http://127.0.0.1:${other}/api/v4/x` },
      { lastError: /redirects to 127\.0\.0\.1:\d+, which is not followed/ },
    ],
    [
      'a redirect inside',
      /milestones/,
      302,
      { Location: 'http://169.254.169.254/' },
      { lastError: /redirects to 169\.254\.169\.254/ },
    ],
    ['a limit', /issues\?/, 429, { 'Retry-After': '60' }, { state: 'running', waitsUntil: Number }],
  ];
  for (const [what, pattern, status, headers, state] of rows) {
    forge.refusals.push({ pattern, status, headers });
    const { id, name } = await start();
    t.match(await find(id), state, what);
    t.equal((await anonymous.get(`/repos/alice/${name}`)).status, 404, `${what}: not seen`);
    forge.refusals.splice(0);
    web.clock.advance(3_600_000);
    await imports.again(alice, id, {});
    await imports.runDue();
    t.match(await find(id), { state: 'done', lastError: null, run: 1 }, `${what}: goes on`);
    t.strictSame(await titles(id), ['First'], what);
    t.equal((await anonymous.get(`/repos/alice/${name}`)).status, 200, `${what}: seen`);
  }
  t.strictSame(tokens, [], 'no other origin was asked');
});
