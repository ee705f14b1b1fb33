// B/attachments/{id} and POST B/issues/attachments over HTTP on the real modules.
import t from 'tap';
import { sendRequest, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import { cookieOf, encodeMultipart, upload } from '../../fixtures/upload.ts';
import type { Part } from '../../fixtures/upload.ts';
import { sampleImages } from '../../images/sample-images.ts';

const web = await startWeb(t, { env: { SERVICE_ISSUES_ATTACHMENT_SIZE: '4KiB' } });
const { issues } = web.modules;
const alice = await signedIn(web, 'alice');
const bob = await signedIn(web, 'bob');
const anonymous = visitor(web);
await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
await alice.post('/repos', { name: 'attic', visibility: 'PRIVATE' });
const kiln = { owner: 'alice', name: 'kiln' };
const address = '/repos/alice/kiln/issues/attachments';
const viewerOf = async (username: string) => ({
  kind: 'person' as const,
  id: (await web.modules.accounts.personByUsername(username))!.id,
  username,
  isAdministrator: false,
  via: 'session' as const,
  scope: 'admin' as const,
  repositoryIds: null,
});
const part = (bytes: Buffer | string, fileName = 'notes.txt', type = 'text/plain'): Part => ({
  name: 'files',
  bytes,
  fileName,
  type,
});

interface UploadReply {
  message?: string;
  files?: { name: string; path: string; markdown: string }[];
}

async function send(
  who: typeof alice,
  parts: readonly Part[],
  path = address,
): Promise<{ status: number } & UploadReply> {
  const answer = await upload(web, who, path, parts);
  return { status: answer.status, ...(JSON.parse(answer.body) as UploadReply) };
}

t.test('files are sent without a form, several at once, and only their sender sees them', async (t) => {
  const { status, files } = await send(bob, [part('hello'), part(sampleImages['image/png'], 'photo.png', 'image/png')]);
  t.equal(status, 201);
  const [notes, photo] = files!;
  t.match(notes!.markdown, /^\[notes\.txt\]\(\/repos\/alice\/kiln\/attachments\/[-0-9a-f]{36}\)$/);
  t.match(photo!.markdown, /^!\[photo\.png\]/);
  t.equal((await bob.get(notes!.path)).body, 'hello');
  t.equal((await alice.get(notes!.path)).status, 404);
  t.equal((await anonymous.get(notes!.path)).status, 404);
  const absent = await anonymous.get('/repos/alice/kiln/attachments/00000000-0000-4000-8000-000000000000');
  t.equal(absent.status, 404);
  const hidden = await anonymous.get(notes!.path);
  const plain = (body: string): string => body.replaceAll(/[-0-9a-f]{36}/g, '');
  t.equal(plain(hidden.body), plain(absent.body), 'hidden and absent answer alike');
});

t.test('a file that is shown: image inline, everything else as a download, nothing runs', async (t) => {
  const { files } = await send(bob, [
    part('<script>alert(1)</script>', 'page.html', 'text/html'),
    part(sampleImages['image/png'], 'photo "1".png', 'image/png'),
  ]);
  await issues.open(await viewerOf('bob'), kiln, {
    title: 'two',
    body: files!.map(({ markdown }) => markdown).join('\n'),
  });
  const [page, photo] = await Promise.all(files!.map(({ path }) => anonymous.get(path)));
  for (const answer of [page, photo])
    t.match(answer!.headers, {
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      'accept-ranges': 'bytes',
    });
  t.equal(page!.headers['content-type'], 'application/octet-stream');
  t.equal(page!.headers['content-disposition'], `attachment; filename="page.html"; filename*=UTF-8''page.html`);
  t.equal(photo!.headers['content-type'], 'image/png');
  t.match(photo!.headers['content-disposition'], /^inline; filename="photo _1_\.png"/);
});

t.test('ETag and Range', async (t) => {
  const { files } = await send(bob, [part('0123456789')]);
  const { path } = files![0]!;
  const whole = await bob.get(path);
  const tag = whole.headers.etag!;
  t.equal(whole.headers['content-length'], '10');
  t.equal((await bob.get(path, { 'If-None-Match': tag })).status, 304);
  const range = async (rangeHeader: string, more: Record<string, string> = {}) => {
    const { status, body, headers } = await bob.get(path, { Range: rangeHeader, ...more });
    return [status, body, headers['content-range']];
  };
  t.strictSame(await range('bytes=2-4'), [206, '234', 'bytes 2-4/10']);
  t.strictSame(await range('bytes=7-'), [206, '789', 'bytes 7-9/10']);
  t.strictSame(await range('bytes=-3'), [206, '789', 'bytes 7-9/10']);
  t.strictSame(await range('bytes=5-500'), [206, '56789', 'bytes 5-9/10']);
  t.strictSame(await range('bytes=10-'), [416, '', 'bytes */10']);
  t.strictSame(await range('bytes=-0'), [416, '', 'bytes */10']);
  t.strictSame(await range('bytes=4-2'), [416, '', 'bytes */10']);
  for (const odd of ['bytes=0-1,3-4', 'lines=1-2', 'bytes=-', 'bytes=a-b'])
    t.strictSame(await range(odd), [200, '0123456789', undefined], odd);
  t.strictSame(await range('bytes=2-4', { 'If-Range': tag }), [206, '234', 'bytes 2-4/10']);
  t.strictSame(await range('bytes=2-4', { 'If-Range': '"other"' }), [200, '0123456789', undefined]);
  t.equal((await bob.get(path, { Range: 'bytes=2-4', 'If-None-Match': tag })).status, 304);
});

t.test('an old address leads to where the file is, for who may see it', async (t) => {
  const { files } = await send(alice, [part('moved')]);
  const { path, markdown } = files![0]!;
  const viewer = await viewerOf('alice');
  const issue = await issues.open(viewer, kiln, { title: 'three', body: markdown });
  await issues.move(viewer, { ...kiln, number: issue.number }, { owner: 'alice', name: 'attic' });
  const answer = await alice.get(path);
  t.equal(answer.status, 301);
  t.equal(answer.headers.location, path.replace('/kiln/', '/attic/'));
  t.equal((await alice.get(answer.headers.location!)).body, 'moved');
  t.equal((await bob.get(path)).status, 404);
  t.equal((await bob.get(answer.headers.location!)).status, 404);
});

t.test('what is refused has words, and leaves nothing', async (t) => {
  const before = await count();
  t.match(await send(bob, [part('x'.repeat(4097))]), { status: 422, message: /at most 4 KiB/ });
  t.match(await send(bob, [part('')]), { status: 422, message: /empty/ });
  t.match(await send(bob, []), { status: 422 });
  t.match(await send(bob, [{ name: 'other', bytes: 'x' }]), { status: 422 });
  t.match(await send(bob, [part(sampleImages['image/png'].subarray(0, 30), 'x.png')]), {
    status: 422,
    message: /damaged/,
  });
  t.equal(await count(), before);
  t.match(
    await send(
      bob,
      Array.from({ length: 11 }, () => part('x')),
    ),
    { status: 422, message: /at most 10 files/ },
  );
  const big = encodeMultipart([part('x'.repeat(200_000))]);
  const headers = { 'Content-Type': big.type, Origin: web.origin, Cookie: cookieOf(bob) };
  t.equal(
    (await sendRequest(web, address, { method: 'POST', body: Buffer.concat([big.body, big.body, big.body]), headers }))
      .status,
    413,
  );
  t.equal((await sendRequest(web, address, { method: 'POST', body: 'nonsense', headers })).status, 400);
  t.equal((await upload(web, bob, '/repos/alice/attic/issues/attachments', [part('x')])).status, 404);
  t.equal((await upload(web, anonymous, address, [part('x')])).status, 303, 'sign in first');
  const foreignOrigin = { Origin: 'https://evil.example' };
  t.equal((await upload(web, bob, address, [part('x')], { headers: foreignOrigin })).status, 403);
});

t.test('the right to pull requests decides about their files, that to issues about the others', async (t) => {
  const pulls = '/repos/alice/kiln/pulls/attachments';
  const set = async (change: Parameters<typeof issues.changeSettings>[2]) =>
    issues.changeSettings(await viewerOf('alice'), kiln, change);
  const statuses = async () =>
    Promise.all([address, pulls].map(async (at) => (await upload(web, bob, at, [part('x')])).status));
  t.same(await statuses(), [201, 201]);
  await set({ issuesFrom: 'members' });
  t.same(await statuses(), [403, 201]);
  await set({ issuesFrom: 'anyone', pullsFrom: 'members' });
  t.same(await statuses(), [201, 403]);
  await set({ pullsFrom: 'anyone' });
  t.equal((await upload(web, anonymous, pulls, [part('x')])).status, 303, 'sign in first');
});

async function count(): Promise<number> {
  const [row] = await web.modules.db.read.query('SELECT count(*) AS n FROM attachments');
  return Number((row as { n: number }).n);
}

t.test('the API attaches to an issue, lists and removes', async (t) => {
  const viewer = await viewerOf('bob');
  const { number } = await issues.open(viewer, kiln, { title: 'four', body: 'It cracks.' });
  const { secret } = await web.modules.accounts.addToken(viewer.id, {
    name: 'api',
    access: 'write',
    repositoryIds: null,
    expiresAt: null,
  });
  const list = `/api/v1/repos/alice/kiln/issues/${number}/assets`;
  const call = async (method: string, path: string, parts?: readonly Part[], token: string | null = secret) => {
    const form = parts && encodeMultipart(parts);
    const { status, body } = await sendRequest(web, path, {
      method,
      ...(form && { body: form.body }),
      headers: {
        ...(token !== null && { Authorization: `token ${token}` }),
        ...(form && { 'Content-Type': form.type }),
      },
    });
    return { status, value: body === '' ? null : (JSON.parse(body) as Record<string, string>) };
  };
  const made = await call('POST', `${list}?name=crack.txt`, [{ ...part('deep'), name: 'attachment' }]);
  t.match(made, { status: 201, value: { name: 'crack.txt', size: 4, type: 'attachment' } });
  const path = new URL(made.value!['browser_download_url']!).pathname;
  t.equal((await anonymous.get(path)).body, 'deep');
  t.match(await call('GET', list, undefined, null), { status: 200, value: [{ id: made.value!['id'] }] });
  t.match(await call('GET', `${list}/${made.value!['id']}`, undefined, null), { status: 200, value: made.value! });
  t.equal((await call('POST', list, [{ ...part('x'), name: 'other' }])).status, 422);
  t.equal((await call('POST', list, [{ ...part('x'.repeat(5000)), name: 'attachment' }])).status, 422);
  t.equal((await call('POST', list, [part('x')], null)).status, 401);
  t.equal((await call('GET', `${list}/00000000-0000-4000-8000-000000000000`)).status, 404);
  t.match(await call('GET', list.replace(/\d+\/assets$/, 'x/assets')), {
    status: 404,
    value: { error: { message: 'Issue not found' } },
  });
  t.equal((await call('DELETE', `${list}/${made.value!['id']}`)).status, 204);
  t.equal((await anonymous.get(path)).status, 404);
});

t.test('the forms of an issue take files, without scripts, and keep what was typed when one is refused', async (t) => {
  const viewer = await viewerOf('bob');
  const field = (name: string, value: string): Part => ({ name, bytes: value, fileName: null, type: null });
  const form = (path: string, parts: readonly Part[]) => upload(web, bob, path, parts);
  const made = await form('/repos/alice/kiln/issues/new', [
    field('title', 'five'),
    field('body', 'It cracks.'),
    field('action', 'open'),
    part('deep', 'crack.txt'),
    part(sampleImages['image/png'], 'photo.png', 'image/png'),
  ]);
  t.equal(made.status, 303);
  const url = made.headers.location!;
  const number = Number(url.split('/').at(-1));
  const body = async (position: number) =>
    (await issues.listEntries(viewer, { ...kiln, number }, { from: position, limit: 1 })).entries[0]!.body!;
  t.match(await body(0), /^It cracks\.\n\n\[crack\.txt\]\(\S+\)\n!\[photo\.png\]\(\S+\)$/);
  const shown = (await anonymous.get(url)).body;
  const [, image = ''] = /<img[^>]*src="([^"]*attachments[^"]*)"/.exec(shown) ?? [];
  t.equal((await anonymous.get(image)).headers['content-type'], 'image/png', 'the page shows it');
  t.equal((await bob.get(`${url}?edit=0`)).body.match(/type="file"/g)?.length, 2, 'to edit, and to reply');

  const empty: Part = { name: 'files', bytes: '', fileName: '', type: 'application/octet-stream' };
  t.equal((await form(`${url}/comments`, [field('body', 'no file'), field('action', 'comment'), empty])).status, 303);
  t.equal(await body(1), 'no file');
  t.equal((await form(`${url}/comments`, [field('action', 'comment'), part('only a file')])).status, 303);
  t.match(await body(2), /^\[notes\.txt\]/);

  const refused = await form(`${url}/comments`, [
    part('kept', 'kept.txt'),
    part('x'.repeat(5000), 'big.txt'),
    field('body', 'My long text'),
    field('action', 'comment'),
  ]);
  t.equal(refused.status, 422);
  t.match(refused.body, /My long text\s+\[kept\.txt\]/, 'what was typed, and what was sent, is there again');
  t.match(refused.body, /id="reply-files-error">A file can be at most 4 KiB\./);
  const preview = await form(`${url}/comments`, [
    field('body', 'Look'),
    field('action', 'preview'),
    part('p', 'p.txt'),
  ]);
  t.equal(preview.status, 200);
  t.match(preview.body, /<a href="[^"]*attachments[^"]*"[^>]*>p\.txt/);

  const edited = await form(`${url}/edit`, [
    field('position', '1'),
    field('revision', '1'),
    field('body', 'now one'),
    field('action', 'save'),
    part('e', 'e.txt'),
  ]);
  t.equal(edited.status, 303);
  t.match(await body(1), /^now one\n\n\[e\.txt\]/);
});

t.test('an issue as JSON and as Markdown', async (t) => {
  const viewer = await viewerOf('bob');
  const { number } = await issues.open(viewer, kiln, { title: 'six', body: '<b>It</b> cracks.' });
  const json = await anonymous.get(`/repos/alice/kiln/issues/${number}.json`);
  t.equal(json.headers['content-type'], 'application/json; charset=utf-8');
  t.match(JSON.parse(json.body), { number, title: 'six', entries: [{ kind: 'opened', body: '<b>It</b> cracks.' }] });
  const markdown = await anonymous.get(`/repos/alice/kiln/issues/${number}.md`);
  t.equal(markdown.headers['content-type'], 'text/markdown; charset=utf-8');
  t.match(markdown.headers['content-security-policy'], /sandbox/);
  t.match(markdown.body, new RegExp(`^# six \\(#${number}\\)`));
  t.equal((await anonymous.get('/repos/alice/kiln/issues/999.json')).status, 404);
  t.equal((await anonymous.get('/repos/alice/attic/issues/1.md')).status, 404);
});
