// Downloads that are left to the proxy: only where the settings name its location, the request came through it, and the
// file is large enough; and only after the rights were asked for.
import t from 'tap';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { basic, startPackageServer } from './package-server.ts';

const body = Buffer.alloc(100_000, 'x');
const at = '/packages/alice/generic/open/1.0/large';
const proxied = { 'X-Forwarded-For': '192.0.2.1' };

t.test('nginx is handed the file', async (t) => {
  const server = await startPackageServer(t, { SERVICE_PROXY_SEND_FILES: '/hearth-objects' });
  const auth = basic(server.tokens.alice);
  await server.send('PUT', at, { auth, body });
  await server.send('PUT', at.replace('large', 'small'), { auth, body: 'small' });
  await server.send('PUT', at.replace('/open/', '/closed/'), { auth, body });

  const handed = await server.send('GET', at, { headers: proxied });
  const [, key = ''] =
    /^\/hearth-objects\/(packages\/[0-9a-z./-]+)$/.exec(handed.headers.get('x-accel-redirect')!) ?? [];
  t.match([handed.status, handed.bytes.length, handed.headers.get('etag')], [200, 0, /^"[0-9a-f]{64}"$/]);
  t.ok((await readFile(path.join(server.folder, 'data/objects', key))).equals(body), 'the file is there');
  const range = await server.send('GET', at, { headers: { ...proxied, Range: 'bytes=5-9' } });
  t.equal(range.headers.get('x-accel-redirect'), handed.headers.get('x-accel-redirect'), 'it reads the range itself');
  t.equal(
    (await server.send('GET', at, { headers: { ...proxied, 'If-None-Match': handed.headers.get('etag')! } })).status,
    304,
  );

  const rows: [
    what: string,
    method: string,
    target: string,
    headers: Record<string, string>,
    status: number,
    bytes: number,
  ][] = [
    ['without a proxy', 'GET', at, {}, 200, body.length],
    ['HEAD', 'HEAD', at, proxied, 200, 0],
    ['a small file', 'GET', at.replace('large', 'small'), proxied, 200, 5],
  ];
  for (const [what, method, target, headers, status, bytes] of rows) {
    const answer = await server.send(method, target, { headers });
    t.strictSame(
      [answer.status, answer.bytes.length, answer.headers.get('x-accel-redirect')],
      [status, bytes, null],
      what,
    );
  }
  const [closed, absent] = [at.replace('/open/', '/closed/'), at.replace('/open/', '/absent/')];
  for (const target of [closed, absent]) {
    const answer = await server.send('GET', target, { auth: basic(server.tokens.bob), headers: proxied });
    t.strictSame([answer.status, answer.headers.get('x-accel-redirect')], [404, null], 'who may not read it');
  }
  t.ok((await server.send('GET', closed, { auth, headers: proxied })).headers.has('x-accel-redirect'));
});

for (const [what, env] of [
  ['without the setting', {}],
  [
    'from a proxy that is not trusted',
    { SERVICE_PROXY_SEND_FILES: '/hearth-objects/', SERVICE_PROXY_TRUSTED: '192.0.2.7' },
  ],
] as const)
  t.test(what, async (t) => {
    const server = await startPackageServer(t, env);
    await server.send('PUT', at, { auth: basic(server.tokens.alice), body });
    const answer = await server.send('GET', at, { headers: proxied });
    t.strictSame([answer.bytes.length, answer.headers.get('x-accel-redirect')], [body.length, null]);
  });
