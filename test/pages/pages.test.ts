import t from 'tap';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Parser } from 'htmlparser2';
import type { PersonViewer } from '../../src/access/index.ts';
import { hostileNames } from '../fixtures/git-repositories.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { ask, fillRepository, password, signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';
import type { Answer } from '../fixtures/web-fixture.ts';

// Much of it is whole pages: on a busy machine together they take longer than one ordinary file.
t.setTimeout(180_000);

const sessionViewer = (id: string, username: string): PersonViewer => ({
  kind: 'person',
  id,
  username,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});

const main = ({ body }: Answer): string => /<main[^]*<\/main>/.exec(body)?.[0] ?? '';
const location = ({ headers }: Answer): string => headers.location ?? '';

async function publicKey(t: Parameters<typeof temporaryFolder>[0]): Promise<string> {
  const file = path.join(temporaryFolder(t), 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'laptop', '-f', file]);
  return execFileSync('cat', [`${file}.pub`]).toString();
}

t.test('web-ui §12.1 the first administrator comes in through the setup link', async (t) => {
  const web = await startWeb(t);
  const browser = visitor(web);
  t.match(main(await browser.get('/')), /hearth setup-url/, 'the start page says what is missing');
  for (const wrong of ['/setup', '/setup?token=', '/setup?token=AAAA-AAAA-AAAA-AAAA-AAAA'])
    t.equal((await browser.get(wrong)).status, 404, wrong);
  const token = await web.modules.accounts.setupToken();
  const link = `/setup?token=${token}`;
  t.equal((await browser.get(link)).status, 200);

  const refused = await browser.post(link, { handle: 'ad min', password });
  t.equal(refused.status, 422);
  t.match(main(refused), /value="ad min"/, 'input is kept');
  t.match(main(refused), /id="handle"[^>]*aria-describedby="handle-hint handle-error" aria-invalid="true"/);
  t.notMatch(refused.body, password, 'but never a password');
  t.equal((await browser.post(link, { handle: 'alice', password: 'short' })).status, 422);
  t.equal((await browser.post('/setup', { handle: 'alice', password })).status, 404, 'no token, no form');

  const done = await browser.post(link, { handle: 'alice', password });
  t.match([done.status, location(done)], [303, '/settings/keys?done=welcome']);
  t.match(main(await browser.get(location(done))), /Welcome!/);
  t.equal((await browser.get('/admin/invites')).status, 200, 'and administers');
  t.equal((await visitor(web).get(link)).status, 404, 'the link worked once');
});

t.test('signing in, where it leads, and out again', async (t) => {
  const web = await startWeb(t);
  await web.modules.accounts.addPerson({ username: 'alice', password });
  const browser = visitor(web);
  const asked = await browser.get('/settings/keys?x=1');
  t.match([asked.status, location(asked)], [303, '/login?next=%2Fsettings%2Fkeys%3Fx%3D1']);
  t.match(main(await browser.get(location(asked))), /name="next" value="\/settings\/keys\?x=1"/);

  const wrong = await browser.post('/login', { username: 'alice', password: 'wrong wrong', next: '/settings/keys' });
  const nobody = await browser.post('/login', { username: 'alice2', password: 'wrong wrong', next: '/settings/keys' });
  t.match([wrong.status, nobody.status], [422, 422]);
  t.equal(
    main(wrong).replace('value="alice"', ''),
    main(nobody).replace('value="alice2"', ''),
    'security D05 one text for both',
  );
  t.match(main(wrong), /role="alert" tabindex="-1" autofocus/);
  t.equal(wrong.headers['set-cookie'], undefined);

  const right = await browser.post('/login', { username: ' Alice ', password, next: '/settings/keys' });
  t.match([right.status, location(right)], [303, '/settings/keys']);
  t.match(right.headers['set-cookie']?.[0], /^hearth_session=[\w-]{43}; Path=\/; Max-Age=\d+; SameSite=Lax; HttpOnly$/);
  t.equal((await browser.get('/settings/keys')).status, 200);
  t.match(location(await browser.get('/login?next=/repos/new')), '/repos/new', 'who is in needs no form');

  for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', '/\tx']) {
    const answer = await visitor(web).post('/login', { username: 'alice', password, next });
    t.equal(location(answer), '/', JSON.stringify(next));
  }

  const session = browser.cookies.get('hearth_session') ?? '';
  const again = await browser.post('/login', { username: 'alice', password });
  t.equal(again.status, 303);
  const old = visitor(web);
  old.cookies.set('hearth_session', session);
  t.equal((await old.get('/settings/keys')).status, 303, 'security D03 a new sign-in ends the session it came with');

  const out = await browser.post('/logout');
  t.match([out.status, location(out)], [303, '/login?done=signed-out']);
  t.equal(browser.cookies.has('hearth_session'), false);
  t.equal((await browser.get('/settings/keys')).status, 303);
  t.equal((await visitor(web).post('/logout')).status, 303, 'signing out twice is no fault');
});

