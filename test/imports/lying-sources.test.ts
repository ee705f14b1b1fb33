// time limit: 240 s
// Sources that lie or break off: a clear line each in the report, nothing half is seen, and everything else comes.
import t from 'tap';
import type { NewImport } from '../../src/imports/index.ts';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { startGiteaStub } from './gitea-stub.ts';
import type { GiteaStub } from './gitea-stub.ts';
import { stubGit } from './stub-git.ts';

t.setTimeout(220_000);

const [port, other] = [await freePort(), await freePort()];
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port},127.0.0.1:${other}` } });
const { imports } = web.modules;
const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
const anonymous = visitor(web);
const forge = await startGiteaStub(t, { port, pageSize: 50 });
const address = `${forge.url}/bob/tool`;
forge.world.repository['private'] = false;
const first = forge.addIssue({ title: 'First' });
forge.addComment(first, 'A comment');

let count = 0;
async function start(more: Partial<NewImport> = {}): Promise<{ id: string; name: string }> {
  count += 1;
  const name = `tool-${count}`;
  const { id } = await imports.start(alice, { address, token: forge.world.token, name, ...more });
  await imports.runDue();
  return { id, name };
}
const find = async (id: string) => (await imports.find(id))!;
async function linesOf(id: string): Promise<string[]> {
  const problems = await imports.problems((await find(id)).id);
  return problems.filter(({ item }) => item !== 'to do').map(({ item, problem }) => `${item}: ${problem}`);
}
async function titles(id: string): Promise<string[]> {
  const rows: { title: string }[] = await web.modules.db.read.query(
    'SELECT title AS title FROM issues WHERE repository_id = ? ORDER BY number',
    [id],
  );
  return rows.map(({ title }) => title);
}

/** What a source does, what the report says of it, and how it is put right. */
interface Lie {
  what: string;
  tell(forge: GiteaStub): void;
  line: RegExp;
}

const page = (query: string): string => `${forge.url}/api/v1/repos/bob/tool/${query}`;
const json = { 'Content-Type': 'application/json' };

const lies: readonly Lie[] = [
  {
    what: 'a list whose next page is itself',
    tell: () =>
      forge.fail({
        pattern: /\/issues\/comments\?/,
        status: 200,
        headers: { ...json, Link: `<${page('issues/comments?page=2')}>; rel="next"` },
        body: '[]',
      }),
    line: /comments: a page of the list leads back to an earlier one; the list ends there/,
  },
  {
    what: 'a next page at another server',
    tell: () =>
      forge.fail({
        pattern: /\/milestones\?/,
        status: 200,
        headers: { ...json, Link: `<http://127.0.0.1:${other}/x?page=2>; rel="next"` },
        body: '[{"title":"1.0"}]',
      }),
    line: /^$/,
  },
  {
    what: 'a list of what is none',
    tell: () => forge.fail({ pattern: /\/labels\?/, status: 200, headers: json, body: '{"message":[1]}' }),
    line: /labels: 127\.0\.0\.1:\d+ answered with what is no list/,
  },
  {
    what: 'settings that the token may not read',
    tell: () => forge.fail({ pattern: /\/hooks\?/, status: 403 }),
    line: /webhooks: the token may not read them there/,
  },
  {
    what: 'releases that answer with a page',
    tell: () => forge.fail({ pattern: /\/releases\?/, status: 200, headers: {}, body: '<h1>Sign in</h1>' }),
    line: /releases: /,
  },
];

t.test('each lie is a line of the report, and everything else comes', async (t) => {
  for (const { what, tell, line } of lies) {
    forge.heal();
    tell(forge);
    const { id, name } = await start();
    t.match(await find(id), { state: 'done', lastError: null }, what);
    const lines = await linesOf(id);
    if (line.source === '^$') t.strictSame(lines, [], what);
    else t.match(lines.join('\n'), line, what);
    t.strictSame(await titles(id), ['First'], what);
    t.equal((await anonymous.get(`/repos/alice/${name}`)).status, 200, `${what}: public, since everything is here`);
  }
  forge.heal();
});

