// B/releases, B/tags and their forms over HTTP on the real modules: the addresses that Gitea and GitHub have, drafts,
// files, feeds, deletions, and repositories that are hidden.
import { createHash } from 'node:crypto';
import t from 'tap';
import { upload } from '../../fixtures/upload.ts';
import type { Part } from '../../fixtures/upload.ts';
import { fillRepository, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

t.setTimeout(120_000);

const web = await startWeb(t, { env: { SERVICE_RELEASES_FILE_SIZE: '64KiB' } });
const { releases } = web.modules;
const alice = await signedIn(web, 'alice');
const bob = await signedIn(web, 'bob');
const anonymous = visitor(web);
const kiln = { owner: 'alice', name: 'kiln' };
const B = '/repos/alice/kiln';

await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
const field = (name: string, bytes: string): Part => ({ name, bytes, fileName: null, type: null });
const file = (fileName: string, bytes: string): Part => ({ name: 'files', bytes, fileName, type: 'text/plain' });

const { path, repository } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
let tip = '';

t.test('an empty repository says what is missing, and offers no form', async (t) => {
  const page = await alice.get(`${B}/releases`);
  t.match(page.body, /A release needs a commit: push one first/);
  t.notMatch(page.body, /releases\/new/);
  const feed = await anonymous.get(`${B}/releases.atom`);
  t.match(feed, { status: 200, body: /<feed/ });
  t.equal((await anonymous.get(`${B}/releases/latest`)).status, 404);
  t.equal((await alice.post(`${B}/releases/new`, { tag: 'v1', action: 'publish' })).status, 422);
  await fillRepository(t, path, { 'a.txt': 'one\n' });
  tip = (await web.modules.git.refs.head(path)).oid!;
});

t.test('a release with files, from the form to the download', async (t) => {
  t.match((await anonymous.get(`${B}/releases`)).body, /There are no releases yet/);
  t.match((await alice.get(`${B}/releases`)).body, /Publish the first one/);
  const form = await alice.get(`${B}/releases/new?tag=v1.0`);
  t.match(form.body, /name="tag"[^>]*value="v1\.0"/);
  const done = await upload(web, alice, `${B}/releases/new`, [
    field('tag', 'v1.0'),
    field('title', 'The first <kiln>'),
    field('body', '## Hot\n\nSee #1 and <script>alert(1)</script>'),
    field('tag_message', 'One'),
    file('kiln 1.0.txt', 'hello'),
    file('empty.bin', ''),
    field('action', 'publish'),
  ]);
  t.match([done.status, done.headers.location], [303, `${B}/releases/tag/v1.0?done=release-published`]);
  const page = (await anonymous.get(`${B}/releases/tag/v1.0?done=release-published`)).body;
  t.match(page, /The release has been published/);
  t.match(page, /The first &lt;kiln&gt;/);
  t.match(page, />Hot</);
  t.notMatch(page, /<script>alert/);
  t.match(page, /Latest/);
  t.match(page, new RegExp(createHash('sha256').update('hello').digest('hex')));
  t.match(page, `${B}/archive/refs/tags/v1.0.zip`);
  t.match(page, `${B}/archive/refs/tags/v1.0.tar.gz`);
  t.match(page, /aria-current="page"[^>]*>.{0,200}Releases/s);
  t.match((await anonymous.get(`${B}/releases`)).body, /kiln 1\.0\.txt/);
  t.match((await anonymous.get(B)).body, /Releases<span class="tab-count">1<\/span>/);

  const address = `${B}/releases/download/v1.0/kiln%201.0.txt`;
  t.match(page, address);
  const got = await anonymous.get(address);
  t.match(got, { status: 200, body: 'hello' });
  t.match(got.headers, {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="kiln 1.0.txt"; filename*=UTF-8''kiln%201.0.txt`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
    'content-length': '5',
  });
  const part = await anonymous.get(address, { Range: 'bytes=1-3' });
  t.match([part.status, part.body, part.headers['content-range']], [206, 'ell', 'bytes 1-3/5']);
  t.equal((await anonymous.get(address, { Range: 'bytes=9-' })).status, 416);
  t.equal((await anonymous.get(address, { 'If-None-Match': got.headers.etag! })).status, 304);
  t.equal(
    (await anonymous.get(`${address}.sha256`)).body,
    `${createHash('sha256').update('hello').digest('hex')}  kiln 1.0.txt\n`,
  );
  const latest = await anonymous.get(`${B}/releases/latest`);
  t.match([latest.status, latest.headers.location], [303, `${B}/releases/tag/v1.0`]);
  const direct = await anonymous.get(`${B}/releases/latest/download/kiln%201.0.txt`);
  t.match([direct.status, direct.headers.location], [303, address]);
  for (const wrong of ['v1.0/absent', 'v9/kiln%201.0.txt', 'v1.0', 'v1.0/..%2f..%2fa', 'v1.0/absent.sha256'])
    t.equal((await anonymous.get(`${B}/releases/download/${wrong}`)).status, 404, wrong);
  await releases.saveDownloads();
  t.match((await anonymous.get(`${B}/releases/tag/v1.0`)).body, /[1-9] downloads?/);
});

t.test('what is refused comes back with its reason and what was typed, and leaves no file', async (t) => {
  const countObjects = async (): Promise<number> => {
    let count = 0;
    for await (const each of web.modules.objects.list('releases/')) count += each.bytes >= 0 ? 1 : 0;
    return count;
  };
  const before = await countObjects();
  const cases: [fields: Record<string, string>, says: RegExp][] = [
    [{ tag: 'v1.0' }, /A release for the tag v1\.0 already exists/],
    [{ tag: 'a..b' }, /git does not accept this tag name/],
    [{ tag: 'v2', target: 'nowhere' }, /no branch, tag or commit with this name/],
    [{ tag: 'v2', title: 'x'.repeat(300) }, /at most 255 characters/],
  ];
  for (const [fields, says] of cases) {
    const parts = Object.entries({ body: 'kept text', action: 'publish', ...fields }).map(([name, value]) =>
      field(name, value),
    );
    const response = await upload(web, alice, `${B}/releases/new`, [...parts, file('a.txt', 'x')]);
    t.equal(response.status, 422, JSON.stringify(fields));
    t.match(response.body, says);
    t.match(response.body, /kept text/);
    t.match(response.body, /Choose the files again/);
  }
  for (const [name, text, says] of [
    ['../../etc/passwd', 'x', /A file name/],
    ['a\u202etxt.exe', 'x', /A file name/],
    ['large.bin', 'x'.repeat(70_000), /at most 64 KiB/],
  ] as const) {
    const parts = [field('tag', 'v2'), field('body', 'kept text'), field('action', 'publish'), file('good.txt', 'x')];
    const response = await upload(web, alice, `${B}/releases/new`, [...parts, file(name, text)]);
    t.equal(response.status, 422, name);
    t.match(response.body, says);
    t.match(response.body, /kept text/);
  }
  t.equal(await countObjects(), before, 'files of refused forms are gone');
  t.notOk((await web.modules.git.refs.list(path)).has('refs/tags/v2'));
  const written = await alice.post(`${B}/releases/new`, { tag: 'v2', body: 'Mine', action: 'generate' });
  t.match(written, { status: 200, body: /Mine\n\n\*\*All changes\*\*: \[v1\.0\.\.\.v2\]/ });
  const preview = await alice.post(`${B}/releases/new`, { tag: 'v2', body: '*strong*', action: 'preview' });
  t.match(preview, { status: 200, body: /<em>strong<\/em>/ });
});

t.test('a draft is the writers’ alone; it is edited, published, and deleted with its tag', async (t) => {
  const saved = await alice.post(`${B}/releases/new`, { tag: 'release/2.0', body: 'Soon', action: 'draft' });
  t.match([saved.status, saved.headers.location], [303, `${B}/releases/tag/release/2.0?done=release-drafted`]);
  for (const who of [bob, anonymous]) {
    t.notMatch((await who.get(`${B}/releases`)).body, /release\/2\.0/);
    t.equal((await who.get(`${B}/releases/tag/release/2.0`)).status, 404);
    t.notMatch((await who.get(`${B}/releases.atom`)).body, /release\/2\.0/);
    t.match((await who.get(B)).body, /Releases<span class="tab-count">1<\/span>/);
  }
  t.match((await alice.get(`${B}/releases`)).body, /Draft/);
  t.match((await alice.get(`${B}/releases/tag/release/2.0`)).body, /Publishing creates the tag/);
  const form = (await alice.get(`${B}/releases/edit/release/2.0`)).body;
  const revision = /name="revision" value="(\d+)"/.exec(form)![1]!;
  const fields = { tag: 'release/2.0', target: 'main', title: 'Two', body: 'Now', revision };
  const published = await upload(web, alice, `${B}/releases/edit/release/2.0`, [
    ...Object.entries({ ...fields, is_prerelease: 'yes', action: 'publish' }).map(([name, value]) =>
      field(name, value),
    ),
    file('two.txt', 'two'),
  ]);
  t.match(
    [published.status, published.headers.location],
    [303, `${B}/releases/tag/release/2.0?done=release-published`],
  );
  t.match((await anonymous.get(`${B}/releases/tag/release/2.0`)).body, /Pre-release/);
  t.equal((await anonymous.get(`${B}/releases/download/release/2.0/two.txt`)).body, 'two');
  t.equal((await anonymous.get(`${B}/releases/latest`)).headers.location, `${B}/releases/tag/v1.0`);
  web.clock.advance(1_000);
  const old = { tag: 'v0.9', target: 'main', title: '', body: '', stays_behind: 'yes', action: 'publish' };
  t.equal((await alice.post(`${B}/releases/new`, old)).status, 303);
  t.equal((await anonymous.get(`${B}/releases/latest`)).headers.location, `${B}/releases/tag/v1.0`, 'it stays behind');
  t.match((await alice.get(`${B}/releases/edit/v0.9`)).body, /name="stays_behind" value="yes" checked/);
  t.equal((await alice.post(`${B}/releases/edit/v0.9`, { title: '', body: '', action: 'save' })).status, 303);
  t.equal((await anonymous.get(`${B}/releases/latest`)).headers.location, `${B}/releases/tag/v0.9`, 'without the box');
  t.equal((await alice.post(`${B}/releases/delete/v0.9`, { delete_tag: 'yes' })).status, 303);
  const stale = await alice.post(`${B}/releases/edit/release/2.0`, { ...fields, action: 'save' });
  t.match([stale.status, stale.body], [409, /Someone edited this release/]);
  const editing = (await alice.get(`${B}/releases/edit/release/2.0`)).body;
  const id = /name="file" value="([-0-9a-f]{36})"/.exec(editing)![1]!;
  const removed = await alice.post(`${B}/releases/remove-file/release/2.0`, { file: id });
  t.match(
    [removed.status, removed.headers.location],
    [303, `${B}/releases/edit/release/2.0?done=release-file-removed`],
  );
  t.equal((await anonymous.get(`${B}/releases/download/release/2.0/two.txt`)).status, 404);

  t.match((await alice.get(`${B}/releases/delete/release/2.0`)).body, /Also delete the tag/);
  const gone = await alice.post(`${B}/releases/delete/release/2.0`, { delete_tag: 'yes' });
  t.match([gone.status, gone.headers.location], [303, `${B}/releases?done=release-deleted`]);
  t.notOk((await web.modules.git.refs.list(path)).has('refs/tags/release/2.0'));
  t.equal((await anonymous.get(`${B}/releases/tag/release/2.0`)).status, 404);
});

t.test('tags are made and deleted on their page; a deleted tag makes its release a draft', async (t) => {
  const made = await alice.post(`${B}/tags`, { name: 'v0.9', from: tip.slice(0, 10), message: 'Before' });
  t.match([made.status, made.headers.location], [303, `${B}/tags?done=tag-created`]);
  const page = (await alice.get(`${B}/tags`)).body;
  t.match(page, `${B}/releases/tag/v1.0`);
  t.match(page, `${B}/releases/new?tag=v0.9`);
  t.match(page, `${B}/tags/delete?name=v0.9`);
  t.notMatch((await bob.get(`${B}/tags`)).body, /tags\/delete|releases\/new/);
  for (const [form, says] of [
    [{ name: 'v0.9', from: 'main' }, /A tag named v0\.9 already exists/],
    [{ name: 'a b', from: 'main' }, /git does not accept this tag name/],
    [{ name: 'v3', from: 'x y' }, /no branch, tag or commit/],
  ] as const)
    t.match(await alice.post(`${B}/tags`, form), { status: 422, body: says });
  const named = (await web.modules.git.refs.list(path)).get('refs/tags/v1.0')!;
  t.match((await alice.get(`${B}/tags/delete?name=v1.0`)).body, /Its release becomes a draft/);
  t.equal((await alice.post(`${B}/tags/delete`, { name: 'v1.0', expected: tip })).status, 409, 'it names a tag object');
  const gone = await alice.post(`${B}/tags/delete`, { name: 'v1.0', expected: named });
  t.match([gone.status, gone.headers.location], [303, `${B}/tags?done=tag-deleted`]);
  await web.modules.repositories.pushes.whenAnnounced(repository.id, 10_000);
  await waitUntil(async () => (await releases.find(await viewer(), kiln, { tag: 'v1.0' })).isDraft);
  t.equal((await anonymous.get(`${B}/releases/download/v1.0/kiln%201.0.txt`)).status, 404);
  t.match((await alice.get(`${B}/releases/tag/v1.0`)).body, /Draft/);
  t.equal((await alice.post(`${B}/releases/edit/v1.0`, { tag: 'v1.0', target: tip, action: 'publish' })).status, 303);
  t.equal((await anonymous.get(`${B}/releases/download/v1.0/kiln%201.0.txt`)).body, 'hello');
});

const viewer = async () => ({
  kind: 'person' as const,
  id: (await web.modules.accounts.personByUsername('alice'))!.id,
  username: 'alice',
  isAdministrator: false,
  via: 'session' as const,
  scope: 'admin' as const,
  repositoryIds: null,
});

t.test('a moved tag shows; renamed, hidden and deleted repositories take their releases along', async (t) => {
  await web.modules.git.refs.move(path, [{ ref: 'refs/tags/v1.0', oldId: tip, newId: '0'.repeat(40) }] as never);
  t.match((await anonymous.get(`${B}/releases/tag/v1.0`)).body, /The tag is gone/);
  t.notMatch((await anonymous.get(`${B}/releases/tag/v1.0`)).body, /archive\/v1\.0/);
  await alice.post(`${B}/settings/rename`, { name: 'oven' });
  const moved = await anonymous.get(`${B}/releases/download/v1.0/kiln%201.0.txt`);
  t.match([moved.status, moved.headers.location], [301, '/repos/alice/oven/releases/download/v1.0/kiln%201.0.txt']);
  t.equal((await anonymous.get(moved.headers.location!)).body, 'hello');
  await alice.post('/repos/alice/oven/settings/visibility', { visibility: 'PRIVATE', confirm: 'oven' });
  const hidden = await bob.get('/repos/alice/oven/releases/download/v1.0/kiln%201.0.txt');
  const absent = await bob.get('/repos/alice/absent/releases/download/v1.0/kiln%201.0.txt');
  t.match([hidden.status, absent.status], [404, 404]);
  const plain = (body: string): string => body.replaceAll(/absent|oven|[-0-9a-f]{36}|\d+ ?ms/g, '');
  t.equal(plain(hidden.body), plain(absent.body), 'hidden and absent answer alike');
  for (const at of ['releases', 'releases.atom', 'releases/latest', 'releases/tag/v1.0'])
    t.equal((await bob.get(`/repos/alice/oven/${at}`)).status, 404, at);
});
