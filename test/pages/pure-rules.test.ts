import t from 'tap';
import { createForm } from '../../src/http/request/form.ts';
import { readCookie, writeCookie } from '../../src/http/request/cookies.ts';
import { externalOrigin } from '../../src/http/request/external-origin.ts';
import { isSameSite } from '../../src/pages/app/csrf.ts';
import { createOneTimeSecrets } from '../../src/http/one-time-secrets.ts';
import { returnTarget } from '../../src/http/request/return-target.ts';
import { createClientReader } from '../../src/http/request/client-address.ts';
import { avatarColours, drawAvatar } from '../../src/pages/app/avatar.view.ts';
import { viewCloneBox } from '../../src/http/response/clone-addresses.ts';
import { viewDevice } from '../../src/pages/account/user-agent.ts';
import { viewFileTable } from '../../src/pages/code/file-table.view.ts';
import { readText } from '../../src/pages/code/read-text.ts';
import { viewName } from '../../src/pages/app/plain-text.ts';
import { viewPushRecipes } from '../../src/pages/repository/push-recipes.view.ts';
import { findReadme } from '../../src/pages/code/readme.view.ts';
import { viewCount, viewSize } from '../../src/pages/app/sizes.ts';
import { viewTime } from '../../src/pages/app/times.view.ts';
import type { TreeEntry } from '../../src/git/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';

t.test('security D01, DESIGN §9 where a form may come from', async (t) => {
  const here = 'http://192.168.1.20:3000';
  const cases: [why: string, fetchSite: string | undefined, origin: string | undefined, passes: boolean][] = [
    ['one of our pages, as the browser says', 'same-origin', here, true],
    ['typed into the address bar', 'none', undefined, true],
    ['another site', 'cross-site', 'https://evil.example', false],
    ['a neighbour below the same domain', 'same-site', here, false],
    ['a cross-site post that claims our origin', 'cross-site', here, false],
    ['plain http, our page', undefined, here, true],
    ['plain http, another site', undefined, 'http://evil.example', false],
    ['plain http, another port', undefined, 'http://192.168.1.20:3001', false],
    ['a sandboxed frame', undefined, 'null', false],
    ['an empty header is not an absent one', '', undefined, false],
    ['no browser', undefined, undefined, true],
  ];
  for (const [why, fetchSite, origin, passes] of cases) {
    t.equal(isSameSite({ method: 'POST', fetchSite, origin, expectedOrigin: here }), passes, why);
  }
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    t.ok(
      isSameSite({ method, fetchSite: 'cross-site', origin: 'https://evil.example', expectedOrigin: here }),
      `${method} changes nothing`,
    );
  }
  t.notOk(
    isSameSite({ method: 'BREW', fetchSite: 'cross-site', origin: undefined, expectedOrigin: here }),
    'an unknown method might',
  );
});

t.test('security C08, web-ui §1.2 a return target is a path on this server', async (t) => {
  for (const path of ['/', '/repos/new', '/search?q=a%20b&x=//y', '/a\\b', '/#//x', '/日本'])
    t.equal(returnTarget(path), path);
  const refused = [
    '',
    null,
    undefined,
    'repos',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '\\/evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/a\r\nSet-Cookie: x=y',
    '/\u0000',
    '/\u0085',
    ' /a',
    `/${'x'.repeat(3000)}`,
  ];
  for (const path of refused) t.equal(returnTarget(path), '/', JSON.stringify(path));
});

