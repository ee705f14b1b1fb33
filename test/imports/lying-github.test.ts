// time limit: 240 s
// A GitHub that lies: numbers twice, circles, long texts, gone accounts and commits, times in the future, pages in
// place of files, cursors that are dead, limits, redirects and rights that end. A clear line each in the report,
// nothing half is seen, and everything else comes. It is a stub, and no GitHub.
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';
import { createBareRepository, readRefs, startHttpRemote } from '../mirrors/remote-servers.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { stubGit } from './stub-git.ts';

/** What an API answers. */
type Json = ReturnType<typeof JSON.parse>;
type Refusal = (url: URL, response: ServerResponse) => boolean;

t.setTimeout(230_000);

const [port, other] = [await freePort(), await freePort()];
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port},127.0.0.1:${other}` } });
const { imports, db } = web.modules;
const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
const anonymous = visitor(web);
const token = 'secret-token';
const forge = await startHttpRemote(t, { port, password: `x-access-token:${token}` });
const bare = createBareRepository(forge.folder, 'bob/tool.git');
const { git, commitFile } = stubGit(bare);
const tip = readRefs(bare).get('refs/heads/main')!;
/** Rows of each list, by the path behind the repository. */
let lists: Map<string, Json[]>;
let refuse: Refusal = () => false;

const user = (login: string) => ({ login, id: login.length });
const at = (day: number): string => `2024-01-${String(day).padStart(2, '0')}T00:00:00Z`;
const issue = (number: number, title: string, more: Json = {}) => ({
  ...{ number, title, body: '', user: user('bob'), state: 'open', labels: [], assignees: [], locked: false },
  ...{ reactions: { total_count: 0 }, created_at: at(number), updated_at: at(number), closed_at: null, ...more },
});
const comment = (id: number, body: string, more: Json = {}) => ({
  ...{ id, issue_url: `${forge.url}/api/v3/repos/bob/tool/issues/1`, user: user('carol'), body },
  ...{ reactions: { total_count: 0 }, created_at: at(2), updated_at: at(2), ...more },
});
const pull = (number: number, sha: string) => ({
  ...{ number, head: { ref: 'topic', sha, repo: { id: 1 } }, base: { ref: 'main', sha: tip, repo: { id: 1 } } },
  ...{ draft: false, merged_at: null, requested_reviewers: [] },
});

forge.answer = (request, response) => {
  const url = new URL(request.url ?? '/', forge.url);
  if (refuse(url, response)) return true;
  if (!url.pathname.startsWith('/api/v3/')) return false;
  const send = (status: number, value: unknown): true => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    return true;
  };
  const { authorization = '' } = request.headers;
  if (authorization !== `token ${token}` && !authorization.startsWith('Basic ')) return send(401, { message: 'No' });
  const path = url.pathname.slice('/api/v3/repos/bob/tool'.length);
  if (path === '') return send(200, { name: 'tool', private: false, default_branch: 'main', topics: [] });
  const [, list = '', number] = /^(\/pulls|\/issues)\/(\d+)$/.exec(path) ?? [];
  const rows = lists.get(list === '' ? path : list) ?? [];
  if (list === '') return send(200, rows);
  const found = rows.find((row) => row.number === Number(number));
  return found === undefined ? send(404, { message: 'Not Found' }) : send(200, found);
};

let count = 0;
async function start(): Promise<{ id: string; name: string }> {
  count += 1;
  const name = `tool-${count}`;
  const address = `${forge.url}/bob/tool`;
  const { id } = await imports.start(alice, { address, kind: 'github', token, name, watchMs: 60_000 });
  await imports.runDue();
  return { id, name };
}
const find = async (id: string) => (await imports.find(id))!;
async function linesOf(id: string): Promise<string> {
  const problems = await imports.problems((await find(id)).id);
  return problems.map(({ item, problem }) => `${item}: ${problem}`).join('\n');
}
const read = async (text: string, id: string): Promise<Json[]> => db.read.query(text, [id]);
const titles = async (id: string): Promise<string[]> =>
  (await read('SELECT title AS title FROM issues WHERE repository_id = ? ORDER BY number', id)).map(
    ({ title }) => title,
  );

t.beforeEach(() => {
  refuse = () => false;
  lists = new Map([
    ['/issues', [issue(1, 'First')]],
    ['/issues/comments', [comment(1, 'A comment')]],
  ]);
});

t.test('each lie is a line of the report, and everything else comes', async (t) => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'b'.repeat(64)}\nsize 12\n`;
  const head = commitFile(tip, 'a change\n');
  git('update-ref', 'refs/pull/5/head', head);
  git('update-ref', 'refs/heads/main', commitFile(tip, pointer));
  git('update-ref', 'refs/tags/v1', tip);
  t.teardown(() => git('update-ref', 'refs/heads/main', tip));
  lists
    .get('/issues')!
    .push(
      issue(1, 'Twice', { created_at: at(9) }),
      issue(2, 'Later', { created_at: '2098-01-01T00:00:00Z', updated_at: '2098-01-01T00:00:00Z' }),
      issue(3, 'A bell \u0007'),
      { number: 'seven' },
      issue(4, 'Gone', { pull_request: {} }),
      issue(5, 'Here', { pull_request: {} }),
    );
  lists.set('/pulls', [pull(4, 'a'.repeat(40)), pull(5, head)]);
  lists
    .get('/issues/comments')!
    .push(
      comment(2, 'x'.repeat(1024 * 1024)),
      comment(3, 'by an account that is gone', { user: null }),
      comment(4, 'later', { created_at: '2099-01-01T00:00:00Z', updated_at: '2099-01-01T00:00:00Z' }),
    );
  const note = { pull_request_review_id: 7, user: user('carol'), path: 'notes.txt', original_commit_id: head };
  lists.set('/pulls/5/reviews', [
    { id: 7, user: user('carol'), body: '', state: 'COMMENTED', commit_id: head, submitted_at: at(6) },
  ]);
  lists.set(
    '/pulls/5/comments',
    [
      { id: 20, body: 'one of a circle', in_reply_to_id: 21 },
      { id: 21, body: 'the other one', in_reply_to_id: 20 },
    ].map((each) => ({ ...note, original_line: 1, created_at: at(6), updated_at: at(6), ...each })),
  );
  lists.set('/labels', [
    { name: 'a', color: 'none' },
    { name: 'A', color: '00ff00' },
  ]);
  lists.set('/milestones', [{ title: 'm'.repeat(300), state: 'open', created_at: at(1) }]);
  lists.set('/releases', [
    {
      ...{ id: 1, tag_name: 'v1', name: 'One', body: '', draft: false, prerelease: false, created_at: at(1) },
      ...{ published_at: at(1), author: user('bob') },
      assets: [
        {
          ...{ id: 1, name: 'tool.tar.gz', size: 10, state: 'uploaded', content_type: 'application/gzip' },
          url: `${forge.url}/api/v3/repos/bob/tool/releases/assets/1`,
          browser_download_url: `${forge.url}/bob/tool/releases/download/v1/tool.tar.gz`,
        },
      ],
    },
  ]);
  refuse = ({ pathname }, response) => {
    const isFile = /tool\.tar\.gz$|\/assets\/1$/.test(pathname);
    const isLfs = /info\/lfs/.test(pathname);
    if (!isFile && !isLfs) return false;
    const objects = [{ oid: 'b'.repeat(64), size: 12, error: { code: 404, message: 'Object does not exist' } }];
    response.writeHead(200, { 'Content-Type': isFile ? 'text/html' : 'application/vnd.git-lfs+json' });
    response.end(isFile ? '<h1>Sign in</h1>' : JSON.stringify({ objects }));
    return true;
  };
  const { id, name } = await start();
  t.match(await find(id), { state: 'done', lastError: null });
  const lines = await linesOf(id);
  for (const wanted of [
    /^#1: came twice with different content; the later one counts/m,
    /^#1: the comment 2 is longer than 256 KiB and was cut/m,
    /^#1: the comment 4 has a time in the future, 2099-01-01; it became now/m,
    /^#2: it has a time in the future, 2098-01-01; it became now/m,
    /^#3: its title became "A bell"/m,
    /^#4: the commits of this pull request are gone; its talk came as an issue/m,
    /^Git LFS: /m,
    /^label A: two labels have this name here; the first one counts/m,
    /^milestone m+.*: its title was cut/m,
    /^releases: .*tool\.tar\.gz/m,
  ])
    t.match(lines, wanted);
  t.strictSame(await titles(id), ['Twice', 'Later', 'A bell', 'Gone', 'Here']);
  const bodies = await read(
    `SELECT c.body AS body FROM review_comments c JOIN review_threads h ON h.id = c.thread_id
     JOIN issues i ON i.id = h.issue_id WHERE i.repository_id = ? ORDER BY c.body`,
    id,
  );
  t.strictSame(
    bodies.map(({ body }) => body),
    ['one of a circle', 'the other one'],
  );
  const releases = await read('SELECT tag AS tag FROM releases WHERE repository_id = ?', id);
  t.equal(releases.length, 1, 'the release comes without its file');
  t.equal((await anonymous.get(`/repos/alice/${name}`)).status, 200, 'public, since everything is here');
});

