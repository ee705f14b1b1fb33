import t from 'tap';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { request as httpRequest } from 'node:http';
import { sendRequest, fillRepository, password, signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';

/** Sends bytes as they are and gives the status line and all that follows. */
function raw(web: Web, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(web.port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.on('data', (part) => {
      text += part.toString();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    setTimeout(() => socket.end(), 300).unref();
  });
}

const statusOf = (response: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1]);

t.test('security C11, I07 ambiguous and malformed requests are refused', async (t) => {
  const web = await startWeb(t);
  const host = `Host: 127.0.0.1:${web.port}\r\n`;
  const cases: [why: string, bytes: string, status: number][] = [
    ['two Host lines', `GET /login HTTP/1.1\r\n${host}${host}Connection: close\r\n\r\n`, 400],
    ['no Host on HTTP/1.1', 'GET /login HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['no Host on HTTP/1.0', 'GET /login HTTP/1.0\r\n\r\n', 400],
    ['an empty Host', 'GET /login HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n', 400],
    ['a Host that is no host', 'GET /login HTTP/1.1\r\nHost: a@b\r\nConnection: close\r\n\r\n', 400],
    ['a broken escape', `GET /%zz HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400],
    ['a NUL', `GET /users/a%00b HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400],
    ['overlong UTF-8', `GET /%c0%af HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400],
    ['a whole URL', `GET http://evil.example/login HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400],
    ['no path', `OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400],
    ['a path above 4 KiB', `GET /${'a'.repeat(5000)} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 414],
    ['headers above 16 KiB', `GET /login HTTP/1.1\r\n${host}X: ${'a'.repeat(17_000)}\r\n\r\n`, 431],
    ['two lengths', `POST /login HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\na`, 400],
    [
      'a length and chunks',
      `POST /login HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['a method nobody knows', `BREW /login HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400],
    ['a method that changes nothing here', `DELETE /login HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 405],
    ['all is well', `GET /login HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 200],
  ];
  await Promise.all(cases.map(async ([why, bytes, status]) => t.equal(statusOf(await raw(web, bytes)), status, why)));
  t.equal(web.log.filter(({ level }) => level === 'error').length, 0, 'none of it is a fault');
});

t.test('security C09 with a base URL other names are sent there', async (t) => {
  const web = await startWeb(t, { env: { SERVICE_BASE_URL: 'https://git.example.org' } });
  const at = (host: string, path = '/login', more: Record<string, string> = {}) =>
    sendRequest(web, path, { headers: { Host: host, ...more } });
  t.equal((await at('git.example.org')).status, 200);
  const foreign = await at('evil.example');
  t.equal(foreign.status, 421);
  t.match(foreign.body, 'https://git.example.org');
  t.notMatch(foreign.body, 'evil.example', 'the answer repeats nothing of the request');
  t.equal((await at('localhost')).status, 200, 'from the machine itself');
  t.equal((await at('evil.example', '/healthz')).status, 200, 'health tells nothing');
  t.equal(
    (await at('evil.example', '/git/alice/kiln.git/info/refs?service=git-upload-pack')).status,
    401,
    'git has its own credentials',
  );
  t.equal(
    (await at('10.0.0.9', '/login', { 'X-Forwarded-Host': 'git.example.org' })).status,
    200,
    'loopback is a trusted proxy',
  );

  await web.modules.accounts.addPerson({ username: 'alice', password });
  const form = { username: 'alice', password };
  const signIn = (headers: Record<string, string>) => sendRequest(web, '/login', { form, headers });
  const secure = await signIn({ Host: 'git.example.org' });
  t.match(
    secure.headers['set-cookie']?.[0],
    /^__Host-hearth=[\w-]{43}; Path=\/; Max-Age=7776000; SameSite=Lax; HttpOnly; Secure$/,
  );
  const plain = await signIn({ Host: 'localhost:3000' });
  t.match(
    plain.headers['set-cookie']?.[0],
    /^hearth_session=[\w-]{43}; Path=\/; Max-Age=7776000; SameSite=Lax; HttpOnly$/,
  );
});

t.test('security C09 without a base URL only addresses and names of a local network are answered', async (t) => {
  const env = { SERVICE_FEDERATION_BASE_URL: 'https://forge.example.org' };
  const web = await startWeb(t, { env });
  const { hostname } = await import('node:os');
  const statusAt = async (Host: string, path = '/login', more: Record<string, string> = {}) =>
    (await sendRequest(web, path, { headers: { Host, ...more } })).status;
  for (const host of [
    '192.168.1.20:3000',
    '203.0.113.7',
    '[2001:db8::1]:3000',
    'LOCALHOST',
    'hearth:3000',
    'git.lan',
    'git.home.arpa',
    'git.internal.',
    hostname(),
    'forge.example.org',
  ])
    t.equal(await statusAt(host), 200, host);
  for (const host of ['evil.example', 'lan.evil.example', 'git.lan.evil.example:3000', '192.168.1.20.evil.example'])
    t.equal(await statusAt(host), 421, host);
  for (const path of ['/', '/api/v1', '/repos/alice/kiln', '/git/alice/kiln.git/info/refs?service=git-upload-pack'])
    t.equal(await statusAt('evil.example', path), 421, path);
  const forged = { 'X-Forwarded-Host': 'localhost' };
  t.equal(await statusAt('evil.example', '/login', forged), 421, 'a header that a script can set changes nothing');
  t.equal(await statusAt('evil.example', '/healthz'), 200, 'health tells nothing');
  const { body } = await sendRequest(web, '/login', { headers: { Host: 'evil.example' } });
  t.match(body, 'set base_url (SERVICE_BASE_URL)');
  t.notMatch(body, 'evil.example', 'the answer repeats nothing of the request');
});

t.test('SPEC §1 the origin is rebuilt from a trusted proxy only', async (t) => {
  for (const [trusted, expected] of [
    ['loopback', 'https://git.example.org/git/alice/kiln.git'],
    ['', null],
  ] as const) {
    const web = await startWeb(t, { env: { SERVICE_PROXY_TRUSTED: trusted } });
    const alice = await signedIn(web, 'alice');
    await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
    const headers = {
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'git.example.org',
      'X-Forwarded-For': '203.0.113.7',
    };
    const { id } = (await web.modules.accounts.listPeople())[0]!;
    const { secret } = await web.modules.accounts.startSession(id, { address: '', userAgent: '' });
    const page = await sendRequest(web, '/repos/alice/kiln', {
      headers: { ...headers, Cookie: `__Host-hearth=${secret}; hearth_session=${secret}` },
    });
    t.match(page.body, expected ?? `${web.origin}/git/alice/kiln.git`);
    t.equal(web.log.at(-1)?.fields['address'], expected ? '203.0.113.7' : '127.0.0.1');
  }
});

t.test('every response has its guards, every page its policy', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice', { isAdministrator: true });
  await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
  const paths = [
    '/',
    '/login',
    '/repos/alice/kiln',
    '/repos/alice/none',
    '/repos/new',
    '/users/alice',
    '/settings/profile',
    '/settings/keys',
    '/settings/tokens',
    '/settings/sessions',
    '/settings/appearance',
    '/admin/invites',
    '/healthz',
    '/readyz',
    '/robots.txt',
    '/favicon.ico',
    '/alice',
    '/alice/kiln',
    `/avatars/${alice.id}.svg`,
    '/nowhere/at/all',
    '/%zz',
    '/repos/alice/kiln/info/refs?service=git-upload-pack',
    '/git/alice/kiln.git/info/refs?service=git-upload-pack',
  ];
  for (const path of paths) {
    for (const response of [await alice.get(path), await visitor(web).get(path)]) {
      const { headers } = response;
      t.equal(headers['x-content-type-options'], 'nosniff', path);
      t.equal(headers['referrer-policy'], 'same-origin', path);
      t.equal(
        headers['content-security-policy'],
        path.startsWith('/avatars/')
          ? "default-src 'none'; sandbox"
          : "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
              "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; manifest-src 'self'",
        path,
      );
      t.ok(headers['x-request-id'], path);
      t.ok(headers['cache-control'], path);
      if (headers['content-type']?.startsWith('text/html') && response.status === 200) {
        t.match(headers['vary'], /Cookie/, path);
        t.notMatch(headers['cache-control'], 'public', `security C10 ${path}`);
      }
    }
  }
  t.match((await alice.get('/')).headers['cache-control'], 'no-store');
});

t.test('text above 1 kB travels compressed, pages with a secret do not', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  const gzip = {
    'Accept-Encoding': 'gzip, br',
    Cookie: [...alice.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
  };
  const compressed = await new Promise<{ encoding: unknown; body: string }>((resolve, reject) => {
    httpRequest(
      { port: web.port, host: '127.0.0.1', path: '/settings/tokens', headers: gzip, agent: false },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () =>
          resolve({
            encoding: response.headers['content-encoding'],
            body: gunzipSync(Buffer.concat(parts)).toString(),
          }),
        );
      },
    )
      .on('error', reject)
      .end();
  });
  t.equal(compressed.encoding, 'gzip');
  t.match(compressed.body, /New token/);
  const head = await sendRequest(web, '/settings/tokens', { method: 'HEAD', headers: gzip });
  t.equal(head.status, 200);
  t.equal(head.body, '');

  const made = await alice.post('/settings/tokens', { name: 'laptop', access: 'read', expires_in: '30', repos: 'all' });
  const shown = await alice.get(made.headers.location ?? '', { 'Accept-Encoding': 'gzip' });
  t.equal(shown.headers['content-encoding'], undefined);
  t.match(shown.headers['cache-control'], 'no-store');
  t.match(shown.body, /hth_/);
});