t.test('objects of Git LFS that are missing there are named, and the code comes', async (t) => {
  const { git, commitFile } = stubGit(forge.bare);
  const before = forge.tip();
  const oid = 'b'.repeat(64);
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 12\n`;
  git('update-ref', 'refs/heads/main', commitFile(before, pointer));
  t.teardown(() => git('update-ref', 'refs/heads/main', before));
  const objects = [{ oid, size: 12, error: { code: 404, message: 'Object does not exist' } }];
  const answers: readonly (readonly [what: string, failure: object])[] = [
    ['an object that is gone', { status: 200, headers: json, body: JSON.stringify({ objects }) }],
    ['a server without Git LFS', { status: 404, body: '<h1>Not found</h1>' }],
    ['a page in place of an answer', { status: 200, headers: {}, body: '<h1>Sign in</h1>' }],
  ];
  for (const [what, failure] of answers) {
    forge.heal();
    forge.fail({ pattern: /info\/lfs/, ...failure });
    const { id } = await start();
    t.match(await find(id), { state: 'done', lastError: null }, what);
    t.match((await linesOf(id)).join('\n'), /^Git LFS: /m, what);
    t.strictSame(await titles(id), ['First'], what);
  }
  forge.heal();
});

t.test('what breaks off is asked for again or waits for a person; until then nothing is seen', async (t) => {
  const rows: readonly (readonly [what: string, pattern: RegExp, failure: object, state: object])[] = [
    [
      'an answer that is a page',
      /\/issues\?/,
      { status: 200, body: '<h1>Busy</h1>' },
      { lastError: /is not JSON, or is cut off/ },
    ],
    [
      'rights that are lost',
      /\/issues\/comments\?/,
      { status: 403 },
      { state: 'paused', lastError: /does not have the required permission on/ },
    ],
    ['a token that ends', /\/pulls\?/, { status: 401 }, { state: 'paused', lastError: /does not accept the token/ }],
    [
      'a redirect elsewhere',
      /\/issues\?/,
      { status: 302, headers: { Location: `http://127.0.0.1:${other}/` } },
      { lastError: /redirects to/ },
    ],
    [
      'a redirect inside',
      /\/issues\?/,
      { status: 302, headers: { Location: 'http://169.254.169.254/' } },
      { lastError: /redirects to 169\.254\.169\.254/ },
    ],
    [
      'a limit',
      /\/issues\?/,
      { status: 429, headers: { 'Retry-After': '60' } },
      { state: 'running', waitsUntil: Number },
    ],
  ];
  for (const [what, pattern, failure, state] of rows) {
    forge.heal();
    forge.fail({ pattern, ...failure });
    const { id, name } = await start();
    t.match(await find(id), state, what);
    t.equal((await anonymous.get(`/repos/alice/${name}`)).status, 404, `${what}: not seen`);
    forge.heal();
    web.clock.advance(3_600_000);
    await imports.again(alice, id, {});
    await imports.runDue();
    t.match(await find(id), { state: 'done', lastError: null, run: 1 }, `${what}: goes on`);
    t.strictSame(await titles(id), ['First'], what);
    t.equal((await anonymous.get(`/repos/alice/${name}`)).status, 200, `${what}: seen`);
  }
});

t.test('what is missing in a list that breaks off is not taken for deleted', async (t) => {
  const comments = async (id: string): Promise<(string | null)[]> =>
    (
      await web.modules.db.read.query(
        `SELECT e.body AS body FROM issue_entries e JOIN issues i ON i.id = e.issue_id
         WHERE i.repository_id = ? AND e.kind = 'comment' ORDER BY e.position`,
        [id],
      )
    ).map(({ body }: { body: string | null }) => body);
  const second = forge.addComment(first, 'A second one');
  t.teardown(() => void forge.world.comments.pop());
  const one = JSON.stringify(forge.world.comments.slice(0, 1));
  const link = (to: string) => ({ ...json, Link: `<${page(`issues/comments?page=${to}`)}>; rel="next"` });
  const rows: readonly (readonly [what: string, failure: object])[] = [
    ['a page that leads back', { status: 200, headers: link('1'), body: one }],
    ['a cursor that stays dead', { status: 422 }],
    ['no list', { status: 200, headers: json, body: '{"message":"busy"}' }],
    ['nothing', { status: 404 }],
  ];
  for (const [what, failure] of rows) {
    const { id } = await start();
    t.strictSame(await comments(id), ['A comment', 'A second one'], what);
    forge.touch(first, { title: `First, ${what}` });
    if (what.includes('cursor')) {
      forge.fail({ pattern: /comments\?.*page=2/, ...failure });
      forge.fail({ pattern: /\/issues\/comments\?/, status: 200, headers: link('2'), body: one });
    } else forge.fail({ pattern: /\/issues\/comments\?/, ...failure });
    await imports.again(alice, id, { isFull: true });
    await imports.runDue();
    t.match(await find(id), { state: 'done', lastError: null }, what);
    t.strictSame(await comments(id), ['A comment', 'A second one'], what);
    forge.heal();
  }
  const { id } = await start();
  forge.world.comments = forge.world.comments.filter((row) => row['id'] !== second);
  forge.touch(first, { title: 'First' });
  await imports.again(alice, id, { isFull: true });
  await imports.runDue();
  t.strictSame(await comments(id), ['A comment', null], 'one that was deleted there is empty here');
  forge.addComment(first, 'x');
});

