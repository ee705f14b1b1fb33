// The LFS server and the releases of a mirror's remote: the credentials of the mirror go to its host, and to no other
// that it names.
import { Readable } from 'node:stream';
import t from 'tap';
import { silentLogger } from '../../src/kernel/index.ts';
import { lfsRemote } from '../../src/mirrors/lfs-remote.ts';
import { openRemoteFile } from '../../src/mirrors/releases/release-client.ts';
import type { RemoteFile } from '../../src/mirrors/releases/remote-release.ts';

type Outbound = Parameters<typeof lfsRemote>[0]['outbound'];

const oid = 'a'.repeat(64);
const other = { Authorization: 'Bearer of-the-link' };

/** Asks the remote for one object behind this address; says which headers with secrets each host got. */
async function requestsFor(href: string, header: Record<string, string> = {}) {
  const got: [method: string, origin: string, authorization: string | undefined][] = [];
  const note = ({ method, url, headers }: { method: string; url: string; headers?: Record<string, string> }): void =>
    void got.push([method, new URL(url).origin, headers?.['Authorization']]);
  const action = { href, header };
  const outbound = {
    send: async (request: Parameters<Outbound['send']>[0]) => {
      note(request as never);
      const actions = { download: action, upload: action, verify: action };
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify({ objects: [{ oid, size: 3, actions }] })) };
    },
    open: async (request: Parameters<Outbound['open']>[0]) => {
      note(request as never);
      return { status: 200, headers: {}, stream: Readable.from([Buffer.from('abc')]) };
    },
  } as unknown as Outbound;
  const remote = {
    url: new URL('https://git.example.org/alice/garden.git'),
    addresses: [],
    username: 'alice',
    secret: 'hunter2',
    caFile: null,
  };
  const server = lfsRemote({ outbound, git: silentLogger as never }, remote, new AbortController().signal);
  for (const operation of ['download', 'upload'] as const) {
    const [object] = (await server.batch(operation, [{ oid, bytes: 3 }]))!;
    if (operation === 'download') (await server.download(object!)).destroy();
    else await server.upload(object!, Readable.from([Buffer.from('abc')]));
  }
  return got;
}

const own = `Basic ${Buffer.from('alice:hunter2').toString('base64')}`;
const home = 'https://git.example.org';

t.test('links of the same origin get the credentials, unless they bring their own', async (t) => {
  const asked = (authorization: string) => [
    ['POST', home, own],
    ['GET', home, authorization],
    ['POST', home, own],
    ['PUT', home, authorization],
    ['POST', home, authorization],
  ];
  t.strictSame(await requestsFor(`${home}/objects/${oid}`), asked(own));
  t.strictSame(await requestsFor(`${home}/objects/${oid}`, other), asked(other.Authorization));
});

const elsewheres = [
  'https://cdn.example.org',
  'https://git.example.org:8443',
  'http://git.example.org',
  'https://git.example.org.example.net',
];

for (const elsewhere of elsewheres)
  t.test(`a link to ${elsewhere} gets none`, async (t) => {
    for (const [given, shown] of [
      [{}, undefined],
      [other, other.Authorization],
    ] as const)
      t.strictSame(await requestsFor(`${elsewhere}/${oid}`, given), [
        ['POST', home, own],
        ['GET', elsewhere, shown],
        ['POST', home, own],
        ['PUT', elsewhere, shown],
        ['POST', elsewhere, shown],
      ]);
  });

/** Which authorization each address of a file of a release got, over redirects to these. */
async function fileOver(addresses: readonly string[], status: number) {
  const got: [url: string, authorization: string | undefined][] = [];
  const outbound = {
    open: async ({ url, headers }: { url: string; headers: Record<string, string> }) => {
      got.push([url, headers['Authorization']]);
      const next = addresses[got.length];
      const stream = Readable.from(['abc']);
      return next === undefined
        ? { status: 200, headers: {}, stream }
        : { status, headers: { location: next }, stream };
    },
  } as unknown as Outbound;
  const api = {
    kind: 'gitea',
    endpoint: `${home}/api/v1`,
    headers: { Authorization: own },
    trusted: new Set([home]),
  } as const;
  const settings = { isNamed: () => false } as unknown as Parameters<typeof openRemoteFile>[0]['settings'];
  (await openRemoteFile({ outbound, settings }, api, { url: addresses[0]! } as RemoteFile)).destroy();
  return got;
}

t.test(
  'a file of a release is fetched with the credentials while it is at home, and not over a redirect',
  async (t) => {
    for (const status of [301, 302, 303, 307, 308])
      for (const elsewhere of elsewheres)
        t.strictSame(
          await fileOver([`${home}/a`, `${home}/b`, `${elsewhere}/c`], status),
          [
            [`${home}/a`, own],
            [`${home}/b`, own],
            [`${elsewhere}/c`, undefined],
          ],
          `${status} to ${elsewhere}`,
        );
    t.strictSame(await fileOver(['https://cdn.example.org/a'], 302), [['https://cdn.example.org/a', undefined]]);
  },
);