t.test('security B04 assets change their address with their content and stay with the browser', async (t) => {
  const web = await startWeb(t);
  const { body } = await visitor(web).get('/login');
  for (const name of ['style.css', 'app.en.js', 'icons.svg', 'favicon.svg']) {
    const path = new RegExp(`/assets/[0-9a-f]{12}-${name.replace('.', '\\.')}`).exec(body)?.[0] ?? '';
    const asset = await visitor(web).get(path);
    t.equal(asset.status, 200, name);
    t.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable');
    t.match(
      asset.headers['content-type'],
      { css: /^text\/css/, js: /javascript/, svg: /^image\/svg/ }[name.split('.').at(-1) as 'css'],
    );
    t.equal((await sendRequest(web, path, { headers: { 'Accept-Encoding': 'br' } })).headers['content-encoding'], 'br');
    const stale = await visitor(web).get(path.replace(/[0-9a-f]{12}/, '000000000000'));
    t.match(
      [stale.status, stale.headers['cache-control']],
      [200, 'no-cache'],
      'a page from before an upgrade keeps its looks',
    );
  }
  for (const absent of [
    '/assets/style.css',
    '/assets/000000000000-none.css',
    '/assets/000000000000-..%2flayout.pug',
    '/assets/',
    '/assets/000000000000-constructor',
  ]) {
    t.equal((await visitor(web).get(absent)).status, 404, absent);
  }
});

