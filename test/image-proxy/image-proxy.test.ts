// The proxy for images of other hosts, against a real server on this machine: what it fetches, caches and refuses.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { measureCpuTime } from '../fixtures/thread-cpu.ts';
import type { Test } from 'tap';
import { createImageProxy } from '../../src/image-proxy/index.ts';
import type { ImageProxyOptions } from '../../src/image-proxy/index.ts';
import { proxiedType } from '../../src/image-proxy/proxied-type.ts';
import { isDomainError, silentLogger, systemRandom } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';
const scope = { repositoryId: 'roof', isPublic: true };

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A host of images; `asked` has the requests that reached it. */
async function startHost(t: Test, handlers: Record<string, Handler>) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const handler = handlers[request.url!.split('?', 1)[0]!];
    if (handler === undefined) response.writeHead(404).end('no');
    else handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { requests, port, url: (at: string) => `http://127.0.0.1:${port}${at}`, host: `127.0.0.1:${port}` };
}

const sendPng =
  (headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.writeHead(200, { 'Content-Type': 'image/png', ...headers }).end(png);

interface Given extends Partial<Pick<ImageProxyOptions, 'limits' | 'resolve'>> {
  hosts: readonly string[];
  cacheBytes?: number;
}

function openProxy(t: Test, { hosts, cacheBytes = 1 << 20, limits = {}, ...rest }: Given) {
  const folder = temporaryFolder(t);
  const clock = fixedClock();
  const proxy = createImageProxy({
    config: {
      baseUrl: 'https://git.example.org',
      caFile: null,
      repositories: { remoteImageHosts: hosts, remoteImageCacheBytes: cacheBytes } as never,
    },
    keyFile: path.join(folder, 'key'),
    folder: path.join(folder, 'images'),
    clock,
    random: systemRandom,
    logger: silentLogger,
    limits: { totalMs: 1_000, ...limits },
    ...rest,
  });
  t.teardown(() => proxy.stop());
  const signed = (url: string, of = scope) => proxy.sign(of, url)!.split('/') as [string, string];
  const open = async (url: string, of = scope) => {
    const image = await proxy.open(...signed(url, of));
    return image && { ...image, content: await buffer(image.stream()) };
  };
  const reasonOf = (url: string, of = scope) =>
    open(url, of).then(
      (image) => (image === null ? 'none' : image.type),
      (error: unknown) => (isDomainError(error) ? error.reason : String(error)),
    );
  return { proxy, clock, signed, open, reasonOf };
}

t.test('an image is fetched once, cached on disk, and requested again only when it is no longer fresh', async (t) => {
  const host = await startHost(t, {
    '/a.png': (request, response) =>
      request.headers['if-none-match'] === '"one"'
        ? response.writeHead(304, { 'Cache-Control': 'max-age=600' }).end()
        : sendPng({ ETag: '"one"', 'Cache-Control': 'max-age=600' })(request, response),
  });
  const { open, clock, proxy } = openProxy(t, { hosts: [host.host] });
  const images = await Promise.all(Array.from({ length: 20 }, () => open(host.url('/a.png'))));
  t.equal(host.requests.length, 1, 'many at once are one request');
  for (const image of images) t.match(image, { type: 'image/png', content: png, isPublic: true });
  const { headers } = host.requests[0]!;
  t.strictSame(Object.keys(headers).sort(), ['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
  t.match(headers['user-agent'], /^Hearth\/\S+ \(\+https:\/\/git\.example\.org\)$/);
  clock.advance(599_000);
  t.equal((await open(host.url('/a.png')))?.etag, images[0]?.etag);
  t.equal(host.requests.length, 1);
  clock.advance(2_000);
  t.equal((await open(host.url('/a.png')))?.maxAgeSeconds, 600);
  t.equal(host.requests.length, 2, 'revalidated');
  t.match(proxy.counts(), { fetched: 1, revalidated: 1 });
});

t.test('only addresses that this server signed are fetched', async (t) => {
  const host = await startHost(t, { '/a.png': sendPng() });
  const { proxy, signed } = openProxy(t, { hosts: [host.host] });
  const [signature, encoded] = signed(host.url('/a.png'));
  const other = Buffer.from(JSON.stringify(['roof', 1, host.url('/a.png?x')])).toString('base64url');
  for (const [one, two] of [
    [signature, other],
    [signature.replace(/^./, (first) => (first === '0' ? '1' : '0')), encoded],
    ['', encoded],
    [signature, ''],
    [signature, 'é'],
    [`${signature}0`, encoded],
  ] as const)
    t.equal(await proxy.open(one, two), null);
  t.equal(host.requests.length, 0);
  const another = openProxy(t, { hosts: [host.host] });
  t.equal(await another.proxy.open(signature, encoded), null, 'of another server');
  for (const url of [
    'ftp://x.example/a.png',
    'javascript:alert(1)',
    `https://x.example/${'a'.repeat(2_000)}`,
    'https://',
  ])
    t.equal(proxy.sign(scope, url), null, url.slice(0, 30));
});

t.test('addresses that are not public are never connected to, whatever leads there', async (t) => {
  const inside = await startHost(t, { '/a.png': sendPng() });
  const outside = await startHost(t, {
    '/redirect': (_request, response) => response.writeHead(302, { Location: inside.url('/a.png') }).end(),
    '/file': (_request, response) => response.writeHead(302, { Location: 'file:///etc/passwd' }).end(),
    '/loop': (_request, response) => response.writeHead(302, { Location: '/loop' }).end(),
    '/moved': (_request, response) => response.writeHead(301, { Location: '/a.png' }).end(),
    '/a.png': sendPng(),
  });
  const { reasonOf, proxy } = openProxy(t, {
    hosts: [outside.host],
    resolve: async (name) =>
      name === 'inner.example' ? ['10.0.0.1'] : name === 'two.example' ? ['1.1.1.1', '127.0.0.1'] : [],
  });
  t.equal(await reasonOf(outside.url('/moved')), 'image/png');
  t.equal(await reasonOf(outside.url('/redirect')), 'none');
  t.equal(await reasonOf(outside.url('/file')), 'none');
  t.equal(await reasonOf(outside.url('/loop')), 'none');
  for (const url of [
    inside.url('/a.png'),
    `http://localhost:${inside.port}/a.png`,
    `http://[::ffff:127.0.0.1]:${inside.port}/a.png`,
    'http://0x7f.1/a.png',
    'http://169.254.169.254/latest/meta-data',
    'https://inner.example/a.png',
    'https://two.example/a.png',
    'https://user:secret@example.org/a.png',
    'https://example.org:22/a.png',
  ])
    t.equal(await reasonOf(url), 'none', url);
  t.equal(inside.requests.length, 0);
  t.ok(proxy.counts().refused >= 6);
});

t.test(
  'what is no image, too large, slow, compressed or cut off is not passed on, and not asked for again at once',
  async (t) => {
    const big = Buffer.concat([png, Buffer.alloc(200_000)]);
    const host = await startHost(t, {
      '/page': (_request, response) =>
        response.writeHead(200, { 'Content-Type': 'text/html' }).end('<script>1</script>'),
      '/lie': (_request, response) =>
        response.writeHead(200, { 'Content-Type': 'image/png' }).end('<script>1</script>'),
      '/big': (_request, response) => response.writeHead(200, { 'Content-Type': 'image/png' }).end(big),
      '/slow': (_request, response) =>
        void response.writeHead(200, { 'Content-Type': 'image/png' }).write(png.subarray(0, 8)),
      '/drop': (request, response) => {
        response.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': '999' }).write(png);
        setTimeout(() => request.socket.destroy(), 20);
      },
      '/zip': (_request, response) =>
        response.writeHead(200, { 'Content-Type': 'image/png', 'Content-Encoding': 'gzip' }).end(png),
      '/svg-as-text': (_request, response) => response.writeHead(200, { 'Content-Type': 'text/plain' }).end(svg),
      '/svg': (_request, response) => response.writeHead(200, { 'Content-Type': 'image/svg+xml' }).end(svg),
      '/none': (_request, response) => response.writeHead(200).end(),
    });
    const { reasonOf, clock } = openProxy(t, { hosts: [host.host], limits: { maxBytes: 100_000, totalMs: 400 } });
    t.equal(await reasonOf(host.url('/svg')), 'image/svg+xml');
    for (const at of ['/page', '/lie', '/big', '/slow', '/drop', '/zip', '/svg-as-text', '/none', '/absent'])
      t.equal(await reasonOf(host.url(at)), 'none', at);
    const before = host.requests.length;
    t.equal(await reasonOf(host.url('/absent')), 'none');
    t.equal(host.requests.length, before, 'remembered');
    clock.advance(6 * 60_000);
    t.equal(await reasonOf(host.url('/absent')), 'none');
    t.equal(host.requests.length, before + 1);
  },
);

t.test('an image that was there stays while its host fails', async (t) => {
  let isUp = true;
  const host = await startHost(t, {
    '/a.png': (request, response) => (isUp ? sendPng()(request, response) : response.writeHead(500).end()),
  });
  const { open, clock, proxy } = openProxy(t, { hosts: [host.host] });
  t.ok(await open(host.url('/a.png')));
  isUp = false;
  clock.advance(24 * 60 * 60_000);
  t.match(await open(host.url('/a.png')), { content: png, maxAgeSeconds: 60 });
  t.equal(proxy.counts().stale, 1);
});

t.test('PRIVATE repositories share no cached image with others', async (t) => {
  const host = await startHost(t, { '/a.png': sendPng() });
  const { open } = openProxy(t, { hosts: [host.host] });
  t.match(await open(host.url('/a.png'), { repositoryId: 'cellar', isPublic: false }), { isPublic: false });
  await open(host.url('/a.png'));
  await open(host.url('/a.png'), { repositoryId: 'garden', isPublic: true });
  await open(host.url('/a.png'), { repositoryId: 'attic', isPublic: false });
  t.equal(host.requests.length, 3, 'once for the two public ones');
});

t.test(
  'limits: places of a host, fetches and bytes of a repository, rate of a host; what is kept is still sent',
  async (t) => {
    let running = 0;
    let most = 0;
    const host = await startHost(t, {
      '/a.png': async (request, response) => {
        most = Math.max(most, ++running);
        await wait(30);
        running -= 1;
        sendPng()(request, response);
      },
    });
    const { reasonOf, clock } = openProxy(t, {
      hosts: [host.host],
      limits: {
        perHost: 3,
        repositoryRate: { capacity: 10, perSecond: 10 / 60 },
        hostRate: { capacity: 15, perSecond: 15 / 60 },
      },
    });
    const all = (repositoryId: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, at) =>
          reasonOf(host.url(`/a.png?${repositoryId}${at}`), { repositoryId, isPublic: true }),
        ),
      );
    const first = await all('roof', 14);
    t.equal(first.filter((each) => each === 'image/png').length, 10);
    t.equal(first.filter((each) => each === 'image_proxy_busy').length, 4);
    t.ok(most <= 3, `${most} at a time`);
    const second = await all('garden', 8);
    t.equal(second.filter((each) => each === 'image/png').length, 5, 'the host has had enough');
    t.equal(await reasonOf(host.url('/a.png?roof0')), 'image/png');
    clock.advance(60_000);
    t.equal((await all('roof', 14)).filter((each) => each === 'image/png').length, 14);
  },
);

t.test('ten thousand requests for slow images neither pile up nor hang', async (t) => {
  const host = await startHost(t, { '/slow': () => {} });
  const { reasonOf } = openProxy(t, {
    hosts: [host.host],
    limits: { totalMs: 300, waitMs: 300, running: 4, queued: 10 },
  });
  const before = performance.now();
  const reasons = await Promise.all(Array.from({ length: 10_000 }, (_, at) => reasonOf(host.url(`/slow?${at}`))));
  t.ok(performance.now() - before < 15_000);
  t.ok(reasons.every((each) => each === 'none' || each === 'image_proxy_busy'));
  t.ok(host.requests.length < 400);
});

t.test('the cache stays below its limit, and the least recently used go first', async (t) => {
  const host = await startHost(t, { '/a.png': sendPng({ 'Cache-Control': 'max-age=86400' }) });
  const { open, clock, proxy } = openProxy(t, { hosts: [host.host], cacheBytes: 12_000 });
  for (let at = 0; at < 20; at += 1) {
    await open(host.url(`/a.png?${at}`));
    clock.advance(1_000);
  }
  await proxy.evict();
  const { files, bytes } = proxy.load();
  t.ok(bytes <= 12_000 && files > 2, `${files} files, ${bytes} bytes`);
  const requests = host.requests.length;
  await open(host.url('/a.png?19'));
  t.equal(host.requests.length, requests, 'the last one is there');
  await open(host.url('/a.png?0'));
  t.equal(host.requests.length, requests + 1, 'the first one is not');
});

t.test('types are detected by the bytes; entities of an SVG are refused', async (t) => {
  const cases: [declared: string | undefined, bytes: string | Buffer, type: string | null][] = [
    ['image/png', png, 'image/png'],
    ['image/jpeg', png, 'image/png'],
    ['application/octet-stream', png, 'image/png'],
    [undefined, png, 'image/png'],
    ['text/html', png, null],
    ['image/svg+xml; charset=utf-8', '<svg></svg>', 'image/svg+xml'],
    ['image/svg+xml', '\ufeff<?xml version="1.0"?>\n<!-- a --><!DOCTYPE svg PUBLIC "x" "y">\n<svg >', 'image/svg+xml'],
    ['image/svg+xml', '<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>', null],
    ['image/svg+xml', '<svg><!ENTITY a "b"></svg>', null],
    ['image/svg+xml', '<html><svg></svg></html>', null],
    ['image/svg+xml', png, null],
    ['image/avif', Buffer.concat([Buffer.from([0, 0, 0, 28]), Buffer.from('ftypavif')]), 'image/avif'],
    ['image/heic', Buffer.concat([Buffer.from([0, 0, 0, 28]), Buffer.from('ftypheic')]), null],
    ['image/x-icon', Buffer.from([0, 0, 1, 0]), null],
  ];
  for (const [declared, bytes, type] of cases)
    t.equal(proxiedType(declared, Buffer.from(bytes as string)), type, `${declared} ${String(bytes).slice(0, 20)}`);
  const { cpuMs } = await measureCpuTime(() => {
    proxiedType('image/svg+xml', Buffer.from('<!--'.repeat(1_000)));
    proxiedType('image/svg+xml', Buffer.from(' '.repeat(4_000)));
  });
  t.ok(cpuMs < 100, `${cpuMs} ms`);
});
