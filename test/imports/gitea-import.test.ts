// time limit: 180 s
// Imports from a server that answers as Gitea's API describes: everything once, changes later, and what goes wrong.
import t from 'tap';
import type { PersonViewer } from '../../src/access/index.ts';
import type { NewImport } from '../../src/imports/index.ts';
import { reasonOf } from '../ci/ci-fixture.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { startHttpRemote } from '../mirrors/remote-servers.ts';
import { startGiteaStub, user } from './gitea-stub.ts';
import type { GiteaStub } from './gitea-stub.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

/** What an API answers. */
type Json = ReturnType<typeof JSON.parse>;

t.setTimeout(150_000);

let here: Hearth;
let alice: TestPerson;
let viewer: PersonViewer;
const clock = fixedClock(Date.UTC(2026, 0, 1));

const viewerOf = ({ id, username }: TestPerson): PersonViewer => ({
  kind: 'person',
  id,
  username,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});

// Hosts are named before the server starts.
const ports: number[] = [];
const allowed = (): string => [...ports, otherPort].map((port) => `127.0.0.1:${port}`).join(',');
let otherPort: number;
const newForge = (t: Owner, more: { pageSize?: number } = {}) =>
  startGiteaStub(t, { port: ports[(forges += 1)]!, ...more });
let forges = 0;

t.before(async () => {
  for (let at = 0; at < 16; at += 1) ports.push(await freePort());
  otherPort = await freePort();
  here = await startHearth(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: allowed() }, clock });
  alice = await here.addPerson('alice');
  viewer = viewerOf(alice);
});

let count = 0;

async function start(forge: GiteaStub, more: Partial<NewImport> = {}) {
  count += 1;
  const name = `tool-${count}`;
  const { id } = await here.modules.imports.start(viewer, {
    address: `${forge.url}/bob/tool`,
    token: forge.world.token,
    name,
    ...more,
  });
  await here.modules.imports.runDue();
  return { id, name };
}

async function run(id: string, wish = {}): Promise<void> {
  await here.modules.imports.again(viewer, id, wish);
  await here.modules.imports.runDue();
}

const find = async (id: string) => (await here.modules.imports.find(id))!;
async function problemsOf(id: string): Promise<string[]> {
  const problems = await here.modules.imports.problems((await find(id)).id);
  return problems.filter(({ item }) => item !== 'to do').map(({ item, problem }) => `${item}: ${problem}`);
}

async function api<T = Json>(path: string): Promise<T> {
  const response = await fetch(`${here.url}/api/v1/repos/alice${path}`, {
    headers: { Authorization: `token ${alice.token}` },
  });
  return (await response.json()) as T;
}

const countOf = async (table: string): Promise<number> =>
  Number((await here.modules.db.read.query(`SELECT count(*) AS n FROM ${table}`))[0].n);

/** Everything that an import writes, to the letter, but for what the run itself counts. */
async function snapshot(repositoryId: string): Promise<unknown> {
  const { read } = here.modules.db;
  const ofIssues = 'issue_id IN (SELECT id FROM issues WHERE repository_id = ?)';
  const tables: [table: string, where: string, order: string][] = [
    ['issues', 'repository_id = ?', 'number'],
    ['issue_entries', ofIssues, 'issue_id, position'],
    ['issue_labels', ofIssues, 'issue_id, label_id'],
    ['imported_reactions', ofIssues, 'issue_id, position, kind, person'],
    ['labels', 'repository_id = ?', 'name'],
    ['milestones', 'repository_id = ?', 'title'],
    ['pulls', ofIssues, 'issue_id'],
    ['pull_rounds', ofIssues, 'issue_id, round'],
    ['reviews', ofIssues, 'id'],
    ['review_threads', ofIssues, 'id'],
    ['releases', 'repository_id = ?', 'tag'],
    ['branch_rules', 'repository_id = ?', 'pattern'],
    ['webhooks', 'repository_id = ?', 'url'],
    ['repository_topics', 'repository_id = ?', 'topic'],
    ['repositories', 'id = ?', 'name'],
  ];
  const found: Record<string, unknown> = {};
  for (const [table, where, order] of tables)
    found[table] = await read.query(`SELECT * FROM ${table} WHERE ${where} ORDER BY ${order}`, [repositoryId]);
  // The size is measured in the background, whenever there is time.
  for (const row of found['repositories'] as { size_bytes: number }[]) row.size_bytes = 0;
  return found;
}

