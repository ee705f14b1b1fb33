// time limit: 120 s
// Imports from a server that answers as GitHub's REST API is described: reactions only where there are any, answers to
// comments, both limits, ETag. It is no GitHub.
import t from 'tap';
import type { PersonViewer } from '../../src/access/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import { createBareRepository, readRefs, startHttpRemote } from '../mirrors/remote-servers.ts';
import type { HttpRemoteServer } from '../mirrors/remote-servers.ts';
import { readBody } from './gitea-stub.ts';

/** What an API answers. */
type Json = ReturnType<typeof JSON.parse>;

t.setTimeout(100_000);

const clock = fixedClock(Date.UTC(2026, 0, 1));
const token = 'secret-token';
let here: Hearth;
let alice: TestPerson;
let viewer: PersonViewer;
let forge: HttpRemoteServer;
/** Rows of each list, by the path behind the repository. */
const lists = new Map<string, Json[]>();
let requests: { path: string; etag: string | undefined; authorization: string | undefined }[] = [];
/** Queries of its GraphQL API, and the next answers in place of the usual ones. */
const queries: Json[] = [];
const graphRefusals: Json[] = [];
const noMore = { hasNextPage: false, endCursor: null };
const threadOf = (comment: number, isResolved: boolean, login: string | null) => ({
  ...{ isResolved, resolvedBy: login === null ? null : { login, url: `https://github.example.org/${login}` } },
  comments: { nodes: [{ id: `PRRC_${comment}` }] },
});
const pages: Record<string, Json> = {
  first: { pageInfo: { hasNextPage: true, endCursor: 'next' }, nodes: [threadOf(20, true, 'carol')] },
  next: { pageInfo: noMore, nodes: [threadOf(22, false, null), threadOf(25, true, null)] },
};
let refuse: ((path: string) => { status: number; headers?: Record<string, string>; body: string } | null) | null = null;

const user = (login: string) => ({ login, id: login.length, html_url: `https://github.example.org/${login}` });
const at = (day: number): string => `2024-01-${String(day).padStart(2, '0')}T00:00:00Z`;
const none = { total_count: 0 };

