// Releases of other forges: the APIs of Gitea, GitHub and GitLab beside git http-backend, and another Hearth.
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import { reasonOf } from '../ci/ci-fixture.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth } from '../fixtures/start-hearth.ts';
import { startHttpRemote, createBareRepository } from './remote-servers.ts';
import type { HttpRemoteServer } from './remote-servers.ts';

t.setTimeout(120_000);

let [forge, other]: [HttpRemoteServer, HttpRemoteServer] = [] as never;
let here: Hearth;
let viewer: PersonViewer;
const basic = `Basic ${Buffer.from('bob:secret').toString('base64')}`;

/** What the forge answers by path: JSON, bytes, a page, a redirect or a status. */
type Answer = object | string | Buffer | { redirect: string } | number;
const answers = new Map<string, Answer>();
let requests: { path: string; authorization: string | undefined }[] = [];

function respond(request: IncomingMessage, response: ServerResponse): boolean {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://forge');
  if (!/^\/(?:api|files)\//.test(pathname)) return false;
  requests.push({ path: pathname, authorization: request.headers.authorization });
  const page = searchParams.get('page') ?? '1';
  const answer = answers.get(page === '1' ? pathname : `${pathname}?page=${page}`) ?? 404;
  if (typeof answer === 'number') response.writeHead(answer).end();
  else if (Buffer.isBuffer(answer)) response.end(answer);
  else if (typeof answer === 'string') response.writeHead(200, { 'Content-Type': 'text/html' }).end(answer);
  else if ('redirect' in answer) response.writeHead(302, { Location: String(answer.redirect) }).end();
  else {
    if (answers.has(`${pathname}?page=${Number(page) + 1}`))
      response.setHeader('Link', `<http://forge${pathname}?page=${Number(page) + 1}>; rel="next"`);
    response.end(JSON.stringify(answer));
  }
  return true;
}

t.before(async () => {
  forge = await startHttpRemote(t, { address: '127.0.0.2', password: 'bob:secret' });
  other = await startHttpRemote(t, { address: '127.0.0.3' });
  [forge.answer, other.answer] = [respond, respond];
  const port = await freePort();
  here = await startHearth(t, {
    env: {
      SERVICE_HTTP_LISTEN: `127.0.0.1:${port}`,
      SERVICE_MIRRORS_ALLOWED_HOSTS: `${forge.host},${other.host},127.0.0.1:${port}`,
      SERVICE_RELEASES_FILE_SIZE: '1MiB',
    },
  });
  const alice = await here.addPerson('alice');
  viewer = {
    kind: 'person',
    id: alice.id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  };
  for (const side of [forge, other]) createBareRepository(side.folder, 'bob/tool.git');
});

t.beforeEach(() => {
  answers.clear();
  requests = [];
});

const api = '/api/v1/repos/bob/tool/releases';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function asset(id: number, name: string, content: string, more: object = {}) {
  const address = `/files/${id}`;
  answers.set(address, Buffer.from(content));
  return {
    id,
    name,
    size: Buffer.byteLength(content),
    download_count: 3,
    created_at: '2024-01-01T00:00:00Z',
    uuid: String(id),
    browser_download_url: `${forge.url}${address}`,
    ...more,
  };
}

const release = (id: number, tag: string, more: object = {}) => ({
  id,
  tag_name: tag,
  target_commitish: 'main',
  name: `Release ${tag}`,
  body: 'Notes',
  draft: false,
  prerelease: false,
  created_at: '2024-01-01T00:00:00Z',
  published_at: '2024-02-01T00:00:00Z',
  author: { id: 1, login: 'bob' },
  assets: [],
  ...more,
});

async function importFrom(name: string, side: HttpRemoteServer, more: object = {}): Promise<string> {
  const { id } = await here.modules.mirrors.import(viewer, {
    name,
    visibility: 'PRIVATE',
    address: `${side.url}/bob/tool.git`,
    ...(side === forge && { username: 'bob', secret: 'secret' }),
    keepMirroring: false,
    withReleases: true,
    ...more,
  });
  await here.modules.mirrors.runDue();
  return id;
}

async function again(id: string): Promise<void> {
  await here.modules.mirrors.sync(id);
  await here.modules.mirrors.runDue();
}

const at = (name: string) => ({ owner: 'alice', name });
async function releasesOf(name: string) {
  const { releases } = here.modules;
  const { rows } = await releases.list(viewer, at(name), { limit: 50 });
  return new Map((await releases.describe(rows)).map((row) => [row.tag, row]));
}
async function contentOf(name: string, tag: string, file: string): Promise<string> {
  const { releases } = here.modules;
  const found = await releases.files.find(viewer, at(name), { tag }, { name: file });
  return (await (await releases.files.read(found.file)).stream.toArray()).join('');
}

t.test(
  'releases of a Gitea come with notes, flags and files, page by page, with the token of the import',
  async (t) => {
    answers.set(api, [
      release(1, 'v1', {
        body: '    One\r\n\u0007two\u202e\n',
        prerelease: true,
        assets: [
          asset(11, 'tool.zip', 'zip bytes', { digest: `sha256:${sha256('zip bytes')}` }),
          asset(12, '../odd:name', 'odd'),
          asset(13, 'moved.txt', '', { browser_download_url: `${forge.url}/files/start`, size: 5 }),
        ],
      }),
      release(2, 'v9', { name: 'v9' }),
    ]);
    answers.set(`${api}?page=2`, [
      release(3, 'v10', { draft: true, published_at: null, body: 'é'.repeat(40_000), author: null }),
    ]);
    answers.set('/files/start', { redirect: '/files/next' });
    answers.set('/files/next', { redirect: `${forge.url}/files/end` });
    answers.set('/files/end', Buffer.from('moved'));
    const id = await importFrom('tool', forge);
    t.equal(await here.modules.mirrors.find(id), null, 'the import is done');
    const found = await releasesOf('tool');
    t.match(found.get('v1'), {
      title: 'Release v1',
      body: '    One\n two \n',
      isDraft: false,
      isPrerelease: true,
      authorId: null,
      authorName: 'bob',
      createdAt: Date.parse('2024-01-01'),
      publishedAt: Date.parse('2024-02-01'),
      tagOid: /^[0-9a-f]{40}$/,
      origin: `${forge.url}${api}/1`,
    });
    t.strictSame(
      found
        .get('v1')!
        .files.map(({ name, bytes }) => [name, bytes])
        .sort(),
      [
        ['_odd_name', 3],
        ['moved.txt', 5],
        ['tool.zip', 9],
      ],
    );
    t.equal(await contentOf('tool', 'v1', 'tool.zip'), 'zip bytes');
    t.equal(await contentOf('tool', 'v1', 'moved.txt'), 'moved');
    t.match(found.get('v9'), { isDraft: true, title: '', publishedAt: null }, 'its tag is not here');
    t.match(found.get('v10'), { isDraft: true, authorName: null, body: /^é+\n\n…$/ });
    t.ok(Buffer.byteLength(found.get('v10')!.body) <= 65_536);
    t.same(new Set(requests.map(({ authorization }) => authorization)), new Set([basic]));
  },
);

t.test('what fails is listed, and a second run brings the rest, and only that', async (t) => {
  const cut = asset(23, 'cut.bin', 'cut');
  const wrong = asset(24, 'wrong.bin', 'wrong', { digest: `sha256:${sha256('right')}` });
  const rows = [
    release(1, 'v1', {
      assets: [
        asset(21, 'good.txt', 'good'),
        { ...asset(22, 'gone.txt', 'gone') },
        { ...cut, size: 5_000 },
        wrong,
        asset(25, 'large.iso', 'x', { size: 2_000_000 }),
        asset(26, 'good.txt', 'twice'),
        asset(27, 'inner.txt', '', { browser_download_url: `${other.url}/files/27` }),
        asset(29, 'page.txt', 'page'),
        asset(30, 'page.html', '<h1>Sign in</h1>'),
        asset(28, 'loop.txt', '', { browser_download_url: `${forge.url}/files/loop` }),
      ],
    }),
    release(2, 'bad..tag'),
    { id: 3 },
  ];
  answers.delete('/files/22');
  for (const at of [29, 30]) answers.set(`/files/${at}`, '<h1>Sign in</h1>');
  answers.set('/files/loop', { redirect: '/files/loop' });
  answers.set(api, rows);
  const id = await importFrom('partial', forge);
  const failing = await here.modules.mirrors.find(id);
  t.match(failing, { state: 'failing 1', lastError: /^Releases: 10 did not arrive\. / });
  for (const why of [
    /gone\.txt of v1: 127\.0\.0\.2:\d+ answered 404/,
    /cut\.bin of v1: /,
    /wrong\.bin of v1: /,
    /large\.iso of v1: A release file can be at most 1 MiB/,
    /good\.txt of v1: a release cannot have two files with the same name/,
    /inner\.txt of v1: .*another host of the own network/,
    /loop\.txt of v1: .*no address that can be followed/,
    /page\.txt of v1: .* answered with a page instead of the file/,
    /the release bad\.\.tag: /,
    /a release that cannot be read/,
  ])
    t.match(failing!.lastError, why);
  t.strictSame(
    (await releasesOf('partial')).get('v1')!.files.map(({ name }) => name),
    ['good.txt', 'page.html'],
  );
  t.notOk(
    requests.some(({ path }) => path === '/files/27'),
    'nothing was asked of the other host',
  );

  requests = [];
  answers.set(api, [
    release(1, 'v1', { name: 'Renamed there', assets: [asset(21, 'good.txt', 'good'), asset(22, 'gone.txt', 'back')] }),
  ]);
  await again(id);
  t.equal(await here.modules.mirrors.find(id), null, 'the import is done');
  t.match((await releasesOf('partial')).get('v1'), { title: 'Renamed there', revision: 1 });
  t.equal(await contentOf('partial', 'v1', 'gone.txt'), 'back');
  t.same(
    requests.map(({ path }) => path),
    [api, '/files/22'],
  );
});

t.test('the list of releases is read at a new path of the same origin, never at another origin', async (t) => {
  const moved = '/api/v1/repos/bob/kits/releases';
  answers.set(moved, [release(1, 'v1')]);
  const cases: [where: string, isFollowed: boolean][] = [
    [moved, true],
    [`${forge.url}${moved}`, true],
    [`${other.url}${moved}`, false],
    [forge.url.replace('127.0.0.2', 'localhost') + moved, false],
    ['http://[', false],
    [api, false],
  ];
  for (const [at, [redirect, isFollowed]] of cases.entries()) {
    answers.set(api, { redirect });
    requests = [];
    const id = await importFrom(`moved-${at}`, forge);
    t.strictSame([...(await releasesOf(`moved-${at}`)).keys()], isFollowed ? ['v1'] : [], redirect);
    if (!isFollowed) t.match((await here.modules.mirrors.find(id))?.lastError, /answered with status 302/, redirect);
    t.strictSame(
      requests.filter(({ path }) => path === moved).map(({ authorization }) => authorization),
      isFollowed ? [basic] : [],
      redirect,
    );
  }
});

t.test('a pull mirror follows: new contents replace old ones, and what was made or edited here stays', async (t) => {
  const { releases, mirrors } = here.modules;
  answers.set(api, [release(1, 'v1', { assets: [asset(31, 'tool.zip', 'old')] })]);
  const id = await importFrom('followed', forge, { keepMirroring: true });
  t.match(await mirrors.find(id), { state: 'ok', withReleases: true });
  const own = async function* () {
    yield Buffer.from('own');
  };
  await releases.files.upload(viewer, at('followed'), { tag: 'v1' }, { name: 'mine.txt', content: own() });
  await releases.create(viewer, at('followed'), { tag: 'v2', isDraft: true, title: 'Mine' });
  answers.set(api, [
    release(1, 'v1', {
      body: 'New notes',
      assets: [asset(31, 'tool.zip', 'new!', { updated_at: '2025-01-01T00:00:00Z' }), asset(32, 'mine.txt', 'theirs')],
    }),
    release(2, 'v2'),
  ]);
  await again(id);
  t.match(await mirrors.find(id), {
    state: 'failing 1',
    lastError:
      /mine\.txt of v1: .*already has a file named mine\.txt; the release v2: A release for the tag v2 already exists/,
  });
  const found = await releasesOf('followed');
  t.match(found.get('v1'), { body: 'New notes' });
  t.equal(await contentOf('followed', 'v1', 'tool.zip'), 'new!');
  t.equal(await contentOf('followed', 'v1', 'mine.txt'), 'own');
  t.match(found.get('v2'), { title: 'Mine', origin: null });

  await releases.edit(viewer, at('followed'), { tag: 'v1' }, { title: 'Edited here' });
  answers.set(api, [release(1, 'v1', { name: 'Not taken', assets: [] })]);
  await again(id);
  t.match(await mirrors.find(id), { state: 'ok', lastError: null });
  t.match(
    (await releasesOf('followed')).get('v1'),
    { title: 'Edited here', files: [{}, {}] },
    'what is gone there stays',
  );
  t.same(
    here.log.filter(({ event }) => /announce|webhook/.test(String(event))),
    [],
    'nothing is announced',
  );
});

t.test('GitHub and GitLab have shapes of their own', async (t) => {
  answers.set('/api/v3/repos/bob/tool/releases', [
    release(1, 'v1', {
      assets: [
        asset(41, 'tool.zip', 'bytes', { url: `${forge.url}/files/41`, browser_download_url: 'https://x.invalid/' }),
      ],
    }),
  ]);
  t.equal(await here.modules.mirrors.find(await importFrom('of-github', forge)), null);
  t.equal(await contentOf('of-github', 'v1', 'tool.zip'), 'bytes', 'from the address that takes a token');
  t.match(requests, [
    { path: api },
    { path: '/api/v4/projects/bob%2Ftool/releases', authorization: 'Bearer secret' },
    { path: '/api/v3/repos/bob/tool/releases', authorization: basic },
    { path: '/files/41', authorization: basic },
  ]);

  answers.clear();
  answers.set('/api/v4/projects/bob%2Ftool/releases', [
    {
      tag_name: 'v1',
      name: 'First',
      description: 'From GitLab',
      created_at: '2024-01-01T00:00:00.000Z',
      released_at: '2024-03-01T00:00:00.000Z',
      author: { username: 'bob' },
      assets: {
        count: 3,
        sources: [{ format: 'zip', url: 'https://x.invalid/' }],
        links: [{ id: 5, name: 'tool.deb', url: 'https://x.invalid/', direct_asset_url: `${forge.url}/files/51` }],
      },
    },
  ]);
  answers.set('/files/51', Buffer.from('deb'));
  t.equal(await here.modules.mirrors.find(await importFrom('of-gitlab', forge)), null);
  const found = (await releasesOf('of-gitlab')).get('v1');
  t.match(found, { title: 'First', body: 'From GitLab', authorName: 'bob', publishedAt: Date.parse('2024-03-01') });
  t.equal(await contentOf('of-gitlab', 'v1', 'tool.deb'), 'deb');
});

t.test('a server without such an API, a token that is refused, and addresses without one', async (t) => {
  const id = await importFrom('plain', other);
  t.match(await here.modules.mirrors.find(id), {
    state: 'failing 1',
    lastError: /^Releases: 127\.0\.0\.3:\d+ is none of GitHub, Gitea, Forgejo, GitLab and Hearth, or shows/,
  });
  t.equal(
    (await here.modules.git.refs.list((await here.modules.repositories.find(viewer, 'alice', 'plain')).path)).size,
    2,
  );
  answers.set(api, 403);
  await again(id);
  t.match((await here.modules.mirrors.find(id))?.lastError, /has reached its request limit \(status 403\)/);
  answers.set(api, { message: 'no list' });
  await again(id);
  t.match((await here.modules.mirrors.find(id))?.lastError, /is none of GitHub/);
  const found = await here.modules.repositories.find(viewer, 'alice', 'plain');
  await here.modules.mirrors.end(viewer, found);
  const input = { intervalMs: 3_600_000, prune: true, withReleases: true };
  for (const [direction, address] of [
    ['push', `${other.url}/bob/tool.git`],
    ['pull', 'ssh://git@git.example.org/x.git'],
  ] as const)
    t.equal(
      await reasonOf(here.modules.mirrors.save(viewer, found, { ...input, direction, address })),
      'invalid_mirror',
    );
});

t.test('a release whose files would exceed the quota stays without them', async (t) => {
  const { releases } = here.modules;
  answers.set(api, [release(1, 'v1', { assets: [asset(61, 'a.bin', 'a'.repeat(700_000))] })]);
  const id = await importFrom('small', forge, { keepMirroring: true });
  const { repository } = await here.modules.repositories.find(viewer, 'alice', 'small');
  const countBytes = (bytes: number) =>
    here.modules.db.write(({ manager }) =>
      manager.query('UPDATE release_counts SET bytes = ? WHERE repository_id = ?', [bytes, repository.id]),
    );
  await countBytes(2 ** 40);
  answers.set(api, [release(1, 'v1', { assets: [asset(61, 'a.bin', 'a'.repeat(700_000)), asset(62, 'b.bin', 'b')] })]);
  await again(id);
  t.match((await here.modules.mirrors.find(id))?.lastError, /b\.bin of v1: The release files have used up their quota/);
  t.equal((await releases.list(viewer, at('small'), { limit: 5 })).rows.length, 1);
  await countBytes(700_000);
});

t.test('another Hearth is asked as a Gitea is', async (t) => {
  const { releases, repositories } = here.modules;
  await repositories.create(viewer, { name: 'source', visibility: 'PUBLIC', readme: true });
  await releases.create(viewer, at('source'), { tag: 'v1', title: 'One', body: 'First.', isPrerelease: true });
  const content = async function* () {
    yield Buffer.from('binary');
  };
  await releases.files.upload(viewer, at('source'), { tag: 'v1' }, { name: 'tool.zip', content: content() });
  await here.modules.mirrors.import(localAdministrator, {
    owner: 'alice',
    name: 'copy',
    visibility: 'PRIVATE',
    address: `${here.url}/git/alice/source.git`,
    keepMirroring: false,
    withReleases: true,
  });
  await here.modules.mirrors.runDue();
  const { repository } = await repositories.find(viewer, 'alice', 'copy');
  t.equal(await here.modules.mirrors.find(repository.id), null);
  const [from, to] = [(await releasesOf('source')).get('v1')!, (await releasesOf('copy')).get('v1')!];
  const { tagOid, title, body, isPrerelease } = from;
  t.match(to, { tagOid, title, body, isPrerelease, isDraft: false, authorName: 'alice' });
  t.equal(to.publishedAt, Math.floor(from.publishedAt! / 1000) * 1000, 'the API tells whole seconds');
  t.equal(await contentOf('copy', 'v1', 'tool.zip'), 'binary');
});
