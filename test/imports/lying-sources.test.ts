// time limit: 180 s
// Sources that lie or break off: a clear line each in the report, nothing half is seen, and everything else comes.
import t from 'tap';
import type { NewImport } from '../../src/imports/index.ts';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { startGiteaStub } from './gitea-stub.ts';
import type { GiteaStub } from './gitea-stub.ts';
import { stubGit } from './stub-git.ts';

t.setTimeout(160_000);

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
    line: /^$/,
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
      { state: 'paused', lastError: /lacks permission for this/ },
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