t.test('security D04 too many wrong passwords are 429 with a time to wait', async (t) => {
  const web = await startWeb(t);
  await web.modules.accounts.addPerson({ username: 'alice', password });
  const browser = visitor(web);
  let answer = await browser.post('/login', { username: 'alice', password: 'wrong wrong' });
  for (let index = 0; index < 10 && answer.status === 422; index += 1)
    answer = await browser.post('/login', { username: 'alice', password: 'wrong wrong' });
  t.equal(answer.status, 429);
  t.match(answer.headers['retry-after'], /^\d+$/);
  t.match(main(answer), /Too many wrong passwords/);
});

t.test('people join by invitation, once per link', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice', { isAdministrator: true });
  t.equal((await visitor(web).get('/signup')).status, 404, 'registration is closed');
  const made = await alice.post('/admin/invites');
  t.match(location(made), /^\/admin\/invites\/new\/[\w-]{22}$/);
  const shown = await alice.get(location(made));
  t.match(shown.headers['cache-control'], 'no-store');
  const link = /value="http[^"]*(\/signup\?invite=[^"]+)"/.exec(shown.body)?.[1] ?? '';
  t.match(location(await alice.get(location(made))), '/admin/invites?done=invite-gone', 'shown once');

  const bob = visitor(web);
  t.equal((await bob.get(link)).status, 200);
  t.match(main(await bob.post(link, { handle: 'alice', password })), /taken/, 'a taken handle is told');
  t.equal(
    (await bob.post(link, { handle: 'alice', password })).status,
    422,
    'web-ui §1.1 and is a wrong value, not a conflict',
  );
  t.equal(location(await bob.post(link, { handle: 'bob', password })), '/settings/keys?done=welcome');
  t.equal((await visitor(web).get(link)).status, 404);
  t.equal((await bob.get('/admin/invites')).status, 404);

  await alice.post('/admin/invites');
  const id = /\/admin\/invites\/([\w-]+)\/delete/.exec((await alice.get('/admin/invites')).body)?.[1] ?? '';
  t.equal(location(await alice.post(`/admin/invites/${id}/delete`)), '/admin/invites?done=invite-removed');
  t.equal((await alice.post(`/admin/invites/${id}/delete`)).status, 404);
});

t.test('SPEC §2.4 who has no handle chooses one before anything else', async (t) => {
  const web = await startWeb(t);
  const { id } = await web.modules.accounts.addPerson({ password });
  const browser = visitor(web);
  browser.cookies.set(
    'hearth_session',
    (await web.modules.accounts.startSession(id, { address: '', userAgent: '' })).secret,
  );
  for (const page of ['/', '/settings/keys', '/repos/new', '/users/x', '/nowhere/at/all'])
    t.equal(location(await browser.get(page)), '/onboarding', page);
  t.equal((await browser.post('/repos', { name: 'x' })).status, 303, 'forms wait too');
  t.equal((await browser.get('/settings/appearance')).status, 200);
  t.equal((await browser.post('/onboarding', { handle: 'admin' })).status, 422);
  t.match(main(await browser.post('/onboarding', { handle: 'no_' })), /value="no_"/);
  t.equal(location(await browser.post('/onboarding', { handle: 'dora' })), '/settings/keys?done=welcome');
  t.equal((await browser.get('/users/dora')).status, 200);
  t.equal(location(await browser.get('/onboarding')), '/');
});