t.test('a cursor that is dead begins the list again, and what is here stays', async (t) => {
  let asked = 0;
  refuse = (url, response) => {
    if (url.pathname !== '/api/v3/repos/bob/tool/issues/comments' || url.searchParams.has('since')) return false;
    asked += 1;
    if (url.searchParams.has('after')) response.writeHead(422).end('{"message":"The cursor is gone"}');
    else {
      const link = asked === 1 ? { Link: `<${url.href}&after=abc>; rel="next"` } : {};
      response.writeHead(200, { 'Content-Type': 'application/json', ...link });
      response.end(JSON.stringify([comment(asked === 1 ? 1 : 2, `page ${asked}`)]));
    }
    return true;
  };
  const { id } = await start();
  t.match(await find(id), { state: 'done', lastError: null });
  const rows = await read(
    `SELECT e.body AS body FROM issue_entries e JOIN issues i ON i.id = e.issue_id
     WHERE i.repository_id = ? AND e.kind = 'comment' ORDER BY e.position`,
    id,
  );
  t.strictSame(
    rows.map(({ body }) => body),
    ['page 1', 'page 3'],
  );
});

t.test('what breaks off waits or is asked for again; until then nothing is seen', async (t) => {
  const tokens: (string | undefined)[] = [];
  const foreign = createServer((request, response) => {
    tokens.push(request.headers.authorization);
    response.end('[]');
  });
  await new Promise<void>((resolve) => foreign.listen(other, '127.0.0.1', resolve));
  t.teardown(() => foreign.close());
  const secondary = '{"message":"You have exceeded a secondary rate limit."}';
  const rows: [what: string, pattern: RegExp, status: number, headers: Json, body: string, state: object][] = [
    [
      'rights lost',
      /comments\?/,
      403,
      {},
      '{}',
      { state: 'paused', lastError: /does not have the required permission on/ },
    ],
    ['a token that ends', /labels\?/, 401, {}, '{}', { state: 'paused', lastError: /does not accept the token/ }],
    ['a secondary limit', /comments\?/, 403, {}, secondary, { state: 'running', waitsUntil: Number }],
    ['a limit', /issues\?/, 429, { 'Retry-After': '60' }, '{}', { state: 'running', waitsUntil: Number }],
    ['an answer that is cut off', /issues\?/, 200, {}, '[{"number"', { lastError: /is not JSON, or is cut off/ }],
    [
      'a redirect elsewhere',
      /issues\?/,
      301,
      { Location: `http://127.0.0.1:${other}/repositories/1` },
      '',
      { lastError: /redirects to 127\.0\.0\.1:\d+, which is not followed/ },
    ],
    [
      'a redirect inside',
      /milestones\?/,
      302,
      { Location: 'http://169.254.169.254/' },
      '',
      { lastError: /redirects to 169\.254\.169\.254/ },
    ],
  ];
  for (const [what, pattern, status, headers, body, state] of rows) {
    refuse = ({ pathname, search }, response) => {
      if (!pattern.test(pathname + search)) return false;
      response.writeHead(status, headers).end(body);
      return true;
    };
    const { id, name } = await start();
    t.match(await find(id), state, what);
    t.equal((await anonymous.get(`/repos/alice/${name}`)).status, 404, `${what}: not seen`);
    refuse = () => false;
    web.clock.advance(3_600_000);
    await imports.again(alice, id, {});
    await imports.runDue();
    t.match(await find(id), { state: 'done', lastError: null }, `${what}: goes on`);
    t.strictSame(await titles(id), ['First'], what);
    t.equal((await anonymous.get(`/repos/alice/${name}`)).status, 200, `${what}: seen`);
  }
  t.strictSame(tokens, [], 'no other origin was asked');
});