t.test('security D1 forwarded headers count from trusted peers only', async (t) => {
  const claim = {
    'x-forwarded-for': '9.9.9.9, 203.0.113.7',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'git.example.org',
  };
  const byDefault = createClientReader(['loopback']);
  t.same(byDefault('127.0.0.1', claim), {
    address: '203.0.113.7',
    forwardedProto: 'https',
    forwardedHost: 'git.example.org',
  });
  t.equal(byDefault('::ffff:127.0.0.1', claim).forwardedProto, 'https', 'an IPv4 proxy on a dual-stack socket');
  t.equal(byDefault('::1', claim).address, '203.0.113.7');
  for (const stranger of ['192.168.1.9', '10.0.0.1', '203.0.113.9', 'fd00::1', '']) {
    t.same(
      byDefault(stranger, claim),
      { address: stranger, forwardedProto: null, forwardedHost: null },
      stranger || 'no address',
    );
  }
  t.same(
    createClientReader([])('127.0.0.1', claim),
    { address: '127.0.0.1', forwardedProto: null, forwardedHost: null },
    'an empty list trusts nobody',
  );

  const lan = createClientReader(['private', '2001:db8::5', '198.51.100.0/24']);
  for (const peer of ['192.168.1.9', '10.9.8.7', '172.31.0.1', 'fd12::1', '2001:db8::5', '198.51.100.77']) {
    t.equal(lan(peer, claim).address, '203.0.113.7', peer);
  }
  for (const peer of ['127.0.0.1', '172.32.0.1', '169.254.1.1', '100.64.0.1', '2001:db8::6'])
    t.equal(lan(peer, claim).address, peer);

  t.equal(
    lan('10.0.0.1', { 'x-forwarded-for': '203.0.113.7, 10.0.0.2, 192.168.0.3' }).address,
    '203.0.113.7',
    'trusted hops are skipped',
  );
  t.equal(
    lan('10.0.0.1', { 'x-forwarded-for': 'unknown, "x", 10.0.0.2' }).address,
    '10.0.0.1',
    'what is no address is nobody',
  );
  t.equal(lan('10.0.0.1', { 'x-forwarded-proto': 'gopher' }).forwardedProto, null);
  t.equal(
    lan('10.0.0.1', { 'x-forwarded-proto': 'https, http' }).forwardedProto,
    'http',
    'the nearest proxy knows best',
  );
  t.throws(() => createClientReader(['nonsense']), /nonsense/);
});

t.test('security C09 the origin comes from the base URL when there is one', async (t) => {
  const from = (
    host: string | undefined,
    baseUrl: string | null = null,
    forwardedProto: 'http' | 'https' | null = null,
  ) => {
    const verdict = externalOrigin({ host, baseUrl, forwardedProto });
    return verdict.kind === 'known' ? verdict.origin : verdict.kind;
  };
  t.equal(from('192.168.1.20:3000'), 'http://192.168.1.20:3000');
  t.equal(from('Git.Example.org', null, 'https'), 'https://git.example.org');
  t.equal(from('[::1]:3000'), 'http://[::1]:3000');
  t.equal(from('git.example.org:443', null, 'https'), 'https://git.example.org', 'a default port is not written');
  for (const bad of [
    undefined,
    '',
    'a b',
    'a/b',
    'user@host',
    'host:99999',
    'host:x',
    '<script>',
    'a,b',
    '-',
    'x'.repeat(300),
  ]) {
    t.equal(from(bad), 'malformed', String(bad).slice(0, 20));
  }
  const fixed = 'https://git.example.org';
  t.equal(from('git.example.org', fixed), fixed, 'even when the proxy forgets to say https');
  t.equal(from('GIT.example.org:443', fixed), fixed);
  t.equal(from('git.example.org:8080', fixed), 'misdirected');
  t.equal(from('evil.example', fixed), 'misdirected');
  for (const local of ['localhost:3000', '127.0.0.1:3000', '127.9.9.9', '[::1]'])
    t.equal(from(local, fixed), `http://${local}`);
  t.equal(from('localhost.evil.example', fixed), 'misdirected');
});

t.test('cookies are read by exact name and written with their guards', async (t) => {
  t.equal(readCookie('a=1; hearth_session=abc; b=2', 'hearth_session'), 'abc');
  t.equal(readCookie('xhearth_session=no; hearth_session=first; hearth_session=second', 'hearth_session'), 'first');
  t.equal(readCookie('hearth_session', 'hearth_session'), null);
  t.equal(readCookie(undefined, 'x'), null);
  t.equal(
    writeCookie({ name: '__Host-hearth', value: 'v', maxAgeSeconds: 60.9, httpOnly: true, secure: true }),
    '__Host-hearth=v; Path=/; Max-Age=60; SameSite=Lax; HttpOnly; Secure',
  );
});