t.test('a cursor that dies once begins the list again, and all of it comes', async (t) => {
  for (const title of ['Second', 'Third', 'Fourth']) forge.addIssue({ title });
  t.teardown(() => void forge.world.issues.splice(1));
  const link = (to: string) => ({ ...json, Link: `<${page(`issues?page=${to}`)}>; rel="next"` });
  const rows = (from: number): string => JSON.stringify(forge.world.issues.slice(from, from + 2));
  forge.fail({ pattern: /\/issues\?.*page=2/, times: 1, status: 422 });
  forge.fail({ pattern: /\/issues\?.*page=2/, status: 200, headers: json, body: rows(2) });
  forge.fail({ pattern: /\/issues\?/, status: 200, headers: link('2'), body: rows(0) });
  const { id } = await start();
  forge.heal();
  t.strictSame(await titles(id), ['First', 'Second', 'Third', 'Fourth']);
  t.notMatch((await linesOf(id)).join('\n'), /leads back/);
});

t.test('names that became others, times that are none and numbers too far are named', async (t) => {
  const future = '2098-01-01T00:00:00Z';
  const { world } = forge;
  world.labels.push({ name: 'l'.repeat(80), color: '00ff00' }, { name: 'fine', color: '00ff00' });
  world.milestones.push({ title: 'm', state: 'closed', created_at: future, closed_at: future, due_on: future });
  world.milestones.push({
    title: 'n',
    state: 'open',
    created_at: '2024-01-01T00:00:00Z',
    due_on: '+012026-01-01T00:00Z',
  });
  forge.owners.lists.set('/orgs/bob/labels', [
    { name: 'shared', color: '0000ff', description: 'Of all', exclusive: false },
    { name: 'Fine', color: '0000ff' },
  ]);
  forge.addIssue({ title: 'Due', due_date: '+012026-01-01T00:00:00Z', labels: [{ name: 'shared' }, { name: 'fine' }] });
  const head = forge.push('later');
  const pull = forge.addPull(head, {});
  forge.touch(pull, { created_at: future });
  world.issues.push({ ...world.issues[0], number: 2 ** 40, title: 'far' });
  forge.setRef('refs/tags/v1', forge.tip());
  world.releases.push({ id: 1, tag_name: 'v1', name: 'v1', created_at: future, published_at: future, assets: [] });
  const { id } = await start();
  t.match(await find(id), { state: 'done', lastError: null });
  const lines = (await linesOf(id)).join('\n');
  t.match(lines, /^label l+: was "l{80}" there$/m);
  t.match(lines, /^milestone m: has a time in the future; it became now$/m);
  t.match(lines, /^#1099511627776: did not come: numbers go up to 1000000000 here$/m);
  t.match(lines, new RegExp(`^#${pull}: it has a time in the future, 2098-01-01; it became now$`, 'm'));
  t.notMatch(lines, /label (?:Fine|fine)/);
  const now = web.clock.now();
  const { db } = web.modules;
  const times: { at: number }[] = [
    ...(await db.read.query('SELECT created_at AS at FROM milestones WHERE repository_id = ?', [id])),
    ...(await db.read.query(
      'SELECT r.created_at AS at FROM pull_rounds r JOIN issues i ON i.id = r.issue_id WHERE i.repository_id = ?',
      [id],
    )),
    ...(await db.read.query('SELECT published_at AS at FROM releases WHERE repository_id = ?', [id])),
  ];
  t.equal(times.length, 4);
  t.ok(times.every(({ at }) => Number(at) <= now));
  const due = await db.read.query(
    `SELECT due_on AS due FROM issues WHERE repository_id = ? AND due_on IS NOT NULL
     UNION SELECT due_on FROM milestones WHERE repository_id = ? AND due_on IS NOT NULL`,
    [id, id],
  );
  t.strictSame(
    due.map((row: { due: string }) => row.due),
    ['2098-01-01'],
  );
  const named = await db.read.query(
    `SELECT l.name AS name FROM issue_labels il JOIN labels l ON l.id = il.label_id JOIN issues i ON i.id = il.issue_id
     WHERE i.repository_id = ? ORDER BY l.name`,
    [id],
  );
  t.strictSame(
    named.map(({ name }: { name: string }) => name),
    ['fine', 'shared'],
  );
  await imports.again(alice, id, { isFull: true });
  web.clock.advance(60_000);
  await imports.runDue();
  t.match(await find(id), { progress: { written: 0 } }, 'another run changes nothing');
  world.labels.splice(0);
  world.milestones.splice(0);
  world.issues.splice(1);
  world.pulls.splice(0);
  world.releases.splice(0);
  forge.owners.lists.clear();
});

t.test('settings that a token may not read come with one that may', async (t) => {
  forge.world.protections.push({ rule_name: 'release/*', enable_push: false });
  forge.world.hooks.push({ type: 'gitea', config: { url: 'https://ci.example.org/x' }, events: ['push'] });
  forge.fail({ pattern: /\/hooks\?|\/branch_protections|\/actions\/secrets/, status: 403 });
  const { id, name } = await start();
  const { repositories, webhooks } = web.modules;
  const here = async (): Promise<[boolean, number]> => [
    (await repositories.rules.list(alice, 'alice', name)).some(({ pattern }) => pattern === 'release/*'),
    (await webhooks.list({ kind: 'repository', id })).length,
  ];
  t.strictSame(await here(), [false, 0]);
  const refused = /^(?:webhooks|rules of branches|secrets): the token may not read them there/gm;
  t.equal((await linesOf(id)).join('\n').match(refused)?.length, 3);
  const again = async (): Promise<void> => {
    await imports.again(alice, id, { isFull: true });
    await imports.runDue();
  };
  await again();
  t.equal((await linesOf(id)).join('\n').match(refused)?.length, 3, 'still so');
  forge.heal();
  await again();
  t.strictSame(await here(), [true, 1]);
  t.strictSame(await linesOf(id), []);
  const rule = (await repositories.rules.list(alice, 'alice', name)).find(({ pattern }) => pattern === 'release/*');
  await repositories.rules.remove(alice, 'alice', name, rule!.id);
  const [hook] = await webhooks.list({ kind: 'repository', id });
  await webhooks.remove(alice, { kind: 'repository', id }, hook!.id);
  await again();
  t.strictSame(await here(), [false, 0], 'what was removed here stays away');
  forge.world.protections.pop();
  forge.world.hooks.pop();
});

t.test('a token that ends among the settings: another one brings them', async (t) => {
  forge.world.protections.push({ rule_name: 'release/*', enable_push: false });
  t.teardown(() => void forge.world.protections.pop());
  for (const list of [/\/hooks\?/, /\/actions\/secrets/, /\/branch_protections/, /\/stargazers/]) {
    const { id, name } = await (async () => {
      forge.meanwhile(list, async () => forge.fail({ pattern: /./, status: 401 }));
      return start();
    })();
    t.match(await find(id), { state: 'paused', lastError: /does not accept the token/ }, `${list.source}: waits`);
    forge.heal();
    await imports.again(alice, id, { token: forge.world.token });
    await imports.runDue();
    t.match(await find(id), { state: 'done', lastError: null }, list.source);
    const rules = await web.modules.repositories.rules.list(alice, 'alice', name);
    t.ok(
      rules.some(({ pattern }) => pattern === 'release/*'),
      list.source,
    );
    t.notMatch((await linesOf(id)).join('\n'), /may not read/, list.source);
  }
});