t.test('who was given a password changes it first', async (t) => {
  const web = await startWeb(t);
  await web.modules.accounts.addPerson({ username: 'alice', password, mustChangePassword: true });
  const browser = visitor(web);
  await browser.post('/login', { username: 'alice', password });
  t.equal(location(await browser.get('/')), '/settings/account');
  t.match(main(await browser.get('/settings/account')), /Choose a password of your own/);
  const change = (form: Record<string, string>) => browser.post('/settings/account', form);
  const wrong = await change({ current_password: 'wrong wrong', new_password: 'a better one here' });
  t.match(main(wrong), /id="current_password-error"/);
  t.equal(wrong.status, 422);
  t.match(main(await change({ current_password: password, new_password: 'short' })), /id="new_password-error"/);
  t.equal(
    location(await change({ current_password: password, new_password: 'a better one here' })),
    '/settings/account?done=password-changed',
  );
  t.equal((await browser.get('/')).status, 200, 'and stays signed in');
});

t.test('a repository from the form to its page, and into the trash', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  t.match(main(await alice.get('/')), /Getting started/);
  const taken = { name: 'kiln', description: 'Fires clay', visibility: 'PUBLIC', default_branch: 'main' };
  t.equal(location(await alice.post('/repos', taken)), '/repos/alice/kiln');
  const again = await alice.post('/repos', { ...taken, name: 'KILN', description: 'kept' });
  t.equal(again.status, 422);
  t.match(main(again), /id="name"[^>]*value="KILN"[^>]*aria-describedby="name-error"/);
  t.match(main(again), /value="kept"/);
  t.match(main(again), /value="PUBLIC" checked/);
  t.equal((await alice.post('/repos', { name: '../up', visibility: 'PUBLIC' })).status, 422);
  t.equal((await alice.post('/repos', { name: 'quiet' })).status, 303);
  t.match(main(await alice.get('/repos/alice/quiet')), /Private/, 'what nobody chose to publish is private');

  const empty = main(await alice.get('/repos/alice/kiln'));
  t.match(empty, `git remote add origin ${web.origin}/git/alice/kiln.git`);
  t.match(empty, 'git remote add origin ssh://git@127.0.0.1:2222/alice/kiln.git');
  t.match(empty, /add an SSH key/);
  const reader = main(await visitor(web).get('/repos/alice/kiln'));
  t.match(reader, /This repository is empty/);
  t.notMatch(reader, /git push/, 'a reader is not told to push');

  const { path: bare } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  await fillRepository(t, bare, { 'README.md': '# Kiln\n\nHot.', 'src/main.c': 'int x;', 'a.txt': 'x'.repeat(1500) });
  const page = main(await visitor(web).get('/repos/alice/kiln'));
  t.match(page, /<bdi class="ref-name">main<\/bdi>[^]*1 branch/);
  t.match(page, /Light the first fire/);
  t.ok(page.indexOf('<bdi>src</bdi>') < page.indexOf('<bdi>README.md</bdi>'), 'folders first');
  t.match(page, /<bdi>a\.txt<\/bdi>[^]*1\.5 kB/);
  t.match(page, '<h2 id="user-content-kiln">Kiln</h2>');
  t.match(page, 'SHA256:0123456789abcdefghijklmnopqrstuvwxyzABCDEFG');

  const wrong = await alice.post('/repos/alice/kiln/settings/delete', { confirm: 'kiln' });
  t.equal(wrong.status, 422);
  t.match(main(wrong), /id="confirm-error"/);
  t.equal(
    location(await alice.post('/repos/alice/kiln/settings/delete', { confirm: 'alice/kiln' })),
    '/?done=repository-deleted',
  );
  t.equal((await alice.get('/repos/alice/kiln')).status, 404);
});

t.test('the dashboard lists, filters and pages', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  const first = await web.modules.repositories.create(sessionViewer(alice.id, 'alice'), {
    name: 'r0',
    visibility: 'PRIVATE',
  });
  await web.modules.db.write(async ({ manager }) => {
    for (let index = 1; index < 53; index += 1) {
      const name = `r${index}`;
      await manager.insert('repository', {
        ...first,
        id: randomUUID(),
        name,
        nameFolded: name,
        updatedAt: first.updatedAt + index,
      });
    }
  });
  const titles = (answer: Answer) =>
    [...answer.body.matchAll(/class="row-title" href="\/repos\/alice\/(r\d+)"/g)].map(([, name]) => name);
  const newest = await alice.get('/');
  t.same(titles(newest).slice(0, 2), ['r52', 'r51']);
  t.equal(titles(newest).length, 50);
  const next = /href="(\/\?after=[^"]+)"/.exec(newest.body)?.[1] ?? '';
  t.same(titles(await alice.get(next)), ['r2', 'r1', 'r0']);
  t.same(titles(await alice.get('/?q=R3')), [
    'r39',
    'r38',
    'r37',
    'r36',
    'r35',
    'r34',
    'r33',
    'r32',
    'r31',
    'r30',
    'r3',
  ]);
  t.match(main(await alice.get('/?q=%3Cb%3E')), /No repository of yours has “&lt;b&gt;”/);
  for (const odd of ['/?after=x', '/?after=', '/?q=a&q=b', '/?done=constructor', '/?sort=none'])
    t.equal((await alice.get(odd)).status, 200, odd);
  t.same(titles(await alice.get('/?q=a%&after=1.x')), [], 'a wildcard is a plain character');
});