t.test('security D12 a form gives named fields only', async (t) => {
  const form = createForm(
    Object.assign(Object.create(null) as object, { name: 'a\r\nb', repos: ['1', '2'], __proto__: 'x' }) as never,
  );
  t.equal(form.text('name'), 'a\nb');
  t.same(form.all('repos'), ['1', '2']);
  t.equal(form.text('repos'), '1');
  for (const absent of ['toString', 'constructor', 'other']) t.same([form.text(absent), form.all(absent)], ['', []]);
});

t.test('a secret to show once is shown once, to its owner, for five minutes', async (t) => {
  const clock = fixedClock();
  const secrets = createOneTimeSecrets({ clock, random: seededRandom() });
  const secret = { name: 'laptop', value: 'hth_x' };
  const ticket = secrets.keep('alice', secret);
  t.equal(secrets.take('bob', ticket), null);
  t.same(secrets.take('alice', ticket), secret);
  t.equal(secrets.take('alice', ticket), null);
  const late = secrets.keep('alice', secret);
  clock.advance(5 * 60_000);
  t.equal(secrets.take('alice', late), null);
  const first = secrets.keep('alice', secret);
  for (let index = 0; index < 1000; index += 1) secrets.keep('alice', secret);
  t.equal(secrets.take('alice', first), null, 'memory is bounded: the oldest goes');
});

t.test('times, sizes and counts read like sentences', async (t) => {
  const now = Date.UTC(2026, 10, 20, 12);
  const ago = (seconds: number) => viewTime(now - seconds * 1000, now).text;
  t.equal(ago(0), 'just now');
  t.equal(ago(119), '1 minute ago');
  t.equal(ago(3 * 3600), '3 hours ago');
  t.equal(ago(86_400), 'yesterday');
  t.equal(ago(-92 * 86_400), 'in 3 months');
  t.equal(ago(-7 * 86_400), 'in 7 days');
  t.same(viewTime(now, now), { iso: '2026-11-20T12:00:00.000Z', title: '20 Nov 2026, 12:00 UTC', text: 'just now' });
  for (const hostile of [Infinity, -Infinity, NaN, 9e15, -9e15])
    t.ok(viewTime(hostile, now).iso, 'no date of a commit breaks a page');
  t.same([0, 999, 1000, 1450, 9_950, 20_000_000, 999_600].map(viewSize), [
    '0 B',
    '999 B',
    '1.0 kB',
    '1.4 kB',
    '10 kB',
    '20 MB',
    '1.0 MB',
  ]);
  t.same(
    [viewCount(1, 'tag'), viewCount(1204, 'tag'), viewCount(2, 'branch', 'branches')],
    ['1 tag', '1,204 tags', '2 branches'],
  );
});

t.test('devices are named by browser and system', async (t) => {
  t.equal(viewDevice('Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'), 'Firefox on Linux');
  t.equal(
    viewDevice(
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
    ),
    'Safari on macOS',
  );
  t.equal(
    viewDevice('Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0'),
    'Edge on Windows',
  );
  t.equal(viewDevice('curl/8.9.1'), 'curl');
  t.equal(viewDevice('lab-script/1'), 'lab-script');
  t.equal(viewDevice(''), 'Unknown device');
});