function fill(forge: GiteaStub): void {
  forge.world.labels.push(
    { name: 'bug', color: 'ee0701', description: 'Wrong', exclusive: false },
    { name: 'prio/high', color: '00ff00', description: '', exclusive: true },
    { name: 'prio/low', color: '0000ff', description: '', exclusive: true },
  );
  forge.world.milestones.push({
    title: '1.0',
    description: 'First',
    state: 'closed',
    due_on: '2024-06-01T00:00:00Z',
    created_at: '2024-01-01T00:00:00Z',
    closed_at: '2024-05-01T00:00:00Z',
  });
  const first = forge.addIssue({
    labels: [{ name: 'bug' }, { name: 'prio/high' }],
    milestone: { title: '1.0' },
    assignees: [user('carol')],
  });
  forge.addComment(first, 'One');
  forge.addComment(first, 'Two ✓', { user: user('bob') });
  const closed = forge.addIssue({ state: 'closed', closed_at: '2024-03-01T00:00:00Z', is_locked: true, pin_order: 1 });
  forge.world.reactions.set(`issue ${closed}`, [{ content: '+1', user: user('carol') }]);
  const comment = forge.addComment(closed, 'Three');
  forge.world.reactions.set(`comment ${comment}`, [
    { content: 'heart', user: user('bob') },
    { content: 'heart', user: user('carol') },
  ]);
  const one = forge.commitFile(forge.tip(), 'one\nTWO\nthree\n');
  const two = forge.commitFile(one, 'one\nTWO\nTHREE\n');
  const pull = forge.addPull(one);
  forge.addReview(pull, { body: 'Look', state: 'REQUEST_CHANGES' }, [
    { body: 'here', position: 2 },
    { body: 'there', original_position: 2 },
  ]);
  forge.addComment(pull, 'talk');
  forge.addReview(pull, { state: 'APPROVED' }, [{ body: 'an answer', position: 2, user: user('bob') }]);
  forge.setRef(`refs/pull/${pull}/head`, two);
  forge.setRef(`refs/heads/topic-${pull}`, two);
  const row = forge.world.pulls.at(-1)!;
  Object.assign(row['head'] as object, { sha: two });
  forge.world.hooks.push({
    type: 'gitea',
    config: { url: 'https://hooks.example.org/a', content_type: 'json' },
    events: ['push'],
    active: true,
  });
  forge.world.protections.push({
    rule_name: 'release/*',
    enable_push: false,
    required_approvals: 2,
    enable_approvals_whitelist: true,
    approvals_whitelist_username: ['nobody-here'],
    approvals_whitelist_teams: ['reviewers'],
  });
}