t.test('an issue that was transferred is answered as one of the other repository, and does not come', async (t) => {
  lists
    .get('/issues/comments')!
    .push(
      comment(2, 'left behind', { issue_url: `${forge.url}/api/v3/repos/bob/tool/issues/7` }),
      comment(3, 'left behind, too', { issue_url: `${forge.url}/api/v3/repos/bob/tool/issues/8` }),
    );
  const home = `${forge.url}/api/v3/repos/bob`;
  refuse = ({ pathname }, response) => {
    const send = (value: Json): true => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
      return true;
    };
    const repository = { name: 'tool', private: false, default_branch: 'main', topics: [], url: `${home}/tool` };
    if (pathname === '/api/v3/repos/bob/tool') return send(repository);
    if (pathname === '/api/v3/repositories/9/issues/1')
      return send(issue(1, 'A secret of the other one', { repository_url: `${home}/other` }));
    if (pathname === '/api/v3/repositories/9/issues/8')
      return send(issue(8, 'Another secret', { repository_url: `${home}/other` }));
    const [, number] = /tool\/issues\/([78])$/.exec(pathname) ?? [];
    if (number === undefined) return false;
    const to = `${forge.url}/api/v3/repositories/9/issues/${number === '7' ? 1 : 8}`;
    response.writeHead(301, { Location: to }).end();
    return true;
  };
  const { id } = await start();
  t.match(await find(id), { state: 'done', lastError: null });
  t.strictSame(await titles(id), ['First']);
  t.match(await linesOf(id), /^#7: .*moved elsewhere\n#8: .*moved elsewhere/m);
});