t.test('an avatar is the same for the same id, mirrored, and never empty', async (t) => {
  t.same(drawAvatar('a'), drawAvatar('a'));
  t.not(drawAvatar('a').path, drawAvatar('b').path);
  for (let index = 0; index < 500; index += 1) {
    const { path, tone } = drawAvatar(`id-${index}`);
    const squares = [...path.matchAll(/M(\d) (\d)h1v1h-1z/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
    if (squares.length === 0 || tone >= avatarColours.length) t.fail(path);
    for (const [x, y] of squares)
      if (!squares.some(([otherX, otherY]) => otherX === 6 - x && otherY === y)) t.fail(path);
  }
});

t.test('web-ui §4 clone addresses are what git needs', async (t) => {
  const box = (origin: string, port: number, ssh: { publicHost?: string; publicPort?: number } = {}) =>
    viewCloneBox({
      origin,
      owner: 'alice',
      name: 'kiln',
      ssh: { port, fingerprint: 'SHA256:x' },
      preferred: 'ssh',
      config: { ssh: { publicHost: null, publicPort: null, ...ssh } as never },
    });
  t.equal(box('https://git.example.org', 2222).https, 'https://git.example.org/git/alice/kiln.git');
  t.equal(box('https://git.example.org', 2222).ssh, 'ssh://git@git.example.org:2222/alice/kiln.git');
  t.equal(box('https://git.example.org:8443', 22).ssh, 'git@git.example.org:alice/kiln.git');
  t.equal(
    box('http://x', 2222, { publicPort: 22, publicHost: 'ssh.example.org' }).ssh,
    'git@ssh.example.org:alice/kiln.git',
  );
  t.equal(box('http://[::1]:3000', 22).ssh, 'ssh://git@[::1]/alice/kiln.git', 'the short form cannot hold colons');
  const off = viewCloneBox({
    origin: 'http://x',
    owner: 'a',
    name: 'b',
    ssh: null,
    preferred: 'ssh',
    config: { ssh: {} as never },
  });
  t.same([off.ssh, off.chosen], [null, 'https'], 'without SSH there is nothing to prefer');
});

t.test('commands to paste quote what a branch name may hold', async (t) => {
  t.match(viewPushRecipes('https://x/y.git', 'y', 'main').existing, /git push -u origin main$/);
  t.match(viewPushRecipes('https://x/y.git', 'y', '$(touch hacked)').existing, /origin '\$\(touch hacked\)'$/);
  t.match(viewPushRecipes('https://x/y.git', 'y', "it's;ls").fresh, /git init -b 'it'\\''s;ls' y\n/);
});

const entry = (name: string, kind: TreeEntry['kind'] = 'file'): TreeEntry => ({
  name,
  kind,
  rawName: Buffer.from(name),
  mode: '100644',
  type: kind === 'folder' ? 'tree' : 'blob',
  oid: '0'.repeat(40),
  size: kind === 'folder' ? null : 5,
});

t.test('files are listed folders first, with names that cannot lie', async (t) => {
  const entries = [
    entry('a'),
    entry('b', 'folder'),
    entry('c', 'symlink'),
    entry('d', 'submodule'),
    entry('\u202egpj.exe'),
    entry('x\ny\u001b[31m'),
  ];
  const at = { kind: 'branch', ref: 'main', oid: '', file: Buffer.alloc(0) } as const;
  const context = { repositoryUrl: '/repos/a/b', at, last: { rows: new Map(), isComplete: true }, now: 0 };
  const { rows, cut } = viewFileTable({ oid: '', entries, truncated: false }, context);
  t.same(
    rows.map(({ name }) => name),
    ['b', 'd', 'a', 'c', '\ufffdgpj.exe', 'x\ufffdy\ufffd[31m'],
  );
  t.same(
    rows.map(({ size }) => size),
    [null, '5 B', '5 B', null, '5 B', '5 B'],
  );
  t.equal(cut, null);
  const many = viewFileTable(
    { oid: '', entries: Array.from({ length: 1001 }, (_, index) => entry(`f${index}`)), truncated: false },
    context,
  );
  t.equal(many.rows.length, 1000);
  t.match(many.cut, /more than 1,000/);
});

t.test('the README is found in any case, Markdown first, links never followed', async (t) => {
  const find = (...entries: TreeEntry[]) => findReadme(entries)?.name;
  t.equal(find(entry('README'), entry('readme.MD'), entry('README.txt')), 'readme.MD');
  t.equal(find(entry('README'), entry('README.txt')), 'README.txt');
  t.equal(
    find(entry('README.md', 'symlink'), entry('README.md', 'folder'), entry('README.md.bak'), entry('AREADME')),
    undefined,
  );
});

t.test('text is decoded whatever its bytes', async (t) => {
  const textOf = (bytes: Buffer) => readText(bytes)?.text;
  t.equal(textOf(Buffer.from('Grüße')), 'Grüße');
  t.equal(textOf(Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65])), 'Grüße');
  t.equal(textOf(Buffer.from('\ufeffx')), 'x', 'a byte order mark is no text');
  t.equal(viewName('a\u200fb'), 'a\ufffdb');
});
