// Pages that are sent again as they are: never a stale word, never a private one.
import t from 'tap';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request, Server } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createRenderedPages } from '../../../src/pages/app/rendered-pages.ts';
import { forwardedHeaders, ignoredHeaders, varyHeaders } from '../../../src/pages/app/response-cache.ts';
import { dependOn } from '../../../src/pages/app/dependency.ts';
import { runGit } from '../../fixtures/git-repositories.ts';
import { sampleImages } from '../../images/sample-images.ts';
import { upload } from '../../fixtures/upload.ts';
import { sendRequest, fillRepository, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse, Visitor, Web } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

/** The database has changed since, unless it is said otherwise. */
let state = 0;
const at = (nowMs: number) => ({ nowMs, state: (state += 1) });
const sampleKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJxkxK/XRNLKp3Zsg+WUy9ifEKx70Hkzuev76XB6KbSe alice';

/** Counts how often a file is read for a page. */
function watchBlobReads(t: { teardown(undo: () => void): void }, { modules: { git } }: Web): () => number {
  let count = 0;
  const { entryAt } = git.objects;
  git.objects.entryAt = (...args) => {
    // The settings of the editor are looked for once for each commit and folder.
    if (!String(args[2]).endsWith('.editorconfig')) count += 1;
    return entryAt(...args);
  };
  t.teardown(() => (git.objects.entryAt = entryAt));
  return () => count;
}

function bytesOf(
  { port }: Web,
  path: string,
  encoding: string,
): Promise<{ encoding: string | undefined; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, agent: false, headers: { 'Accept-Encoding': encoding } }, (response) => {
      const parts: Buffer[] = [];
      response
        .on('data', (part: Buffer) => parts.push(part))
        .on('end', () => resolve({ encoding: response.headers['content-encoding'], bytes: Buffer.concat(parts) }));
    })
      .on('error', reject)
      .end();
  });
}

/** Lines of the log about requests, without what differs from one to the next. */
const requestLines = ({ log }: Web): object[] =>
  log.filter(({ event }) => event === 'http.request').map(({ fields }) => ({ ...fields, id: '', ms: 0 }));

/** A response with its headers as they came, but the time and the request's id. */
function rawly(
  { port }: Web,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; headers: string[]; id: string; body: string }> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, agent: false, headers }, (response) => {
      const pairs = response.rawHeaders.flatMap((name, at, all) => (at % 2 === 0 ? [`${name}: ${all[at + 1]}`] : []));
      const parts: Buffer[] = [];
      response
        .on('data', (part: Buffer) => parts.push(part))
        .on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: pairs.map((pair) => pair.replace(/^(X-Request-Id|Date): .*/, '$1')),
            id: String(response.headers['x-request-id']),
            body: Buffer.concat(parts).toString(),
          }),
        );
    })
      .on('error', reject)
      .end();
  });
}

t.test('the cache is bounded, entries expire, and are dropped when a dependency changes', async (t) => {
  const pages = createRenderedPages({ maxWeight: 10_000 });
  let answer = 1;
  pages.keep('a', 'one', [await dependOn(async () => answer)], at(1_000));
  const found = await pages.find('a', at(2_000));
  t.equal((await found?.body('identity'))?.toString(), 'one');
  t.equal(await pages.find('b', at(2_000)), null);
  answer = 2;
  t.equal(await pages.find('a', at(2_000)), null, 'a room answers otherwise');
  answer = 1;
  t.equal(await pages.find('a', at(2_000)), null, 'and it is gone for good');
  let requestCount = 0;
  pages.keep('s', 'still', [await dependOn(async () => ((requestCount += 1), 'same'))], { nowMs: 0, state: -1 });
  for (const state of [-1, -1, -2, -2]) t.ok(await pages.find('s', { nowMs: 0, state }));
  t.equal(requestCount, 2, 'once when it was made, and once when the database was another');
  t.equal(await pages.find('s', { nowMs: 61_000, state: -2 }), null);
  pages.keep('c', 'two', [], at(1_000));
  t.equal(await pages.find('c', at(61_001)), null, 'words about time are a minute old at most');
  pages.keep('d', 'three', [], at(5_000));
  t.equal(await pages.find('d', at(4_000)), null, 'the clock went back');
  t.same(pages.load(), { pages: 0, bytes: 0 });
  for (const key of ['1', '2', '3', '4', '5']) pages.keep(key, key.repeat(1_500), [], at(0));
  t.ok(pages.load().bytes <= 10_000);
  t.equal(await pages.find('1', at(0)), null, 'the oldest goes first');
  t.ok(await pages.find('5', at(0)));
  const one = pages.keep('big', 'x'.repeat(5 * 1024 * 1024), [], at(0));
  t.equal((await one.body('identity')).length, 5 * 1024 * 1024, 'sent, but not kept');
  t.equal(await pages.find('big', at(0)), null);
});