t.test('lists of reactions, variables and secrets come to their end', async (t) => {
  const page = <Row>(url: URL, rows: readonly Row[], response: ServerResponse, wrap = (some: Row[]): Json => some) => {
    const at = Number(url.searchParams.get('page') ?? 1);
    const next = new URL(url);
    next.searchParams.set('page', String(at + 1));
    const link = at * 30 < rows.length ? { Link: `<${next.href}>; rel="next"` } : {};
    response.writeHead(200, { 'Content-Type': 'application/json', ...link });
    response.end(JSON.stringify(wrap(rows.slice((at - 1) * 30, at * 30))));
    return true;
  };
  const many = (what: string) => Array.from({ length: 40 }, (_, at) => ({ name: `${what}_${at + 100}`, value: 'x' }));
  lists.get('/issues')![0].reactions.total_count = 40;
  refuse = (url, response) => {
    if (url.pathname.endsWith('/issues/1/reactions'))
      return page(
        url,
        Array.from({ length: 40 }, (_, at) => ({ content: 'heart', user: { login: `fan-${at}`, id: 1_000 + at } })),
        response,
      );
    const [, what] = /\/actions\/(variables|secrets)$/.exec(url.pathname) ?? [];
    if (what === undefined) return false;
    const key = what;
    return page(url, many(what.toUpperCase()), response, (some) => ({ total_count: 40, [key]: some }));
  };
  const { id } = await start();
  t.match(await find(id), { state: 'done', lastError: null });
  const [reactions] = await read(
    `SELECT count(*) AS n FROM imported_reactions r JOIN issues i ON i.id = r.issue_id WHERE i.repository_id = ?`,
    id,
  );
  t.equal(Number(reactions.n), 40);
  const variables = await web.modules.ci.variables.list({ kind: 'repository', id });
  t.equal(variables.length, 40);
  t.equal((await linesOf(id)).match(/Set the secret SECRETS_/g)?.length, 40);
});