t.test('security E03, SPEC §5, §7 missing, private and forbidden are the same bytes', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  await alice.post('/repos', { name: 'ledger', visibility: 'PRIVATE' });
  await alice.post('/repos', { name: 'garden', visibility: 'PUBLIC' });
  const bob = await signedIn(web, 'bob');
  const comparable = ({ status, headers, body }: Answer) => {
    const { date: _d, 'x-request-id': _id, ...rest } = headers;
    return { status, headers: rest, body };
  };
  for (const [who, browser] of [
    ['anonymous', visitor(web)],
    ['a stranger', bob],
  ] as const) {
    const missing = comparable(await browser.get('/repos/alice/none'));
    t.equal(missing.status, 404);
    const same = [
      '/repos/alice/ledger',
      '/repos/ALICE/Ledger',
      '/repos/nobody/none',
      '/repos/alice/ledger/settings',
      '/repos/alice/garden/settings',
      '/repos/alice/none/settings',
      '/alice/ledger',
      '/alice/none',
      '/alice/ledger.git',
      '/repos/alice/constructor',
      '/nobody',
    ];
    for (const path of same) t.same(comparable(await browser.get(path)), missing, `${who} at ${path}`);
    t.notMatch(missing.body, 'none', 'the body does not repeat the path');
    const forms = [
      '/repos/alice/ledger/settings/delete',
      '/repos/alice/garden/settings/delete',
      '/repos/alice/none/settings/delete',
    ];
    const [first, ...others] = await Promise.all(forms.map((path) => browser.post(path, { confirm: 'alice/ledger' })));
    for (const other of others) t.same(comparable(other), comparable(first!), `${who} posting`);
    t.equal(first?.status, 404);
  }
  t.match((await visitor(web).get('/repos/alice/none')).body, /href="\/login" data-return/);
});

t.test('web-ui §2.3 redirects that save people', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'Alice');
  await alice.post('/repos', { name: 'Kiln', visibility: 'PUBLIC' });
  const browser = visitor(web);
  const leads = async (from: string, to: string) => {
    const answer = await browser.get(from);
    t.match([answer.status, location(answer), answer.headers['cache-control']], [301, to, 'no-cache'], from);
  };
  await leads('/alice', '/users/Alice');
  await leads('/users/ALICE', '/users/Alice');
  await leads('/alice/kiln', '/repos/Alice/Kiln');
  await leads('/Alice/Kiln.git', '/repos/Alice/Kiln');
  await leads('/repos/alice/kiln?x=1', '/repos/Alice/Kiln?x=1');
  await leads('/git/Alice/Kiln.git', '/Alice/Kiln.git');
  for (const address of ['/repos/alice/kiln', '/alice/kiln', '/alice/kiln.git', '/repos/alice/none']) {
    const name = address.includes('none') ? 'none' : 'kiln';
    await leads(
      `${address}/info/refs?service=git-upload-pack`,
      `/git/alice/${name}.git/info/refs?service=git-upload-pack`,
    );
  }
  const odd = await browser.get('/git/%2Fevil.example/x');
  t.equal(location(odd), '/%2Fevil.example/x', 'no redirect leaves the server');
  t.equal(location(await alice.get('/settings')), '/settings/profile');
});

t.test('the address in the address bar clones', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
  const { path: bare } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  await fillRepository(t, bare, { 'a.txt': 'a' });
  const { runGit } = await import('../fixtures/git-repositories.ts');
  for (const address of ['/repos/alice/kiln', '/alice/kiln', '/alice/kiln.git', '/git/alice/kiln.git']) {
    const folder = temporaryFolder(t);
    await runGit(['clone', '--quiet', web.origin + address, 'copy'], { cwd: folder });
    t.equal((await runGit(['rev-list', '--count', 'HEAD'], { cwd: path.join(folder, 'copy') })).trim(), '1', address);
  }
});

