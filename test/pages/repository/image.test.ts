// SPEC §4.3, §8: images of repositories, pictures of people and organisations, over HTTP on the real modules.
import t from 'tap';
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { localAdministrator } from '../../../src/access/index.ts';
import { maxImageBytes } from '../../../src/images/index.ts';
import { sampleImages as samples, zipArchive } from '../../images/sample-images.ts';
import { sendRequest, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';
import { cookieOf, encodeMultipart, upload } from '../../fixtures/upload.ts';
import type { Part } from '../../fixtures/upload.ts';

const web = await startWeb(t);
const alice = await signedIn(web, 'alice');
const bob = await signedIn(web, 'bob');
await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
await alice.post('/repos', { name: 'attic', visibility: 'PRIVATE' });
const [kiln, attic] = ['/repos/alice/kiln', '/repos/alice/attic'];
const png = samples['image/png'];
const image = (bytes: Buffer | string = png, type = 'image/png'): Part => ({ name: 'image', bytes, type });
const files = (): string[] => readdirSync(web.modules.config.repositories.imageRoot);
const row = async (name: string) => (await web.modules.repositories.find(localAdministrator, 'alice', name)).repository;
const addressIn = ({ body }: PageResponse, of = kiln): string =>
  new RegExp(`${of}/image\\?v=\\d+`).exec(body)?.[0] ?? '';

/** What the settings page says beside the field. */
const words = ({ body }: PageResponse, field = 'image'): string =>
  new RegExp(`<p class="error" id="${field}-error">([^<]*)`).exec(body)?.[1] ?? '';

/** Sends a body in chunks, without a length, until there is a response. */
function sendChunked(
  path: string,
  cookie: string,
  type: string,
  chunks: Iterable<Buffer>,
): Promise<{ status: number; sent: number }> {
  return new Promise((resolve, reject) => {
    let sent = 0;
    let isResponded = false;
    const sending = request({
      host: '127.0.0.1',
      port: web.port,
      path,
      method: 'POST',
      agent: false,
      headers: { 'Content-Type': type, Origin: web.origin, Cookie: cookie },
    });
    sending.on('response', (response) => {
      isResponded = true;
      response.resume().on('end', () => {
        resolve({ status: response.statusCode ?? 0, sent });
        sending.destroy();
      });
    });
    sending.on('error', (error) => (isResponded ? undefined : reject(error)));
    void (async () => {
      for (const chunk of chunks) {
        if (isResponded) return;
        sent += chunk.length;
        if (!sending.write(chunk)) await new Promise((drained) => sending.once('drain', drained));
      }
      if (!isResponded) sending.end();
    })();
  });
}

t.test('security B06, SPEC §4.3 every allowed type is stored, served as itself, and named by its time', async (t) => {
  for (const [type, bytes] of Object.entries(samples)) {
    const done = await upload(web, alice, `${kiln}/image`, [image(bytes, type)]);
    t.match([done.status, done.headers.location], [303, `${kiln}/settings?done=image-saved`], type);
    const { imageContentType, imageUpdatedAt, id } = await row('kiln');
    t.equal(imageContentType, type);
    const address = addressIn(await alice.get(`${kiln}/settings`));
    t.equal(address, `${kiln}/image?v=${imageUpdatedAt}`);
    const { status, headers } = await visitor(web).get(address);
    t.match(
      [status, headers['content-type'], headers['cache-control']],
      [200, type, 'public, max-age=31536000, immutable'],
    );
    t.match(headers, {
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'content-disposition': /^inline; filename="image\.(?:png|jpg|gif|webp)"$/,
      'content-length': String(bytes.length),
    });
    t.same(files(), [id], 'one file, named by the UUID');
  }
});

t.test('SPEC §8 the cache is private where the repository is, and 304 is sent to who has it', async (t) => {
  await upload(web, alice, `${attic}/image`, [image()]);
  const response = await alice.get(`${attic}/image?v=whatever`);
  t.match(
    [response.status, response.headers['cache-control'], response.headers.vary],
    [200, 'private, max-age=31536000, immutable', 'Cookie, Authorization'],
  );
  const again = await alice.get(`${attic}/image`, { 'If-None-Match': response.headers.etag ?? '' });
  t.match([again.status, again.body, again.headers.etag], [304, '', response.headers.etag]);
  const head = await sendRequest(web, `${attic}/image`, { method: 'HEAD', headers: { Cookie: cookieOf(alice) } });
  t.match([head.status, head.headers['content-type'], head.body], [200, 'image/png', '']);
  await upload(web, alice, `${attic}/image`, [image(samples['image/gif'], 'image/gif')]);
  t.equal(
    (await alice.get(`${attic}/image`, { 'If-None-Match': response.headers.etag ?? '' })).status,
    200,
    'another image is another tag',
  );
});

t.test('SPEC §4.3 no right to read, no image, no file: the same 404', async (t) => {
  const bytes = ({ status, body }: PageResponse) => [status, body];
  const absent = await visitor(web).get('/repos/alice/none/image');
  t.equal(absent.status, 404);
  t.same(bytes(await visitor(web).get(`${attic}/image`)), bytes(absent), 'signed out');
  const absentToBob = await bob.get('/repos/alice/none/image');
  t.same(bytes(await bob.get(`${attic}/image`)), bytes(absentToBob), 'a person without access');
  await alice.post('/repos', { name: 'plain', visibility: 'PUBLIC' });
  t.same(bytes(await bob.get('/repos/alice/plain/image')), bytes(absentToBob), 'no image');
});

t.test(
  'security B05, SPEC §7 a refused image is a form error on the settings page, and the old one stays',
  async (t) => {
    await upload(web, alice, `${kiln}/image`, [image()]);
    const before = await row('kiln');
    const full = (bytes: number): Buffer => Buffer.concat([png, Buffer.alloc(bytes - png.length, 7)]);
    const cases: [string, readonly Part[], RegExp][] = [
      ['one byte too many', [image(full(maxImageBytes + 1))], /at most 2 MB/],
      ['far too large', [image(full(maxImageBytes + 300_000))], /at most 2 MB/],
      ['no file', [], /Choose an image file/],
      [
        'an empty input, as browsers send it',
        [{ name: 'image', bytes: '', fileName: '', type: 'application/octet-stream' }],
        /Choose an image file/,
      ],
      ['an empty file', [image('')], /not empty/],
      ['two files', [image(), image(samples['image/gif'], 'image/gif')], /a single image/],
      ['another field', [{ name: 'avatar', bytes: png }], /Choose an image file/],
      ['a field of the prototype', [{ name: '__proto__', bytes: png }], /Choose an image file/],
      [
        'a field instead of a file',
        [{ name: 'image', bytes: 'PNG', fileName: null, type: null }],
        /Choose an image file/,
      ],
      ['SVG', [image('<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml')], /PNG, JPEG, GIF or WebP/],
      ['a type that is not told', [image(png, 'application/octet-stream')], /PNG, JPEG, GIF or WebP/],
      ['bytes that lie', [image(samples['image/gif'], 'image/png')], /its content does not match/],
      ['text', [image('hello')], /its content does not match/],
      ['RIFF that is sound', [image(Buffer.from('RIFF\0\0\0\0WAVEfmt '), 'image/webp')], /its content does not match/],
      ['a magic that ends too early', [image(png.subarray(0, 5))], /its content does not match/],
      ['a polyglot', [image(Buffer.concat([png, zipArchive]))], /is both a PNG and zip/],
      [
        'nine fields',
        Array.from({ length: 9 }, (_, index) => ({ name: `f${index}`, bytes: 'x', fileName: null, type: null })),
        /could not be read|Choose/,
      ],
      [
        'a field of a megabyte',
        [{ name: 'note', bytes: 'x'.repeat(1e6), fileName: null, type: null }, image()],
        /could not be read/,
      ],
    ];
    for (const [what, parts, message] of cases) {
      const response = await upload(web, alice, `${kiln}/image`, parts);
      t.equal(response.status, 422, what);
      t.match(words(response), message, what);
      t.match(response.body, /role="alert" tabindex="-1" autofocus/, what);
    }
    t.same(await row('kiln'), before, 'nothing changed');
    const { id } = before;
    t.same(
      files().filter((name) => name.includes(id)),
      [id],
      'and nothing was left behind',
    );

    const largest = await upload(web, alice, `${kiln}/image`, [image(full(maxImageBytes))]);
    t.equal(largest.status, 303, '2,097,152 bytes are accepted');
    t.equal((await alice.get(`${kiln}/image`)).headers['content-length'], String(maxImageBytes));
  },
);

t.test('security B05 bodies that are no such form are refused in words, too', async (t) => {
  const form = encodeMultipart([image()]);
  const cases: [string, Record<string, string>, Buffer | string, number][] = [
    ['urlencoded', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'image=x', 422],
    ['the bare file', { 'Content-Type': 'image/png' }, png, 422],
    ['octets', { 'Content-Type': 'application/octet-stream' }, png, 422],
    ['no boundary', { 'Content-Type': 'multipart/form-data' }, form.body, 422],
    ['a boundary that does not occur', { 'Content-Type': 'multipart/form-data; boundary=other' }, form.body, 422],
    ['cut off', { 'Content-Type': form.type }, form.body.subarray(0, form.body.length - 20), 422],
    ['compressed', { 'Content-Type': form.type, 'Content-Encoding': 'gzip' }, form.body, 415],
  ];
  for (const [what, headers, body, status] of cases) {
    t.equal((await upload(web, alice, `${kiln}/image`, [], { headers, body })).status, status, what);
  }
});

t.test('security B05 a body without a length is read no further than it may be long', async (t) => {
  const { type, body } = encodeMultipart([image()]);
  t.equal(
    (await sendChunked(`${kiln}/image`, cookieOf(alice), type, [body.subarray(0, 100), body.subarray(100)])).status,
    303,
    'a small one is fine',
  );

  function* endless(start: Buffer): Generator<Buffer> {
    yield start;
    for (let index = 0; index < 4_000; index += 1) yield Buffer.alloc(64 * 1024, 65);
  }
  const boundary = '------hearth0123456789';
  const starts: Record<string, string> = {
    'in the file': `${boundary}\r\nContent-Disposition: form-data; name="image"; filename="x"\r\nContent-Type: image/png\r\n\r\n`,
    'in a header of a part': `${boundary}\r\nX-Long: `,
    'before the first part': '',
  };
  for (const [where, start] of Object.entries(starts)) {
    const { status, sent } = await sendChunked(`${kiln}/image`, cookieOf(alice), type, endless(Buffer.from(start)));
    t.equal(status, 422, where);
    t.ok(sent < 64 * 1024 * 1024, `${where}: answered after ${sent} bytes`);
  }
});

t.test('security B05, SPEC §7 a non-owner is refused before a byte is read', async (t) => {
  await bob.post('/repos', { name: 'own', visibility: 'PUBLIC' });
  await alice.post(`${kiln}/settings/collaborators`, { username: 'bob', role: 'admin' });
  const big = Buffer.alloc(1024 * 1024);
  const bytes = ({ status, body }: PageResponse) => [status, body];
  for (const [who, browser] of [
    ['signed out', visitor(web)],
    ['a collaborator with the role admin', bob],
  ] as const) {
    const absent = await upload(web, browser, '/repos/alice/none/image', [image(big)]);
    t.equal(absent.status, 404, who);
    for (const path of [`${kiln}/image`, `${attic}/image`, `${kiln}/image/delete`])
      t.same(bytes(await upload(web, browser, path, [image(big)])), bytes(absent), `${who} at ${path}`);
    // Said to be long and never sent: the response must not wait for it.
    const waiting = await sendRequest(web, `${kiln}/image`, {
      method: 'POST',
      headers: {
        'Content-Type': encodeMultipart([]).type,
        'Transfer-Encoding': 'chunked',
        Origin: web.origin,
        Cookie: cookieOf(browser),
      },
    });
    t.equal(waiting.status, 404);
  }
  const forged = await upload(web, alice, `${kiln}/image`, [image()], { headers: { Origin: 'https://evil.example' } });
  t.equal(forged.status, 403, 'nor does another site upload');
});

t.test('SPEC §3 deleting the image, and deleting the repository, remove the file', async (t) => {
  await alice.post('/repos', { name: 'gone', visibility: 'PUBLIC' });
  await upload(web, alice, '/repos/alice/gone/image', [image()]);
  const { id } = await row('gone');
  t.ok(files().includes(id));
  const removed = await alice.post('/repos/alice/gone/image/delete');
  t.match([removed.status, removed.headers.location], [303, '/repos/alice/gone/settings?done=image-removed']);
  t.match(await row('gone'), { imageContentType: null, imageUpdatedAt: null });
  t.notOk(files().includes(id));
  t.equal((await alice.post('/repos/alice/gone/image/delete')).status, 303, 'also when there was none');
  await upload(web, alice, '/repos/alice/gone/image', [image()]);
  await alice.post('/repos/alice/gone/settings/delete', { confirm: 'alice/gone' });
  t.notOk(files().includes(id));
});

t.test('SPEC §4.3 a repository shows its image, else the picture of its owner', async (t) => {
  await upload(web, bob, '/settings/avatar', [{ name: 'avatar', bytes: samples['image/jpeg'], type: 'image/jpeg' }]);
  await upload(web, bob, '/repos/bob/own/image', [image()]);
  await bob.post('/repos', { name: 'other', visibility: 'PUBLIC' });
  await bob.post('/repos/bob/own/pin');
  const picture = new RegExp(`/avatars/${bob.id}\\?v=\\d+`);
  for (const page of ['/', '/explore', '/users/bob']) {
    const { body } = await bob.get(page);
    t.match(addressIn({ body } as PageResponse, '/repos/bob/own'), /image\?v=/, `${page}: the image`);
    t.match(body, picture, `${page}: the owner's picture for the other`);
  }
  t.match((await bob.get('/repos/bob/own')).body, /\/repos\/bob\/own\/image\?v=/);
  const address = picture.exec((await bob.get('/repos/bob/other')).body)?.[0] ?? '';
  const { status, headers } = await visitor(web).get(address);
  t.match(
    [status, headers['content-type'], headers['cache-control']],
    [200, 'image/jpeg', 'public, max-age=31536000, immutable'],
    'avatars are public',
  );
  t.equal((await visitor(web).get(`/avatars/${alice.id}`)).status, 404, 'no picture');
  t.equal(
    (await visitor(web).get(`/avatars/${alice.id}.svg`)).headers['content-type'],
    'image/svg+xml',
    'but always a drawn one',
  );
});

t.test('pictures of people and organisations keep the same rules', async (t) => {
  await alice.post('/orgs', { name: 'guild' });
  for (const path of ['/settings/avatar', '/orgs/guild/avatar']) {
    const refused = await upload(web, alice, path, [{ name: 'avatar', bytes: 'no', type: 'image/png' }]);
    t.match([refused.status, words(refused, 'avatar')], [422, /its content does not match/], path);
    const done = await upload(web, alice, path, [{ name: 'avatar', bytes: png }]);
    t.match(done.headers.location, /done=avatar-saved$/, path);
    t.match((await alice.post(`${path}/delete`)).headers.location, /done=avatar-removed$/, path);
  }
  t.equal(
    (await upload(web, bob, '/orgs/guild/avatar', [{ name: 'avatar', bytes: png }])).status,
    404,
    'for OWNERs only',
  );
  const signedOut = await upload(web, visitor(web), '/orgs/guild/avatar', [{ name: 'avatar', bytes: png }]);
  t.match([signedOut.status, signedOut.headers.location], [303, '/login']);
});