t.before(async () => {
  const port = await freePort();
  forge = await startHttpRemote(t, { port, password: `x-access-token:${token}` });
  const bare = createBareRepository(forge.folder, 'bob/tool.git');
  here = await startHearth(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: forge.host }, clock });
  alice = await here.addPerson('alice');
  viewer = {
    kind: 'person',
    id: alice.id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  };
  const tip = readRefs(bare).get('refs/heads/main')!;
  lists.set('/issues', [
    {
      number: 1,
      title: 'One',
      body: null,
      user: user('bob'),
      state: 'closed',
      state_reason: 'not_planned',
      labels: [{ name: 'bug' }, 'old'],
      assignees: [],
      locked: true,
      reactions: none,
      created_at: at(1),
      updated_at: at(9),
      closed_at: at(3),
    },
    {
      number: 2,
      title: 'A pull request',
      body: 'From a fork that is gone',
      user: { login: 'ghost', id: 10137 },
      state: 'open',
      labels: [],
      assignees: [],
      locked: false,
      reactions: { total_count: 1, '+1': 1 },
      pull_request: { url: 'x' },
      created_at: at(2),
      updated_at: at(8),
      closed_at: null,
    },
  ]);
  lists.set('/pulls', [
    {
      number: 2,
      head: { ref: 'patch-1', sha: tip, repo: null },
      base: { ref: 'main', sha: tip, repo: { id: 1 } },
      draft: true,
      merged_at: null,
      requested_reviewers: [],
    },
  ]);
  lists.set('/labels', [
    { name: 'bug', color: 'ee0701', description: null },
    { name: 'old', color: 'fff' },
  ]);
  lists.set('/milestones', []);
  lists.set('/issues/comments', [
    {
      id: 5,
      issue_url: 'https://api.github.example.org/repos/bob/tool/issues/1',
      user: user('carol'),
      body: 'A comment',
      reactions: { total_count: 2 },
      created_at: at(2),
      updated_at: at(2),
    },
  ]);
  lists.set('/issues/comments/5/reactions', [
    { content: 'heart', user: user('bob') },
    { content: 'eyes', user: user('carol') },
  ]);
  lists.set('/issues/2/reactions', [{ content: '+1', user: user('carol') }]);
  lists.set('/pulls/2/reviews', [
    { id: 7, user: user('carol'), body: 'Hm', state: 'CHANGES_REQUESTED', commit_id: tip, submitted_at: at(4) },
    { id: 8, user: user('bob'), body: '', state: 'DISMISSED', commit_id: tip, submitted_at: at(5) },
    { id: 9, user: user('bob'), body: 'a draft', state: 'PENDING', commit_id: tip },
  ]);
  const note = {
    pull_request_review_id: 7,
    node_id: 'PRRC_0',
    user: user('carol'),
    path: 'a.txt',
    original_commit_id: tip,
    side: 'RIGHT',
    diff_hunk: '@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n+three',
    created_at: at(4),
    updated_at: at(4),
  };
  lists.set('/pulls/2/comments', [
    { ...note, id: 20, node_id: 'PRRC_20', body: 'first', original_start_line: 2, original_line: 3, line: 30 },
    { ...note, id: 21, body: 'an answer', original_line: 3, in_reply_to_id: 20, created_at: at(5) },
    {
      ...note,
      id: 22,
      node_id: 'PRRC_22',
      body: 'an answer to nothing',
      original_line: 1,
      in_reply_to_id: 99,
      created_at: at(6),
    },
    { ...note, id: 23, body: 'of no review', original_line: 1, pull_request_review_id: null },
    {
      ...note,
      id: 25,
      node_id: 'PRRC_25',
      body: 'one of a circle',
      original_line: 2,
      in_reply_to_id: 26,
      created_at: at(6),
    },
    { ...note, id: 26, body: 'the other one', original_line: 2, in_reply_to_id: 25, created_at: at(6) },
    { ...note, id: 24, body: 'of the file', subject_type: 'file', line: null, created_at: at(7) },
  ]);
  forge.answer = (request, response) => {
    const url = new URL(request.url ?? '/', forge.url);
    if (url.pathname === '/api/graphql' && request.headers.authorization === `token ${token}`) {
      void readBody(request).then((body) => {
        const query = JSON.parse(body);
        queries.push(query.variables);
        const isOfThreads = query.query.includes('reviewThreads');
        const repository = isOfThreads
          ? { pullRequest: { reviewThreads: pages[query.variables.after ?? 'first'] } }
          : { pinnedIssues: { nodes: [{ issue: { number: 1 } }, { issue: null }] } };
        const { status = 200, headers = {}, ...answer } = graphRefusals.shift() ?? { data: { repository } };
        response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(answer));
      });
      return true;
    }
    if (!url.pathname.startsWith('/api/v3/')) return false;
    const { authorization } = request.headers;
    requests.push({ path: url.pathname + url.search, etag: request.headers['if-none-match'], authorization });
    const refused = refuse?.(url.pathname + url.search) ?? null;
    const basic = `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
    const send = (status: number, value: unknown, headers: Record<string, string> = {}): true => {
      response.writeHead(status, {
        'Content-Type': 'application/json',
        Date: new Date(clock.now()).toUTCString(),
        ...headers,
      });
      response.end(value === null ? undefined : JSON.stringify(value));
      return true;
    };
    if (refused !== null) {
      response.writeHead(refused.status, refused.headers ?? {}).end(refused.body);
      return true;
    }
    if (authorization !== `token ${token}` && authorization !== basic) return send(401, { message: 'Bad credentials' });
    const path = url.pathname.slice('/api/v3/repos/bob/tool'.length);
    if (path === '')
      return send(200, {
        name: 'tool',
        description: 'A tool',
        private: false,
        default_branch: 'main',
        topics: ['git'],
      });
    if (/^\/(?:hooks|collaborators|keys|branches|releases)$/.test(path)) return send(200, []);
    if (path === '/actions/secrets') return send(403, { message: 'Must have admin rights' });
    const single = /^\/pulls\/(\d+)$/.exec(path) ?? /^\/issues\/(\d+)$/.exec(path);
    if (single !== null) {
      const found = lists.get(path.slice(0, path.lastIndexOf('/')))!.find((row) => row.number === Number(single[1]));
      return found === undefined ? send(404, {}) : send(200, found);
    }
    const since = Date.parse(url.searchParams.get('since') ?? '');
    const rows = lists.get(path)?.filter((row) => Number.isNaN(since) || Date.parse(row.updated_at) >= since);
    if (rows === undefined) return send(404, { message: 'Not Found' });
    const etag = `W/"${JSON.stringify(rows).length}"`;
    if (request.headers['if-none-match'] === etag) return send(304, null, { ETag: etag });
    return send(200, rows, { ETag: etag });
  };
});

const api = async (path: string): Promise<Json> =>
  (
    await fetch(`${here.url}/api/v1/repos/alice/tool${path}`, { headers: { Authorization: `token ${alice.token}` } })
  ).json();

let id: string;

t.test('GitHub’s limits are told from a lack of rights, and waited for', async (t) => {
  const reset = Math.floor(clock.now() / 1_000) + 300;
  let sent = 0;
  refuse = (path) => {
    sent += 1;
    if (!/\/issues\?/.test(path) || sent > 100) return null;
    return {
      status: 403,
      headers: { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(reset) },
      body: '{"message":"API rate limit exceeded"}',
    };
  };
  ({ id } = await here.modules.imports.start(viewer, {
    address: `${forge.url}/bob/tool`,
    kind: 'github',
    token,
    watchMs: 60_000,
  }));
  await here.modules.imports.runDue();
  t.match(await here.modules.imports.find(id), { state: 'running', waitsUntil: reset * 1_000 });
  clock.advance(301_000);
  refuse = (path) =>
    /\/pulls\?/.test(path)
      ? { status: 403, body: '{"message":"You have exceeded a secondary rate limit. Please wait."}' }
      : null;
  await here.modules.imports.runDue();
  t.match(await here.modules.imports.find(id), { state: 'running', phase: 'pulls', waitsUntil: clock.now() + 60_000 });
  clock.advance(61_000);
  refuse = null;
  const graphLimit = Math.floor(clock.now() / 1_000) + 90;
  graphRefusals.push({ status: 502 }, { data: null, errors: [{ type: 'RATE_LIMITED', message: 'API rate limit' }] });
  graphRefusals.at(-1).headers = { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(graphLimit) };
  await here.modules.imports.runDue();
  t.match(await here.modules.imports.find(id), { state: 'running', waitsUntil: graphLimit * 1_000 });
  clock.advance(91_000);
  await here.modules.imports.runDue();
  t.match(await here.modules.imports.find(id), { state: 'done', run: 1, lastError: null });
  const problems = await here.modules.imports.problems((await here.modules.imports.find(id))!.id);
  t.strictSame(
    problems.map(({ item, problem }) => `${item}: ${problem}`),
    ['#2: the comment 23 belongs to no review and was left out', 'secrets: the token may not read them there'],
  );
});

t.test('issues, comments, reactions and reviews are as they are there', async (t) => {
  t.match(await api(''), { private: false, description: 'A tool' });
  t.match(await api('/issues/1'), {
    state: 'closed',
    close_reason: 'not_planned',
    is_locked: true,
    body: '',
    labels: [{ name: 'bug' }, { name: 'old', color: 'ffffff' }],
  });
  t.match(await api('/issues/1/comments'), [{ body: 'A comment', original_author: `carol@${forge.host}` }]);
  t.match(await api('/issues/2'), { original_author: '', title: 'A pull request' });
  const asked = requests.filter(({ path }) => /reactions/.test(path)).map(({ path }) => path.replace(/\?.*/, ''));
  t.strictSame(
    [...new Set(asked)].sort(),
    ['/api/v3/repos/bob/tool/issues/2/reactions', '/api/v3/repos/bob/tool/issues/comments/5/reactions'],
    'only where the list has some',
  );
  const reviews = await api('/pulls/2/reviews');
  t.match(reviews, [
    { state: 'REQUEST_CHANGES', body: 'Hm', dismissed: false },
    { body: '', dismissed: true },
  ]);
  t.equal(reviews.length, 2);
  const threads = await here.modules.db.read.query(
    `SELECT t.first_line AS first, t.last_line AS last, t.quoted AS quoted, count(*) AS comments FROM review_threads t
     JOIN review_comments c ON c.thread_id = t.id GROUP BY t.id ORDER BY t.created_at, t.id`,
  );
  t.strictSame(
    threads.map((row: Json) => [row.first, row.last, row.quoted, row.comments]),
    [
      [2, 3, 'TWO\nthree', 2],
      [1, 1, 'three', 1],
      [2, 2, 'three', 2],
      [null, null, '', 1],
    ],
  );
});

t.test('pins and resolved threads come by its GraphQL API', async (t) => {
  const resolved = await here.modules.db.read.query(
    `SELECT first_line AS line, resolved_by_name AS name FROM review_threads
     WHERE resolved_at IS NOT NULL ORDER BY created_at, id`,
  );
  t.strictSame(
    resolved.map(({ line, name }: Json) => [line, name]),
    [
      [2, `carol@${forge.host}`],
      [2, null],
    ],
  );
  t.ok((await api('/issues/1')).pin_order > 0);
  t.equal((await api('/issues/2')).pin_order, 0);
  const where = { owner: 'bob', name: 'tool' };
  t.strictSame(queries.filter(({ number }) => number !== undefined).slice(-2), [
    { ...where, number: 2, after: null },
    { ...where, number: 2, after: 'next' },
  ]);

  graphRefusals.push({ status: 403, message: 'Resource not accessible by personal access token' });
  const first = queries.length;
  await here.modules.imports.again(viewer, id, { isFull: true });
  await here.modules.imports.runDue();
  t.match(await here.modules.imports.find(id), { state: 'done', lastError: null });
  const problems = await here.modules.imports.problems((await here.modules.imports.find(id))!.id);
  t.match(
    problems.filter(({ item }) => item === 'pins and threads').map(({ problem }) => problem),
    [/^pins and the resolution of threads did not come: .*does not have the required permission/],
  );
  t.equal(queries.length, first + 1, 'asked once');
  const { problems: dry } = await here.modules.imports.try({ address: `${forge.url}/bob/tool`, kind: 'github', token });
  t.notOk(dry.some(({ item }) => item === 'pins and threads'));
});

t.test('a list that has not changed is answered by its ETag', async (t) => {
  clock.advance(60_000);
  await here.modules.imports.runDue();
  requests = [];
  clock.advance(60_000);
  await here.modules.imports.runDue();
  const found = (await here.modules.imports.find(id))!;
  t.match(found, { state: 'done', run: 4, progress: { written: 0 } });
  const listed = requests.filter(({ path }) => /\/issues(?:\/comments)?\?/.test(path));
  t.equal(listed.length, 2);
  for (const { path, etag } of listed) t.match(etag, /^W\//, path);
  t.ok(requests.length <= 8, `${requests.length} requests`);
});