t.test('web-ui §12.7 keys', async (t) => {
  const web = await startWeb(t);
  const [alice, bob] = [await signedIn(web, 'alice'), await signedIn(web, 'bob')];
  const key = await publicKey(t);
  t.equal(location(await alice.post('/settings/keys', { title: 'Laptop', key })), '/settings/keys?done=key-added');
  const list = main(await alice.get('/settings/keys'));
  t.match(list, /Laptop[^]*SHA256:[^]*ssh-ed25519[^]*never used/);
  const taken = await bob.post('/settings/keys', { title: 'mine', key });
  t.equal(taken.status, 422);
  t.match(main(taken), /already in use/);
  t.notMatch(main(taken), /alice/, 'without saying by whom');
  t.match(main(await bob.post('/settings/keys', { key: 'garbage <b>' })), /id="key-error"[^]*|garbage &lt;b&gt;/);
  const id = /\/settings\/keys\/([\w-]+)\/delete/.exec(list)?.[1] ?? '';
  t.equal((await bob.post(`/settings/keys/${id}/delete`)).status, 404, 'security E01');
  t.equal(location(await alice.post(`/settings/keys/${id}/delete`)), '/settings/keys?done=key-removed');
});

t.test('web-ui §12.7 tokens are shown once and reach what was chosen', async (t) => {
  const web = await startWeb(t);
  const [alice, bob] = [await signedIn(web, 'alice'), await signedIn(web, 'bob')];
  const mine = await web.modules.repositories.create(sessionViewer(alice.id, 'alice'), {
    name: 'ledger',
    visibility: 'PRIVATE',
  });
  const his = await web.modules.repositories.create(sessionViewer(bob.id, 'bob'), {
    name: 'secret',
    visibility: 'PRIVATE',
  });
  const make = (form: Record<string, string | string[]>) =>
    alice.post('/settings/tokens', { access: 'read', expires_in: '30', ...form });
  const tokenOf = async (answer: Answer) => /hth_\w+/.exec((await alice.get(location(answer))).body)?.[0] ?? '';

  const first = await make({ name: 'all', repos: 'all' });
  t.equal((await bob.get(location(first))).status, 303, 'nobody else can look');
  const secret = await tokenOf(first);
  t.match(await web.modules.accounts.viewerOfToken(secret, { address: null }), { scope: 'read', repositoryIds: null });
  t.equal(location(await alice.get(location(first))), '/settings/tokens?done=token-gone');

  const some = await tokenOf(await make({ name: 'some', access: 'write', repos: ['', mine.id, his.id] }));
  t.match(await web.modules.accounts.viewerOfToken(some, { address: null }), {
    scope: 'write',
    repositoryIds: [mine.id],
  });
  const none = await make({ name: 'none', repos: ['', his.id] });
  t.match([none.status, main(none)], [422, /id="repos-error"/]);
  const again = await make({ name: 'all', repos: 'all' });
  t.match([again.status, main(again)], [422, /id="name-error"/]);
  t.match(main(await make({ name: '', access: 'root', expires_in: '-1' })), /Give the token a name/);

  const list = main(await alice.get('/settings/tokens'));
  t.match(list, `hth_…${some.slice(-4)}`);
  t.notMatch(list, some);
  t.match(list, /write on 1 repository[^]*Expires <time[^>]*>in 30 days</);
  const id = /\/settings\/tokens\/([\w-]+)\/delete/.exec(list)?.[1] ?? '';
  t.equal((await bob.post(`/settings/tokens/${id}/delete`)).status, 404);
  t.equal(location(await alice.post(`/settings/tokens/${id}/delete`)), '/settings/tokens?done=token-removed');
});

t.test('web-ui §12.7 sessions are listed and ended', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  const other = visitor(web);
  await other.post(
    '/login',
    { username: 'alice', password },
    { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0' },
  );
  const list = main(await alice.get('/settings/sessions'));
  t.match(list, /Firefox on Linux/);
  t.match(list, /This one/);
  const id = /\/settings\/sessions\/([\w-]+)\/revoke"/.exec(list)?.[1] ?? '';
  const bob = await signedIn(web, 'bob');
  t.equal((await bob.post(`/settings/sessions/${id}/revoke`)).status, 404);
  t.equal(location(await alice.post(`/settings/sessions/${id}/revoke`)), '/settings/sessions?done=session-ended');
  t.equal((await other.get('/settings/keys')).status, 303, 'security E04 at once');
  await other.post('/login', { username: 'alice', password });
  t.equal(location(await alice.post('/settings/sessions/revoke-others')), '/settings/sessions?done=sessions-ended');
  t.equal((await other.get('/settings/keys')).status, 303);
  t.equal((await alice.get('/settings/keys')).status, 200);
});

