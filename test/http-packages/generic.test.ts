// Generic packages: any files, by the requests that curl sends.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { basic, sha256, startPackageServer } from './package-server.ts';

const server = await startPackageServer(t, { SERVICE_PACKAGES_MAX_FILE_SIZE: '64KiB' });
const { tokens, send } = server;
const auth = basic(tokens.alice);
const at = '/packages/alice/generic';

t.test('a file is published once, read in parts, and deleted with its version', async (t) => {
  const content = 'the content of a file';
  t.equal((await send('PUT', `${at}/tool/1.0/tool.bin`, { auth, body: content })).status, 201);
  const got = await send('GET', `${at}/tool/1.0/tool.bin`);
  t.strictSame([got.status, got.text, got.headers.get('etag')], [200, content, `"${sha256(content)}"`]);
  t.match(got.headers.get('content-disposition'), /attachment; filename="tool.bin"/);
  t.equal(got.headers.get('content-security-policy'), "default-src 'none'; sandbox");
  t.equal((await send('GET', `/api${at}/tool/1.0/tool.bin`)).text, content, 'where Gitea has it');
  const part = await send('GET', `${at}/tool/1.0/tool.bin`, { headers: { Range: 'bytes=4-' } });
  t.strictSame([part.status, part.text], [206, content.slice(4)]);
  t.equal((await send('GET', `${at}/tool/1.0/tool.bin`, { headers: { Range: 'bytes=500-' } })).status, 416);
  t.equal(
    (await send('GET', `${at}/tool/1.0/tool.bin`, { headers: { 'If-None-Match': `"${sha256(content)}"` } })).status,
    304,
  );
  const head = await send('HEAD', `${at}/tool/1.0/tool.bin`);
  t.strictSame([head.status, head.headers.get('content-length'), head.text], [200, String(content.length), '']);
  const again = await send('PUT', `${at}/tool/1.0/tool.bin`, { auth, body: 'other' });
  t.equal(again.status, 409);
  t.match(again.text, /already exists/);
  t.equal(
    (await send('PUT', `${at}/tool/1.0/second.bin`, { auth, body: '' })).status,
    201,
    'another file of it, empty',
  );
  t.equal((await send('DELETE', `${at}/tool/1.0/second.bin`, { auth })).status, 204);
  t.equal((await send('GET', `${at}/tool/1.0/second.bin`)).status, 404);
  t.equal((await send('DELETE', `${at}/tool/1.0`, { auth })).status, 204);
  t.equal((await send('GET', `${at}/tool/1.0/tool.bin`)).status, 404);
  t.equal((await send('PUT', `${at}/tool/1.0/tool.bin`, { auth, body: 'anew' })).status, 201);
  t.equal((await send('GET', `${at}/tool/1.0/tool.bin`)).text, 'anew');
});

t.test('a file that is removed leaves the size, and the last one takes its version along', async (t) => {
  const page = '/packages/alice/-/generic/sized/1.0';
  const sizeOf = async () => /#disk"[^]*?<\/svg>\s*([^<]+)/.exec((await send('GET', page)).text)?.[1]?.trim();
  for (const [file, bytes] of [
    ['small', 1_000],
    ['large', 10_000],
  ] as const)
    t.equal((await send('PUT', `${at}/sized/1.0/${file}`, { auth, body: Buffer.alloc(bytes) })).status, 201);
  t.equal((await send('PUT', `${at}/sized/2.0/small`, { auth, body: 'x' })).status, 201, 'another version');
  t.equal(await sizeOf(), '11 kB');
  t.equal((await send('DELETE', `${at}/sized/1.0/large`, { auth })).status, 204);
  t.equal(await sizeOf(), '1.0 kB');
  t.equal((await send('DELETE', `${at}/sized/1.0/small`, { auth })).status, 204);
  const { json } = await send('GET', '/api/v1/packages/alice/generic/sized', { auth });
  t.strictSame(
    json.map(({ version }: { version: string }) => version),
    ['2.0'],
  );
});

t.test('what is no name is refused before its content is read', async (t) => {
  const cases: readonly (readonly [path: string, status: number])[] = [
    ['tool/1.0/%2e%2e%2fx', 400],
    ['tool/1.0/a%00b', 400],
    ['tool/%2e%2e/x', 400],
    ['a%2fb/1.0/x', 400],
    [`${'x'.repeat(300)}/1.0/x`, 400],
    [`tool/${'1'.repeat(300)}/x`, 400],
    [`tool/1.0/${'x'.repeat(300)}`, 400],
    ['tool/1.0/%zz', 400],
    ['tool/1.0', 405],
  ];
  for (const [path, status] of cases)
    t.equal((await send('PUT', `${at}/${path}`, { auth, body: 'x' })).status, status, path);
  const large = await send('PUT', `${at}/tool/2.0/large`, { auth, body: Buffer.alloc(64 * 1024 + 1) });
  t.equal(large.status, 413);
  t.match(large.text, /at most 64 KiB/);
  t.equal((await send('GET', `${at}/tool/2.0/large`)).status, 404, 'nothing of it is there');
});

t.test('of several publishers of one file one succeeds', async (t) => {
  const sent = await Promise.all([1, 2, 3, 4].map((one) => send('PUT', `${at}/race/1/f`, { auth, body: `by ${one}` })));
  t.strictSame(sent.map(({ status }) => status).sort(), [201, 409, 409, 409]);
  const winner = sent.findIndex(({ status }) => status === 201) + 1;
  t.equal((await send('GET', `${at}/race/1/f`)).text, `by ${winner}`);
});

t.test('an owner of packages is not deleted before them', async (t) => {
  const { accounts, organisations } = server.app.modules;
  const acme = '/packages/acme/generic';
  const admin = basic(tokens.aliceAdmin);
  t.equal((await send('PUT', `${acme}/tool/1.0/tool.bin`, { auth: admin, body: 'x' })).status, 201);
  t.equal((await send('PUT', '/packages/bob/generic/tool/1.0/x', { auth: basic(tokens.bob), body: 'x' })).status, 201);
  const ends: [string, string, () => Promise<unknown>][] = [
    ['bob', basic(tokens.bob), () => accounts.deletePerson(server.ids.bob)],
    ['acme', admin, () => organisations.delete(localAdministrator, 'acme')],
  ];
  for (const [owner, auth, end] of ends) {
    await t.rejects(end(), { reason: 'owner_has_packages', message: /tool \(generic\)/ }, owner);
    t.equal(
      (await send('GET', `/packages/${owner}/generic/tool/1.0/${owner === 'bob' ? 'x' : 'tool.bin'}`)).status,
      200,
    );
    t.equal((await send('DELETE', `/packages/${owner}/generic/tool/1.0`, { auth })).status, 204);
    await end();
  }
  t.equal((await send('PUT', `${at}/kept/1.0/x`, { auth, body: 'x' })).status, 201, 'those of another stay');
});