t.test('a compressed page is the same page', async (t) => {
  const pages = createRenderedPages();
  const html = '<p>warm</p>'.repeat(500);
  const cached = pages.keep('a', html, [], at(0));
  t.equal(gunzipSync(await cached.body('gzip')).toString(), html);
  t.equal(brotliDecompressSync(await cached.body('br')).toString(), html);
  t.equal(await cached.body('gzip'), await cached.body('gzip'), 'made once');
});

t.test('a page that was compressed is held in that form only, and still sent in every other', async (t) => {
  const html = '<p>warm</p>'.repeat(5_000);
  for (const first of ['gzip', 'br'] as const) {
    const pages = createRenderedPages();
    const cached = pages.keep('a', html, [], at(0));
    t.ok(pages.load().bytes > html.length);
    await cached.body(first);
    t.ok(pages.load().bytes < 3_000, `${pages.load().bytes} bytes for ${html.length}`);
    for (const _twice of [1, 2]) t.equal((await cached.body('identity')).toString(), html);
    t.equal(gunzipSync(await cached.body('gzip')).toString(), html);
    t.equal(brotliDecompressSync(await cached.body('br')).toString(), html);
    t.ok(pages.load().bytes < 3_000, 'both forms');
    t.equal(await pages.find('a', at(1)), cached);
  }
});