t.test('appearance is kept in the browser, signed in or not', async (t) => {
  const web = await startWeb(t);
  const browser = visitor(web);
  t.match((await browser.get('/login')).body, '<html lang="en" data-theme="auto">');
  const saved = await browser.post('/settings/appearance', {
    theme: 'dark',
    clone: 'ssh',
    next: '/settings/appearance?done=appearance-saved',
  });
  t.equal(location(saved), '/settings/appearance?done=appearance-saved');
  t.match((await browser.get('/login')).body, '<html lang="en" data-theme="dark">');
  await browser.post('/settings/appearance', { theme: '"><script>' });
  t.match((await browser.get('/login')).body, '<html lang="en" data-theme="auto">');
  const alice = await signedIn(web, 'alice');
  await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
  t.match((await browser.get('/repos/alice/kiln')).status, 200);
});

t.test('security D13, I06, I09 forms outside their limits are refused in words', async (t) => {
  const web = await startWeb(t);
  await web.modules.accounts.addPerson({ username: 'alice', password });
  const post = (body: string | Buffer, headers: Record<string, string> = {}, target = '/login') =>
    ask(web, target, { body, headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers } });
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `f${index}=x`).join('&');
  t.equal(
    (await post(`username=alice&password=${password}&${fields(90)}`)).status,
    303,
    'fields nobody asked for are ignored',
  );
  t.equal((await post(fields(101))).status, 413);
  t.equal((await post(`username=${'x'.repeat(70_000)}`)).status, 413);
  t.equal((await post(`username=${'x'.repeat(70_000)}`, { 'Transfer-Encoding': 'chunked' })).status, 413);
  t.equal((await post('{"username":"alice"}', { 'Content-Type': 'application/json' })).status, 415);
  t.equal((await post(Buffer.from('x'), { 'Content-Encoding': 'gzip' })).status, 415);
  t.equal((await post('--b\r\n', { 'Content-Type': 'multipart/form-data; boundary=b' })).status, 415);
  const shapes = [
    'username[]=a&username[]=b',
    'username[x]=1',
    'username.x=1',
    '__proto__[x]=1&__proto__=2',
    'constructor=1&toString=2',
    'username=%00',
    'username=%ff%fe',
    'username=%ED%A0%80',
    '%',
    '=',
    '&&&',
    'a[b][c][d][e][f][g]=1',
    `${'['.repeat(200)}=1`,
    'username=a&username=b',
  ];
  for (const shape of shapes) t.equal((await post(shape, {}, '/settings/appearance')).status, 303, shape.slice(0, 30));
  for (const shape of shapes.slice(0, 8)) t.equal((await post(shape)).status, 422, shape);
  t.equal((await ask(web, '/login', { method: 'POST' })).status, 422, 'no body at all');
  t.equal(({} as Record<string, unknown>)['x'], undefined);
  t.equal(web.log.filter(({ level }) => level === 'error').length, 0);
});

/** What an HTML parser finds that no template wrote: elements that act, handlers, styles, addresses that run. */
function foreignMarkup(body: string): string[] {
  const found: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      const isOurScript = name === 'script' && /^\/assets\//.test(attributes['src'] ?? '');
      if (/^(?:script|img|iframe|object|b|style)$/.test(name) && !isOurScript) found.push(name);
      for (const [key, value] of Object.entries(attributes)) {
        if (/^on|^style$|marker/.test(key) || /^\s*(?:javascript|data):/i.test(value)) found.push(`${name} ${key}`);
      }
    },
  });
  parser.end(body);
  return found;
}