t.test('health, readiness and robots', async (t) => {
  const web = await startWeb(t);
  t.match(await sendRequest(web, '/healthz'), { status: 200, body: 'ok\n' });
  t.match(await sendRequest(web, '/readyz'), { status: 200, body: 'ready\n' });
  web.unready.push('database');
  t.match(await sendRequest(web, '/readyz'), {
    status: 503,
    body: 'not ready: database\n',
    headers: { 'retry-after': '5' },
  });
  t.match((await sendRequest(web, '/robots.txt')).body, /^User-agent: \*\nCrawl-delay: 5\nDisallow: \/git\/\n/);
  t.equal((await sendRequest(web, '/healthz', { method: 'HEAD' })).status, 200);
});

t.test('security K02 the log has one line per request and no secret in it', async (t) => {
  const web = await startWeb(t);
  const token = await web.modules.accounts.setupToken();
  const browser = visitor(web);
  await browser.get(`/setup?token=${token}`);
  await browser.post(`/setup?token=${token}`, { handle: 'alice', password });
  const made = await browser.post('/settings/tokens', { name: 'x', access: 'read', expires_in: '30', repos: 'all' });
  const address = made.headers.location ?? '';
  const secret = /hth_\w+/.exec((await browser.get(address)).body)?.[0] ?? '';
  await sendRequest(web, '/git/alice/x.git/info/refs?service=git-upload-pack', {
    headers: { Authorization: `Basic ${Buffer.from(`alice:${secret}`).toString('base64')}` },
  });
  await browser.get('/nowhere?q=private%0d%0aline');
  for (const probe of ['/healthz', '/readyz', '/metrics']) await browser.get(probe);
  await new Promise((resolve) => setImmediate(resolve));

  const requests = web.log.filter(({ event }) => event === 'http.request');
  const lines = requests.filter(({ level }) => level === 'info');
  t.equal(lines.length, 6);
  t.same(
    requests.filter(({ level }) => level === 'debug').map(({ fields }) => fields?.['path']),
    ['/healthz', '/readyz', '/metrics'],
    'probes that are answered as they should be do not fill the log',
  );
  const text = JSON.stringify(web.log);
  for (const [name, value] of Object.entries({
    token,
    password,
    address: address.split('/').at(-1),
    secret,
    cookie: browser.cookies.get('hearth_session'),
    query: 'private',
  })) {
    t.notMatch(text, value ?? '', name);
  }
  t.match(lines[0]?.fields, {
    method: 'GET',
    path: '/setup',
    status: 200,
    address: '127.0.0.1',
    id: /^[\w-]{12}$/,
    ms: Number,
    bytes: Number,
  });
  t.match(lines[3]?.fields, { path: '/settings/tokens/new/:oneTimeToken', person: String });
});

t.test('security E09 a fault is a page with a number, and the log knows why', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
  const { path } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  await fillRepository(t, path, { 'a.txt': 'a' });
  const { rmSync, writeFileSync } = await import('node:fs');
  rmSync(`${path}/objects`, { recursive: true });
  writeFileSync(`${path}/HEAD`, 'ref: refs/heads/main\n');
  rmSync(path, { recursive: true });
  const response = await alice.get('/repos/alice/kiln');
  t.equal(response.status, 500);
  const id = String(response.headers['x-request-id']);
  t.match(response.body, id);
  t.notMatch(response.body, path, 'security E09');
  t.notMatch(response.body, /at .*\.ts|Error:/);
  t.match(web.log.find(({ event }) => event === 'http.fault')?.fields, { id, error: String });
});

t.test('a server that stops lets running responses end and takes no more', async (t) => {
  const web = await startWeb(t);
  const slow = raw(
    web,
    `POST /login HTTP/1.1\r\nHost: 127.0.0.1:${web.port}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nusername=`,
  );
  await sendRequest(web, '/healthz');
  const started = performance.now();
  await web.stop();
  t.ok(performance.now() - started < 20_000, 'a client that never ends is cut after the grace time');
  await slow;
  await t.rejects(sendRequest(web, '/healthz'), { code: 'ECONNREFUSED' });
});