t.test('flips', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  const bob = await signedIn(web, 'bob');
  const anonymous = visitor(web);
  await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
  const B = '/repos/alice/kiln';
  const { path } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  await fillRepository(t, path, { 'README.md': '# Kiln\n', 'src/fire.ts': 'const heat = 1;\n' });

  /** The second view of a page, which is a cached one, once all of it could be said. */
  const view = async (who: Visitor, target: string): Promise<PageResponse> => {
    for (;;) {
      const first = await who.get(target);
      const second = await who.get(target);
      if (first.body === second.body) return second;
    }
  };
  const bodies = async (who: Visitor): Promise<string> =>
    (
      await Promise.all(
        [B, `${B}/tree/main/src`, `${B}/blob/main/src/fire.ts`].map(async (target) => (await view(who, target)).body),
      )
    ).join('\n');

  await t.test('a page is made once for all anonymous viewers, and once for each person', async (t) => {
    const made = watchBlobReads(t, web);
    await view(anonymous, `${B}/blob/main/src/fire.ts`);
    await view(visitor(web), `${B}/blob/main/src/fire.ts`);
    t.equal(made(), 1);
    await view(alice, `${B}/blob/main/src/fire.ts`);
    await view(bob, `${B}/blob/main/src/fire.ts`);
    t.equal(made(), 3);
    web.clock.advance(61_000);
    await view(anonymous, `${B}/blob/main/src/fire.ts`);
    t.equal(made(), 4, 'and again after a minute');
  });

  await t.test('no viewer gets a page of another', async (t) => {
    t.match((await view(alice, B)).body, /href="\/users\/alice"[^]*\/settings"/);
    t.notMatch((await view(bob, B)).body, /href="\/users\/alice" class="me"|kiln\/settings/);
    t.match((await view(bob, B)).body, /bob/);
    t.notMatch((await view(anonymous, B)).body, /bob|kiln\/settings|Unpin/);
  });

  await t.test(
    'headers: signed out it may be asked for again by its tag, signed in it is stored nowhere',
    async (t) => {
      const { headers } = await view(anonymous, B);
      t.match(headers, {
        'cache-control': 'private, no-cache',
        etag: /^W\/"/,
        'content-type': 'text/html; charset=utf-8',
      });
      for (const name of ['Cookie', 'Authorization', 'Accept-Encoding']) t.match(headers.vary, name);
      t.match(await anonymous.get(B, { 'If-None-Match': headers.etag! }), { status: 304, body: '' });
      const own = await view(alice, B);
      t.equal(own.headers['cache-control'], 'private, no-store');
      t.notOk(own.headers.etag);
      t.match(await sendRequest(web, B, { method: 'HEAD' }), { status: 200, body: '' });
      for (const [encoding, unpack] of [
        ['gzip', gunzipSync],
        ['br', brotliDecompressSync],
      ] as const) {
        const packed = await bytesOf(web, B, encoding);
        t.equal(packed.encoding, encoding);
        t.equal(unpack(packed.bytes).toString(), (await view(anonymous, B)).body);
      }
    },
  );

  await t.test('cached responses ahead of the middleware are equal to the byte', async (t) => {
    let finds = 0;
    const { find } = web.modules.repositories;
    web.modules.repositories.find = (...args) => ((finds += 1), find(...args));
    t.teardown(() => (web.modules.repositories.find = find));
    /** Asks until nothing more is found out, then once more; and the same past the short way. */
    const both = async (headers: Record<string, string>) => {
      for (let time = 0; time < 3; time += 1) await rawly(web, B, headers);
      finds = 0;
      web.log.length = 0;
      const [short, lines] = [await rawly(web, B, headers), requestLines(web)];
      const isShort = finds === 0;
      web.log.length = 0;
      const long = await rawly(web, B, { ...headers, 'X-Anything': '1' });
      t.equal(finds, isShort ? 1 : 2, 'a header that nobody knows goes the whole way');
      t.same(lines, requestLines(web), 'and is logged the same');
      t.not(short.id, long.id);
      return { short, long, isShort };
    };
    const { etag } = (await view(anonymous, B)).headers;
    const requests: [words: string, headers: Record<string, string>][] = [
      ['plain', {}],
      [
        'a browser',
        {
          'User-Agent': 'Fire/1',
          Accept: 'text/html,*/*;q=0.8',
          'Accept-Language': 'en',
          'Accept-Encoding': 'gzip, deflate, br',
          'Sec-Fetch-Site': 'none',
        },
      ],
      ['gzip', { 'Accept-Encoding': 'gzip' }],
      ['known already', { 'If-None-Match': etag! }],
      ['known already, but asked for anew', { 'If-None-Match': etag!, 'Cache-Control': 'no-cache' }],
      ['behind a proxy', { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '203.0.113.7', Host: 'git.example.lan' }],
      ['in the dark', { Cookie: 'hearth_theme=dark' }],
    ];
    const seen = new Map<string, string>();
    for (const [words, headers] of requests) {
      const { short, long, isShort } = await both(headers);
      t.ok(isShort, words);
      t.same({ ...short, id: '' }, { ...long, id: '' }, words);
      seen.set(words, `${short.status} ${short.body}`);
    }
    t.match(seen.get('known already'), /^304 $/);
    t.match(seen.get('behind a proxy'), 'https://git.example.lan/git/alice/kiln.git');
    t.match(seen.get('in the dark'), 'data-theme="dark"');
    for (const [words, headers] of [
      ['a session', { Cookie: 'hearth_session=none' }],
      ['a token', { Authorization: 'Bearer none' }],
      ['a body', { 'Content-Length': '0' }],
    ] as const) {
      t.notOk((await both(headers)).isShort, words);
    }
    t.equal((await rawly(web, B, { Host: 'not a host' })).status, 400);
  });

  await t.test('every header that the chain reads is part of the key, or has its reason here', async (t) => {
    /** Read, and yet no response to these pages depends on them. */
    const exceptions: Record<string, string> = {
      'user-agent': 'the request context has it for the list of sessions, which sign-in writes',
      referer: 'the cross-site check looks at forms only',
      'sec-fetch-site': 'the cross-site check looks at forms only',
    };
    const read = new Set<string>();
    const { emit } = Server.prototype;
    t.teardown(() => (Server.prototype.emit = emit));
    Server.prototype.emit = function (this: Server, event: string, ...args: unknown[]) {
      if (event === 'request') {
        const { headers } = args[0] as IncomingMessage;
        const get = (target: IncomingMessage['headers'], name: string) => (read.add(name), target[name]);
        Object.defineProperty(args[0], 'headers', { value: new Proxy(headers, { get: get as never }) });
      }
      return Reflect.apply(emit, this, [event, ...args]);
    };
    const all = [...varyHeaders, ...forwardedHeaders, ...ignoredHeaders].filter(
      (name) => !['host', 'connection', 'keep-alive', 'if-none-match', 'cookie'].includes(name),
    );
    web.clock.advance(61_000);
    const others: Record<string, string>[] = [{}, { 'If-None-Match': '"x"' }, { Cookie: 'hearth_theme=dark' }];
    for (const more of others) {
      await rawly(web, `${B}/tree/main/src`, Object.fromEntries(all.map((name) => [name, '1'])));
      await rawly(web, `${B}/tree/main/src`, { 'X-Anything': '1', ...more });
    }
    for (const name of ['host', 'cookie', 'accept-encoding', 'x-forwarded-proto', 'user-agent'])
      t.ok(read.has(name), `it sees ${name}`);
    const inKey = new Set<string>([...varyHeaders, ...forwardedHeaders]);
    const unkeyed = [...read].filter((name) => !inKey.has(name));
    const served = new Set<string>(ignoredHeaders);
    t.strictSame(unkeyed.filter((name) => served.has(name)).sort(), Object.keys(exceptions).sort());
  });

  await t.test('a page that changes while it is being rendered is not cached', async (t) => {
    const { state: refState } = web.modules.git.refs;
    t.teardown(() => (web.modules.git.refs.state = refState));
    web.clock.advance(61_000);
    web.modules.git.refs.state = async (target) => {
      web.modules.git.refs.state = refState;
      const state = await refState(target);
      await alice.post(`${B}/settings/visibility`, { visibility: 'PRIVATE' });
      return state;
    };
    t.equal((await anonymous.get(B)).status, 200, 'who was let in before sees it yet');
    t.equal((await anonymous.get(B)).status, 404);
    await alice.post(`${B}/settings/visibility`, { visibility: 'PUBLIC' });
    t.equal((await anonymous.get(B)).status, 200);
  });

  await t.test('every change of refs shows at once', async (t) => {
    t.match(await bodies(anonymous), /heat[^]* = /);
    await fillRepository(t, path, { 'src/fire.ts': 'const cold = 2;\n' }, 'topic');
    t.match((await view(anonymous, `${B}/tree/main/src`)).body, /topic/, 'a new branch, made beside the server');
    await runGit(['update-ref', 'refs/heads/main', 'refs/heads/topic'], { cwd: path });
    t.match(await bodies(anonymous), /cold/);
    t.notMatch(await bodies(anonymous), /heat/);
    await runGit(['update-ref', '-d', 'refs/heads/topic'], { cwd: path });
    t.notMatch(await bodies(anonymous), /topic/);
    await runGit(['symbolic-ref', 'HEAD', 'refs/heads/other'], { cwd: path });
    t.match((await view(anonymous, B)).body, /This repository is empty/);
    await runGit(['symbolic-ref', 'HEAD', 'refs/heads/main'], { cwd: path });
    t.match((await view(anonymous, B)).body, /cold|src/);
  });

  await t.test('hidden is absent at once, for every viewer who may not read', async (t) => {
    await Promise.all([bodies(anonymous), bodies(bob), bodies(alice)]);
    const absent = await anonymous.get('/repos/alice/none');
    await alice.post(`${B}/settings/visibility`, { visibility: 'PRIVATE' });
    for (const who of [anonymous, bob]) {
      for (const target of [B, `${B}/tree/main/src`, `${B}/blob/main/src/fire.ts`])
        t.equal((await who.get(target)).status, 404);
    }
    t.same((await anonymous.get(B, { 'If-None-Match': 'W/"anything"' })).body, absent.body);
    t.match((await view(alice, B)).body, /Private/);
    await alice.post(`${B}/settings/collaborators`, { username: 'bob', role: 'read' });
    t.match(await bodies(bob), /cold/);
    await alice.post(`${B}/settings/collaborators/bob/role`, { role: 'admin' });
    t.match((await view(bob, B)).body, /settings\/collaborators/, 'another right is another page');
    await alice.post(`${B}/settings/collaborators/bob/remove`);
    t.equal((await bob.get(B)).status, 404);
    await alice.post(`${B}/settings/visibility`, { visibility: 'PUBLIC' });
    t.notMatch((await view(anonymous, B)).body, /Private/);
  });

  await t.test('words and pictures of the repository', async (t) => {
    await view(anonymous, B);
    await alice.post(`${B}/settings`, { description: 'Fires clay', default_branch: 'main' });
    t.match((await view(anonymous, B)).body, /Fires clay/);
    await upload(web, alice, `${B}/image`, [{ name: 'image', bytes: sampleImages['image/png'], type: 'image/png' }]);
    t.match((await view(anonymous, `${B}/tree/main/src`)).body, /kiln\/image\?v=/);
    await alice.post(`${B}/image/delete`);
    t.notMatch((await view(anonymous, `${B}/tree/main/src`)).body, /kiln\/image\?v=/);
    await alice.post(`${B}/settings/archive`);
    t.match((await view(anonymous, B)).body, /Archived/);
    await alice.post(`${B}/settings/unarchive`);
    t.notMatch((await view(anonymous, B)).body, /Archived/);
  });

  await t.test('words and habits of the person', async (t) => {
    t.match((await view(alice, B)).body, /Pin\b/);
    await alice.post(`${B}/pin`);
    t.match((await view(alice, B)).body, /Unpin/);
    t.match((await view(alice, B)).body, /SSH key<\/a>\. You do not have one/);
    t.equal((await alice.post('/settings/keys', { title: 'desk', key: sampleKey })).status, 303);
    t.notMatch((await view(alice, B)).body, /SSH key<\/a>\. You do not have one/);
    await alice.post('/settings/profile', { display_name: 'Alice of the Kiln', bio: '', website: '' });
    t.match((await view(alice, B)).body, /Alice of the Kiln/);
    await upload(web, alice, '/settings/avatar', [
      { name: 'avatar', bytes: sampleImages['image/png'], type: 'image/png' },
    ]);
    t.match((await view(alice, B)).body, /\?v=\d+/);
    await alice.post('/settings/appearance', { theme: 'dark', keys: 'off' });
    t.match((await view(alice, B)).body, /data-theme="dark"[^>]*data-keys="off"/);
  });

  await t.test('signed out, and another name', async (t) => {
    await view(alice, B);
    await alice.post('/logout');
    t.notMatch((await view(alice, B)).body, /Alice of the Kiln|Unpin/);
    await web.modules.repositories.rename(
      {
        kind: 'person',
        id: alice.id,
        username: 'alice',
        isAdministrator: false,
        via: 'session',
        scope: 'admin',
        repositoryIds: null,
      },
      'alice',
      'kiln',
      'oven',
    );
    t.match(await anonymous.get(`${B}/tree/main/src`), {
      status: 301,
      headers: { location: '/repos/alice/oven/tree/main/src' },
    });
    t.notMatch((await view(anonymous, '/repos/alice/oven')).body, /kiln/);
  });
});