t.test('an import brings everything with its numbers, times and order, and another one changes nothing', async (t) => {
  const forge = await newForge(t);
  fill(forge);
  const { id, name } = await start(forge);
  t.match(await find(id), { state: 'done', run: 1, lastError: null });
  t.strictSame(await problemsOf(id), []);

  const first = await api(`/${name}/issues/1`);
  t.match(first, {
    number: 1,
    title: 'Issue 1',
    body: 'Text of 1',
    original_author: `bob@${forge.host}`,
    milestone: { title: '1.0', state: 'closed' },
    comments: 2,
    created_at: '2024-01-01T00:00:01Z',
  });
  t.strictSame(
    first.labels.map((label: { name: string }) => label.name),
    ['bug', 'prio/high'],
  );
  const comments = await api(`/${name}/issues/1/comments`);
  t.strictSame(
    comments.map((each: Json) => [each.body, each.original_author, each.created_at]),
    [
      ['One', `carol@${forge.host}`, '2024-01-01T00:00:02Z'],
      ['Two ✓', `bob@${forge.host}`, '2024-01-01T00:00:03Z'],
    ],
  );
  t.match(await api(`/${name}/issues/2`), { state: 'closed', is_locked: true, pin_order: 1 });
  const reactions = await api(`/${name}/issues/2/reactions`);
  t.strictSame(
    reactions.map((each: Json) => [each.content, each.user.login]),
    [['+1', `carol@${forge.host}`]],
  );

  const pull = await api(`/${name}/pulls/3`);
  t.match(pull, { state: 'open', head: { sha: forge.refs().get('refs/pull/3/head') }, base: { ref: 'main' } });
  const rounds = await here.modules.pulls.portable.rounds(id, 3);
  t.equal(rounds.length, 2, 'the commit that was reviewed, and the head');
  const reviews = await api(`/${name}/pulls/3/reviews`);
  t.strictSame(
    reviews.map((each: Json) => [each.state, each.body, each.comments_count, each.commit_id]),
    [
      ['REQUEST_CHANGES', 'Look', 2, rounds[0]!.headOid],
      ['APPROVED', '', 1, rounds[0]!.headOid],
    ],
  );
  const notes = await api(`/${name}/pulls/3/reviews/${reviews[0].id}/comments`);
  t.strictSame(notes.map((each: Json) => [each.body, each.position, each.original_position]).sort(), [
    ['here', 2, 0],
    ['there', 0, 2],
  ]);
  const threads = await here.modules.db.read.query(
    'SELECT first_line, quoted FROM review_threads ORDER BY side DESC, first_line',
  );
  t.equal(threads.length, 2, 'the answer is in the thread of its line');

  const refs = [...forge.refs()].filter(([ref]) => /^refs\/(heads|tags)\//.test(ref));
  const located = (await here.modules.repositories.locate([id])).get(id)!;
  const own = await here.modules.git.refs.list(located.path);
  for (const [ref, oid] of refs) t.equal(own.get(ref), oid, ref);
  t.equal(own.get('refs/pull/3/head'), forge.refs().get('refs/pull/3/head'));
  t.match(await here.modules.webhooks.list({ kind: 'repository', id }), [
    { url: 'https://hooks.example.org/a', isActive: false },
  ]);
  const rules = await api(`/${name}/branch_protections`);
  t.match(
    rules.filter((rule: Json) => rule.rule_name === 'release/*'),
    [{ required_approvals: 2, enable_approvals_whitelist: true, approvals_whitelist_username: { length: 0 } }],
    'whoever is unknown here is left out, and the limit stays',
  );
  t.equal(await countOf('notifications'), 0, 'no one is notified');

  const before = await snapshot(id);
  const requests = forge.requests.length;
  // Sets in another order, and where head and base have parted not worked out yet: nothing has changed.
  for (const reactions of forge.world.reactions.values()) reactions.reverse();
  for (const row of [...forge.world.issues, ...forge.world.pulls]) (row['labels'] as Json[] | null)?.reverse();
  for (const pull of forge.world.pulls) pull['merge_base'] = '';
  clock.advance(60_000);
  await run(id, { isFull: true });
  t.match(await find(id), { run: 2, progress: { written: 0, unchanged: 3 } });
  t.ok(forge.requests.length > requests, 'it has asked for everything again');
  t.strictSame(await snapshot(id), before);
  t.equal(await countOf('import_staged'), 0);
});

t.test('a followed repository brings what is new there, and what was done here stays', async (t) => {
  const forge = await newForge(t);
  fill(forge);
  const { id, name } = await start(forge, { watchMs: 60_000 });
  clock.advance(30_000);
  await here.modules.imports.runDue();
  t.equal((await find(id)).run, 1, 'not before its time');

  forge.world.now += 3_600_000;
  forge.addComment(1, 'Three');
  forge.touch(2, { state: 'open', closed_at: null, title: 'Another title' });
  const added = forge.addIssue({ title: 'New there' });
  const three = forge.commitFile(forge.refs().get('refs/pull/3/head')!, 'one\nTWO\nTHREE\nfour\n');
  for (const ref of ['refs/pull/3/head', 'refs/heads/topic-3']) forge.setRef(ref, three);
  Object.assign(forge.world.pulls[0]!['head'] as object, { sha: three });
  const before = forge.requests.length;
  clock.advance(60_000);
  await here.modules.imports.runDue();
  t.match(await find(id), { run: 2, state: 'done', lastError: null });
  const asked = forge.requests.slice(before).map(({ path }) => path);
  t.ok(
    asked.some((path) => /\/issues\?.*since=2024-01-01T00%3A00|since=2024/.test(path)),
    'it asks for changes',
  );
  t.equal(asked.filter((path) => /\/issues\/\d+\/reactions/.test(path)).length, 4, 'only of what has changed');
  t.equal((await api(`/${name}/issues/1/comments`)).length, 3);
  t.match(await api(`/${name}/issues/2`), { state: 'open', title: 'Another title' });
  t.match(await api(`/${name}/issues/${added}`), { title: 'New there' });
  t.equal((await here.modules.pulls.portable.rounds(id, 3)).at(-1)!.headOid, three, 'a push is a round');

  const at = { owner: 'alice', name, number: 1 };
  const me = { ...viewer };
  await here.modules.issues.comment(me, at, { body: 'Written here' });
  await here.modules.issues.setTitle(me, at, 'Named here');
  forge.touch(1, { title: 'Named there' });
  forge.addComment(1, 'Four');
  clock.advance(60_000);
  await here.modules.imports.runDue();
  t.match(await api(`/${name}/issues/1`), { title: 'Named here' });
  const bodies = (await api(`/${name}/issues/1/comments`)).map((each: Json) => each.body);
  t.strictSame(bodies, ['One', 'Two ✓', 'Three', 'Written here', 'Four']);
  t.match(await problemsOf(id), [/#1: its title changed here and there/]);

  await run(id, { isLast: true });
  t.match(await find(id), { state: 'ended', watchMs: null, hasToken: false });
  t.equal(await reasonOf(here.modules.imports.again(viewer, id, {})), 'import_ended');
});

t.test('what a person wrote there becomes that of an account by proof, and back', async (t) => {
  const forge = await newForge(t);
  fill(forge);
  const { id, name } = await start(forge);
  const carol = await here.addPerson('carol');
  const before = await snapshot(id);
  const person = `carol@${forge.host}`;
  const me = viewerOf(carol);
  t.equal(await reasonOf(here.modules.imports.people.claimOwn(me, [person])), 'import_person_not_found', 'no address');
  const address = await here.modules.accounts.addresses.add(carol.id, { address: 'carol@example.org' } as never);
  t.equal(
    await reasonOf(here.modules.imports.people.claimOwn(me, [person])),
    'import_person_not_found',
    'not verified',
  );
  await here.modules.accounts.addresses.markVerified(carol.id, address.id as never);
  await here.modules.imports.people.claimOwn(me, [person]);
  const comments = await api(`/${name}/issues/1/comments`);
  t.strictSame(
    comments.map((each: Json) => [each.user.login, each.original_author]),
    [
      ['carol', ''],
      ['ghost', `bob@${forge.host}`],
    ],
  );
  t.match(await api(`/${name}/pulls/3/reviews`), [{ user: { login: 'carol' } }]);
  t.strictSame(
    (await api(`/${name}/issues/2/reactions`)).map((each: Json) => each.user.login),
    ['carol'],
  );
  t.strictSame((await api(`/${name}/issues/1`)).assignees ?? [], [], 'nobody by name alone');
  t.ok(
    (await here.modules.imports.problems((await find(id)).id)).some(({ problem }) =>
      /Say who carol@.* is/.test(problem),
    ),
    'it is told',
  );
  await run(id, { isFull: true });
  t.match((await api(`/${name}/issues/1`)).assignees, [{ login: 'carol' }]);
  forge.addComment(1, 'a later one');
  await run(id);
  t.match((await api(`/${name}/issues/1/comments`)).at(-1), { user: { login: 'carol' }, body: 'a later one' });
  const bob = await here.addPerson('bob');
  t.equal(await reasonOf(here.modules.imports.people.claim(viewer, person, bob.id)), 'import_person_claimed');
  await here.modules.imports.people.unclaim(viewer, person);
  const after = (await snapshot(id)) as Record<string, Json[]>;
  const texts = (rows: Record<string, Json[]>) =>
    rows['issue_entries']!.filter(({ body }) => body !== 'a later one').map((row) => [row.author_id, row.author_name]);
  t.strictSame(texts(after), texts(before as Record<string, Json[]>));
  for (const table of ['imported_reactions', 'reviews', 'pull_rounds'])
    t.strictSame(after[table], (before as Record<string, Json[]>)[table], table);
  t.equal(await reasonOf(here.modules.imports.people.unclaim(viewer, person)), 'import_person_unclaimed');
});

t.test('limits are waited for, and failures that pass are tried again', async (t) => {
  const forge = await newForge(t);
  fill(forge);
  forge.fail({ pattern: /\/issues\?/, times: 1, status: 502 });
  forge.fail({ pattern: /\/labels\?/, times: 1, isCut: true });
  forge.fail({ pattern: /\/issues\/comments\?/, times: 1, status: 429, headers: { 'Retry-After': '90' } });
  const { id, name } = await start(forge);
  const waiting = await find(id);
  t.equal(waiting.waitsUntil, clock.now() + 90_000);
  t.match(waiting, { state: 'running', phase: 'comments', lastError: null });
  const requests = forge.requests.length;
  clock.advance(60_000);
  await here.modules.imports.runDue();
  t.equal(forge.requests.length, requests, 'nothing is sent before the end of the limit');
  clock.advance(31_000);
  await here.modules.imports.runDue();
  t.match(await find(id), { state: 'done', waitsUntil: null });
  t.equal((await api(`/${name}/issues/1/comments`)).length, 2);
});

t.test('a token that loses its rights half way stops the run, which goes on with another one', async (t) => {
  const forge = await newForge(t);
  fill(forge);
  forge.fail({ pattern: /\/issues\?.*page=2/, status: 401 });
  const { id, name } = await start(forge);
  t.match(await find(id), { state: 'paused', phase: 'issues', lastError: /does not accept the token/ });
  t.strictSame(await api(`/${name}/issues?state=all`), [], 'nothing half is there');
  forge.heal();
  forge.world.token = 'another-token';
  await run(id, { token: 'another-token' });
  // Git still has the first password; only the API counts from here on.
  t.match(await find(id), { phase: 'finish', run: 1 });
  t.equal((await api(`/${name}/issues/1/comments`)).length, 2);
});

t.test('what a slow source has given is written before all the rest is asked for', async (t) => {
  const forge = await newForge(t, { pageSize: 50 });
  for (let at = 0; at < 6; at += 1) forge.addComment(forge.addIssue(), 'a comment');
  const { reactions } = forge.world;
  const get = reactions.get.bind(reactions);
  reactions.get = (key) => {
    clock.advance(2_000);
    return get(key);
  };
  forge.fail({ pattern: /\/issues\/6\/reactions/, status: 401 });
  const { id, name } = await start(forge);
  t.match(await find(id), { state: 'paused', phase: 'write', progress: { written: 4 } });
  forge.heal();
  const before = forge.requests.length;
  await run(id);
  t.match(await find(id), { state: 'done', run: 1, lastError: null, progress: { written: 6 } });
  const asked = forge.requests.slice(before).filter(({ path }) => /\/issues\/\d+\/reactions/.test(path));
  t.equal(asked.length, 2, 'only of what was not written');
  t.equal((await api(`/${name}/issues?state=all`)).length, 6);
});

t.test('a private repository that vanishes is not taken for an empty one', async (t) => {
  const forge = await newForge(t);
  fill(forge);
  const { id } = await start(forge);
  forge.fail({ pattern: /\/repos\/bob\/tool(?:\/issues.*)?$/, status: 404 });
  await run(id, { isFull: true });
  t.match(await find(id), { state: 'paused', lastError: /has no bob\/tool, or the token has no access to it/ });
  t.equal(
    Number((await here.modules.db.read.query('SELECT count(*) AS n FROM issues WHERE repository_id = ?', [id]))[0].n),
    3,
  );
});

t.test('what a source lies about is a line of the report, and everything else comes', async (t) => {
  const forge = await newForge(t, { pageSize: 50 });
  const one = forge.addIssue();
  forge.world.issues.push({ ...forge.world.issues[0], title: 'Twice', created_at: '2023-01-01T00:00:00Z' });
  forge.addComment(one, 'x'.repeat(1024 * 1024));
  forge.addComment(one, 'by nobody', { user: null });
  forge.addComment(one, 'by a ghost', { user: { id: -1, login: 'Ghost' } });
  forge.addComment(one, 'later', { created_at: '2099-01-01T00:00:00Z', updated_at: '2099-01-01T00:00:00Z' });
  forge.addIssue({ title: '\u0000 \n' });
  forge.addIssue({ labels: [{ name: 'l'.repeat(80) }], title: 't'.repeat(300) });
  forge.world.reactions.set(`issue ${one}`, [
    { content: 'shrug', user: user('carol') },
    { content: '+1', user: null },
  ]);
  const lost = forge.addPull(forge.tip());
  forge.setRef(`refs/pull/${lost}/head`, forge.tip());
  Object.assign(forge.world.pulls[0]!['head'] as object, { sha: 'a'.repeat(40) });
  forge.world.issues.push({ number: 'seven' }, { number: -1 }, { number: 2 ** 40, title: 'far' });
  forge.world.comments.push({ id: 1, issue_url: 'http://elsewhere/x' }, { id: null });
  forge.world.labels.push({ name: 'a' }, { name: 'A', color: '#abc' });
  forge.world.milestones.push({ title: 'm' }, { title: 'm' });
  const { id, name } = await start(forge);
  t.match(await find(id), { state: 'done', lastError: null });
  const problems = await problemsOf(id);
  for (const wanted of [
    /#1: came twice with different content/,
    /#1: the comment \d+ is longer than 256 KiB and was cut/,
    /#1: the comment \d+ has a time in the future, 2099-01-01/,
    /#1: the reaction "shrug" is none here/,
    /#2: it had no title/,
    /#3: its title became/,
    /#4: the commits of this pull request are gone/,
    /label A: two labels have this name/,
    /milestone m: two milestones have this title/,
  ])
    t.ok(
      problems.some((line) => wanted.test(line)),
      String(wanted),
    );
  const comments = await api(`/${name}/issues/1/comments`);
  t.strictSame(
    comments.map((each: Json) => [each.body.length > 1_000 ? 'long' : each.body, each.original_author]),
    [
      ['long', `carol@${forge.host}`],
      ['by nobody', ''],
      ['by a ghost', ''],
      ['later', `carol@${forge.host}`],
    ],
  );
  t.match(await api(`/${name}/issues/4`), { title: 'A pull request', pull_request: null });
});

t.test('reviews and threads that have the same numbers there stay apart', async (t) => {
  const forge = await newForge(t, { pageSize: 50 });
  const pull = forge.addPull(forge.commitFile(forge.tip(), 'one\nTWO\nthree\n'));
  const [first, second] = [501, 502];
  const at = { created_at: '2024-01-02T00:00:00Z' };
  forge.addReview(pull, { body: 'First' }, [{ id: second, body: 'of the first', position: 1, ...at }]);
  forge.addReview(pull, { body: 'Second' }, [{ id: first, body: 'of the second', position: 2, ...at }]);
  const { name } = await start(forge);
  const reviews: Json[] = await api(`/${name}/pulls/${pull}/reviews`);
  t.equal(new Set(reviews.map(({ id }) => id)).size, 2);
  for (const { id, body } of reviews)
    t.match(await api(`/${name}/pulls/${pull}/reviews/${id}/comments`), [{ body: `of the ${body.toLowerCase()}` }]);
});

t.test('the token goes to the origin of the API and to no other', async (t) => {
  const forge = await newForge(t);
  fill(forge);
  const other = await startHttpRemote(t, { port: otherPort });
  const seen: (string | undefined)[] = [];
  other.answer = (request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
    return true;
  };
  forge.fail({ pattern: /\/issues\?/, status: 302, headers: { Location: `${other.url}/api/v1/issues` } });
  const { id } = await start(forge);
  t.match(await find(id), { lastError: /redirects to 127\.0\.0\.1:\d+, which is not followed/ });
  forge.heal();
  forge.world.releases.push({
    id: 1,
    tag_name: 'v1',
    name: 'One',
    body: '',
    draft: false,
    prerelease: false,
    created_at: '2024-01-01T00:00:00Z',
    assets: [{ id: 1, name: 'a.txt', size: 2, browser_download_url: `${other.url}/a.txt` }],
  });
  await run(id);
  t.match(await find(id), { state: 'done' });
  t.ok(
    seen.every((authorization) => authorization === undefined),
    'no credentials',
  );
  t.match((await problemsOf(id)).join('\n'), /releases: .*another host of the own network/);
});

t.test('an import that cannot begin changes nothing, and says which field is wrong', async (t) => {
  const forge = await newForge(t);
  const cases: [Partial<NewImport>, reason: string, field: string][] = [
    [{ address: 'garden' }, 'invalid_import_address', 'address'],
    [{ address: `${forge.url}/bob` }, 'invalid_import_address', 'address'],
    [{ address: `http://x:y@${forge.host}/bob/tool` }, 'invalid_import_address', 'address'],
    [{ address: `${forge.url}/bob/none` }, 'import_refused', 'address'],
    [{ token: 'wrong' }, 'import_refused', 'token'],
    [{ token: 'a b' }, 'invalid_import', 'token'],
    [{ address: 'http://10.0.0.1/bob/tool' }, 'import_refused', 'address'],
    [{ watchMs: 1 }, 'invalid_import', 'watch'],
    [{ owner: 'nobody' }, 'no_such_owner', 'owner'],
  ];
  for (const [more, reason, field] of cases) {
    const error: Json = await here.modules.imports
      .start(viewer, { address: `${forge.url}/bob/tool`, token: forge.world.token, name: 'never', ...more })
      .then(
        () => null,
        (caught: unknown) => caught,
      );
    t.match(error, { reason, field }, JSON.stringify(more));
  }
  t.equal(await reasonOf(here.modules.repositories.find(viewer, 'alice', 'never')), 'repository_not_found');
});

t.test('who merged comes also where a list leaves it out, and every run agrees', async (t) => {
  const forge = await newForge(t, { pageSize: 50 });
  const at = '2024-03-01T00:00:00Z';
  const tip = forge.commitFile(forge.tip(), 'one\nmerged\n');
  const merged = { state: 'closed', closed_at: at, merged: true, merged_at: at, merge_commit_sha: tip };
  const by = forge.addPull(tip, { ...merged, merged_by: user('carol') });
  const byNobody = forge.addPull(tip, merged);
  const open = forge.addPull(tip, { requested_reviewers: [user('bob')] });
  for (const number of [by, byNobody]) forge.touch(number, { state: 'closed', closed_at: at });
  const { id } = await start(forge);
  const read = async (): Promise<(string | null)[][]> => {
    const rows = await here.modules.db.read.query(
      `SELECT i.number AS number, p.merged_by_name AS name FROM pulls p JOIN issues i ON i.id = p.issue_id
       WHERE i.repository_id = ? ORDER BY i.number`,
      [id],
    );
    return rows.map((row: Json) => [row.number, row.name]);
  };
  const wanted = [
    [by, `carol@${forge.host}`],
    [byNobody, null],
    [open, null],
  ];
  t.strictSame(await read(), wanted);
  for (const isFull of [true, false, true]) {
    clock.advance(60_000);
    await run(id, { isFull });
    t.match(await find(id), { state: 'done', progress: { written: 0 } }, isFull ? 'full' : 'what is new');
    t.strictSame(await read(), wanted);
  }
  forge.addComment(by, 'Thanks');
  await run(id, {});
  t.match(await find(id), { progress: { written: 1 } });
  await run(id, { isFull: true });
  t.match(await find(id), { progress: { written: 0 } }, 'a run of what is new has read the same');
  t.strictSame(await read(), wanted);
});

t.test('a reviewer is not asked for a review again', async (t) => {
  const forge = await newForge(t);
  const tip = forge.commitFile(forge.tip(), 'one\nreviewed\n');
  const names = ['asked', 'answered', 'asked-again', 'dismissed'];
  // Gitea lists those who have reviewed among those who are asked.
  const number = forge.addPull(tip, { requested_reviewers: names.map((login) => user(login)) });
  forge.addReview(number, { user: user('answered'), state: 'REQUEST_REVIEW' });
  forge.addReview(number, { user: user('answered'), state: 'APPROVED' });
  forge.addReview(number, { user: user('asked-again'), state: 'COMMENT', body: 'Look' });
  forge.addReview(number, { user: user('asked-again'), state: 'REQUEST_REVIEW' });
  forge.addReview(number, { user: user('dismissed'), state: 'REQUEST_CHANGES', body: 'No', dismissed: true });
  const { id } = await start(forge);
  const read = async (): Promise<string[]> => {
    const rows = await here.modules.db.read.query(
      `SELECT u.username AS name FROM review_requests r JOIN users u ON u.id = r.user_id
       JOIN issues i ON i.id = r.issue_id WHERE i.repository_id = ? ORDER BY u.username`,
      [id],
    );
    return rows.map(({ name }: { name: string }) => name);
  };
  t.strictSame(await read(), [], 'nobody by name alone');
  const administrator = { ...viewer, isAdministrator: true };
  for (const name of names) {
    const { id: account } = await here.addPerson(name);
    await here.modules.imports.people.claim(administrator, `${name}@${forge.host}`, account);
  }
  await run(id, { isFull: true });
  t.strictSame(await read(), ['asked', 'asked-again', 'dismissed'], 'the accounts that were claimed since');
  await run(id, { isFull: true });
  t.match(await find(id), { progress: { written: 0 } });
});

t.test('commits that a branch gets after the merge are not part of the merged pull request', async (t) => {
  const forge = await newForge(t);
  const at = '2024-03-01T00:00:00Z';
  const tip = forge.commitFile(forge.tip(), 'one\nmerged\n');
  const merged = { state: 'closed', closed_at: at, merged: true, merged_at: at, merge_commit_sha: tip };
  const number = forge.addPull(tip, merged);
  forge.touch(number, { state: 'closed', closed_at: at });
  // Gitea moves the branch, and the head that its API shows, but not the ref of the pull request.
  const later = forge.commitFile(tip, 'one\nlater\n');
  forge.setRef(`refs/heads/topic-${number}`, later);
  (forge.world.pulls[0]!['head'] as Json).sha = later;
  const { id } = await start(forge);
  const heads = await here.modules.db.read.query(
    `SELECT r.head_oid AS oid FROM pull_rounds r JOIN issues i ON i.id = r.issue_id WHERE i.repository_id = ?`,
    [id],
  );
  t.strictSame(
    heads.map(({ oid }: Json) => oid),
    [tip],
  );
  await run(id, { isFull: true });
  t.match(await find(id), { progress: { written: 0 } });
});

t.test('a server that stops at any request goes on where it was', async (t) => {
  const forge = await newForge(t, { pageSize: 2 });
  fill(forge);
  for (let more = 0; more < 4; more += 1) forge.addComment(forge.addIssue(), 'a comment');
  const rounds = Number(process.env.HEARTH_KILLS ?? 2);
  const folder = temporaryFolder(t);
  const env = { SERVICE_MIRRORS_ALLOWED_HOSTS: allowed() };
  let server = await startHearth(t, { env, folder });
  const bob = viewerOf(await server.addPerson('bob'));
  const total = 70;
  const { id } = await server.modules.imports.start(bob, {
    address: `${forge.url}/bob/tool`,
    token: forge.world.token,
    name: 'tool',
  });
  for (let kill = 0; kill < rounds; kill += 1) {
    const at = forge.requests.length + Math.ceil(total / (rounds + 1));
    const running = server.modules.imports.runDue();
    await waitUntil(
      async () => forge.requests.length >= at || (await server.modules.imports.find(id))!.state !== 'running',
      'the next request',
      { everyMs: 2 },
    );
    await server.stop();
    await running;
    server = await startHearth(t, { env, folder });
  }
  await server.modules.imports.runDue();
  t.match(await server.modules.imports.find(id), { state: 'done', run: 1, lastError: null });
  const rows = await server.modules.db.read.query(
    `SELECT i.number AS number, count(*) AS entries FROM issues i JOIN issue_entries e ON e.issue_id = i.id
     WHERE i.repository_id = ? GROUP BY i.number ORDER BY i.number`,
    [id],
  );
  t.strictSame(
    rows.map((row: Json) => [row.number, row.entries]),
    [
      [1, 3],
      [2, 2],
      [3, 5],
      [4, 2],
      [5, 2],
      [6, 2],
      [7, 2],
    ],
  );
  await server.modules.imports.again(bob, id, { isFull: true });
  await server.modules.imports.runDue();
  t.match(await server.modules.imports.find(id), { run: 2, progress: { written: 0, unchanged: 7 } });
});