t.test('security C01 what people write is text on every page', async (t) => {
  const web = await startWeb(t);
  const marker = '"><script>marker</script><img src=x onerror=marker>\'{{marker}}';
  const alice = await signedIn(web, 'alice', { isAdministrator: true });
  await alice.post('/settings/profile', {
    display_name: marker,
    bio: marker,
    website: `https://example.org/?${encodeURIComponent(marker)}`,
  });
  await alice.post('/settings/keys', { title: marker, key: await publicKey(t) });
  await alice.post('/settings/tokens', { name: marker, access: 'read', expires_in: 'never', repos: 'all' });
  await alice.post('/repos', { name: 'kiln', description: marker, visibility: 'PUBLIC' });
  await web.modules.accounts.startSession(alice.id, { address: marker, userAgent: marker });
  const { path: bare } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  const names = hostileNames.filter((name) => !name.includes('/'));
  await fillRepository(t, bare, {
    ...Object.fromEntries(names.map((name) => [name, marker])),
    'README.md': `# ${marker}\n\n${marker}`,
  });

  const encoded = encodeURIComponent(marker);
  const pages = [
    '/',
    `/?q=${encoded}`,
    `/?after=${encoded}`,
    `/?done=${encoded}`,
    '/users/alice',
    `/users/${encoded}`,
    '/repos/alice/kiln',
    `/repos/alice/${encoded}`,
    '/repos/alice/kiln/settings',
    '/settings/profile',
    '/settings/keys',
    '/settings/tokens',
    '/settings/sessions',
    '/settings/appearance',
    '/admin/invites',
    `/login?next=/${encoded}`,
    `/${encoded}`,
    `/setup?token=${encoded}`,
    '/repos/new',
  ];
  for (const page of pages) {
    for (const browser of [alice, visitor(web)]) {
      const { body, status } = await browser.get(page, {
        'User-Agent': marker,
        Referer: marker,
        'X-Forwarded-Host': marker,
      });
      t.same(foreignMarkup(body), [], page);
      t.not(status, 500, page);
    }
  }
  for (const [target, form] of [
    ['/login', { username: marker, next: marker }],
    ['/repos', { name: marker, description: marker.repeat(20), default_branch: marker }],
    ['/settings/profile', { display_name: marker.repeat(9), bio: marker, website: marker }],
    ['/settings/keys', { title: marker, key: marker }],
    ['/settings/tokens', { name: '', access: marker, expires_in: marker, repos: ['', marker] }],
    ['/repos/alice/kiln/settings/delete', { confirm: marker }],
  ] as [string, Record<string, string | string[]>][]) {
    const { body, status } = await alice.post(target, form);
    t.match(String(status), /^4/, target);
    t.same(foreignMarkup(body), [], target);
  }
  t.same(
    foreignMarkup((await alice.post('/login', { username: 'x' }, { Origin: marker })).body),
    [],
    'the refusal names the origin as text',
  );
});

t.test('security D01 the cross-site refusal says what was expected and what arrived', async (t) => {
  const web = await startWeb(t);
  const { status, body } = await visitor(web).post('/login', {}, { Origin: 'http://other.example.org' });
  t.equal(status, 403);
  t.match(body, 'http://other.example.org');
  t.match(body, web.origin);
  t.equal(
    (await ask(web, '/login', { form: { username: 'a', password: 'b' } })).status,
    422,
    'DESIGN §9 no browser, no question',
  );
});

t.test('a person’s page shows what the viewer may see', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  await alice.post('/settings/profile', {
    display_name: 'Alice',
    bio: 'Fires clay.\nOften.',
    website: 'https://alice.example.org/',
  });
  await alice.post('/repos', { name: 'ledger', visibility: 'PRIVATE' });
  await alice.post('/repos', { name: 'garden', visibility: 'PUBLIC' });
  const seen = main(await visitor(web).get('/users/alice'));
  t.match(seen, /<h1><span>Alice<\/span>/);
  t.match(seen, /href="https:\/\/alice\.example\.org\/" rel="nofollow noopener">alice\.example\.org</);
  t.match(seen, 'garden');
  t.notMatch(seen, 'ledger');
  t.match(main(await alice.get('/users/alice')), 'ledger');
  t.equal((await alice.post('/settings/profile', { website: 'javascript:alert(1)' })).status, 422);
  const avatar = await visitor(web).get(`/avatars/${alice.id}.svg`);
  t.match(avatar, {
    status: 200,
    headers: { 'content-type': 'image/svg+xml', 'content-security-policy': /sandbox/, 'cache-control': /immutable/ },
  });
  for (const bad of ['x.svg', `${alice.id}.png`, `${alice.id}.svg.svg`.slice(1), '..svg'])
    t.equal((await visitor(web).get(`/avatars/${bad}`)).status, 404, bad);
});
