// time limit: 600 s
// Kill -9 of the server while clients publish to every format and push images at once. HEARTH_KILLS says how often; a
// few by default. After each start all that was acknowledged is there and whole; what was under way is absent or whole.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { startServerProcess } from '../e2e/server-process.ts';
import {
  basic,
  crateBody,
  descriptor,
  digestOf,
  imageType,
  npmBody,
  pypiBody,
  registry,
  senderTo,
} from './package-server.ts';
import type { Answer, PackageServer } from './package-server.ts';

const kills = Number(process.env['HEARTH_KILLS'] ?? 2);
t.setTimeout(120_000 + kills * 30_000);
const random = seededRandom(44);

interface Client extends Pick<PackageServer, 'origin' | 'send'> {
  secret: string;
  /** With the token: an anonymous client is asked to sign in where nothing is. */
  get(target: string): Promise<Answer>;
  images: ReturnType<typeof registry>;
}

type Content = Buffer;

/** One way to publish a version that has a content, and to read it. */
interface Way {
  publish(client: Client, version: string, content: Content): Promise<Answer>;
  /** The content as readers get it, through the index that they read; null where the version is absent. */
  read(client: Client, version: string): Promise<Content | null>;
}

/** Null for 404. Another answer is an error. */
function contentOf({ status, bytes, text }: Answer): Content | null {
  if (status === 200) return bytes;
  if (status === 404) return null;
  throw new Error(`${status} ${text.slice(0, 200)}`);
}

/** What an index must name: of a version that it does not name no file may be there. */
async function readNamed({ get }: Client, target: string, isNamed: boolean): Promise<Content | null> {
  const content = contentOf(await get(target));
  if ((content === null) === isNamed) throw new Error(`${target}: ${isNamed ? 'named' : 'not named'} by its index`);
  return content;
}

const textOr = async ({ get }: Client, target: string): Promise<string> =>
  contentOf(await get(target))?.toString() ?? '';

const imageName = 'alice/image';
const configOf = (version: string): string => JSON.stringify({ os: 'linux', architecture: 'amd64', version });

const ways: Readonly<Record<string, Way>> = {
  generic: {
    publish: ({ send, secret }, version, body) =>
      send('PUT', `/packages/alice/generic/tool/${version}/file`, { auth: basic(secret), body }),
    read: async ({ get }, version) => contentOf(await get(`/packages/alice/generic/tool/${version}/file`)),
  },
  npm: {
    publish: ({ send, secret }, version, content) =>
      send('PUT', '/packages/alice/npm/lib', {
        auth: basic(secret),
        headers: { 'Content-Type': 'application/json' },
        body: npmBody('lib', version, {}, 'latest', content),
      }),
    async read(client, version) {
      const index = await textOr(client, '/packages/alice/npm/lib');
      const isNamed = index !== '' && version in JSON.parse(index).versions;
      return readNamed(client, `/packages/alice/npm/lib/-/lib-${version}.tgz`, isNamed);
    },
  },
  pypi: {
    publish: ({ send, secret }, version, content) =>
      send('POST', '/packages/alice/pypi/', { auth: basic(secret), ...pypiBody('lib', version, { content }) }),
    async read(client, version) {
      const index = await textOr(client, '/packages/alice/pypi/simple/lib/');
      const [, href] = new RegExp(`href="([^"#]*lib-${version}.tar.gz)`).exec(index) ?? [];
      return href === undefined ? null : readNamed(client, new URL(href, client.origin).pathname, true);
    },
  },
  cargo: {
    publish: ({ send, secret }, vers, content) =>
      send('PUT', '/packages/alice/cargo/api/v1/crates/new', {
        auth: secret,
        body: crateBody('crate', vers, {}, content),
      }),
    async read(client, version) {
      const index = await textOr(client, '/packages/alice/cargo/cr/at/crate');
      const isNamed = index.includes(`"vers":"${version}"`);
      return readNamed(client, `/packages/alice/cargo/api/v1/crates/crate/${version}/download`, isNamed);
    },
  },
  maven: {
    publish: ({ send, secret }, version, body) =>
      send('PUT', `/packages/alice/maven/org/example/lib/${version}/lib-${version}.jar`, { auth: basic(secret), body }),
    async read(client, version) {
      const index = await textOr(client, '/packages/alice/maven/org/example/lib/maven-metadata.xml');
      const isNamed = index.includes(`<version>${version}</version>`);
      return readNamed(client, `/packages/alice/maven/org/example/lib/${version}/lib-${version}.jar`, isNamed);
    },
  },
  image: {
    async publish({ images }, version, layer) {
      for (const blob of [configOf(version), layer]) await images.pushBlob(imageName, blob);
      const config = descriptor(configOf(version), 'application/vnd.oci.image.config.v1+json');
      const manifest = { schemaVersion: 2, mediaType: imageType, config, layers: [descriptor(layer)] };
      return images.pushManifest(imageName, version, manifest);
    },
    async read({ get }, version) {
      const manifest = contentOf(await get(`/v2/${imageName}/manifests/${version}`));
      if (manifest === null) return null;
      const { config, layers } = JSON.parse(manifest.toString());
      const [first, layer] = await Promise.all(
        [config, layers[0]].map(async ({ digest }) => contentOf(await get(`/v2/${imageName}/blobs/${digest}`))),
      );
      if (first?.toString() !== configOf(version) || layer == null) throw new Error(`${version} is not whole`);
      return layer;
    },
  },
};

/** An upload in chunks that goes on after every kill. */
interface LongUpload {
  content: Content;
  location: string;
  acknowledged: number;
}

const lengthOfRange = (answer: Answer): number => Number(/^0-(\d+)$/.exec(answer.headers.get('range') ?? '')?.[1]) + 1;
const chunkBytes = 32 * 1024;

/** Sends chunks until the connection breaks; ends an upload that is whole and begins another one. */
async function uploadOn({ images }: Client, state: { upload: LongUpload | null; ended: Content[] }): Promise<void> {
  if (state.upload === null) {
    const begun = await images.call('POST', '/v2/alice/long/blobs/uploads/');
    if (begun.status !== 202) throw new Error(`POST: ${begun.status} ${begun.text}`);
    state.upload = { content: randomBytes(chunkBytes * 8), location: begun.headers.get('location')!, acknowledged: 0 };
  }
  const { upload } = state;
  const { content, location } = upload;
  if (upload.acknowledged < content.length) {
    const body = content.subarray(upload.acknowledged, upload.acknowledged + chunkBytes);
    const range = `${upload.acknowledged}-${upload.acknowledged + body.length - 1}`;
    const sent = await images.call('PATCH', location, { body, headers: { 'Content-Range': range } });
    if (sent.status !== 202) throw new Error(`PATCH: ${sent.status} ${sent.text}`);
    upload.acknowledged = lengthOfRange(sent);
    return;
  }
  const ended = await images.call('PUT', `${location}?digest=${digestOf(content)}`);
  if (ended.status !== 201) throw new Error(`PUT: ${ended.status} ${ended.text}`);
  state.ended.push(content);
  state.upload = null;
}

t.test(`${kills} kills during mixed publishing`, async (t) => {
  const folder = temporaryFolder(t);
  const start = () => startServerProcess(t, 'either', { folder });
  let server = await start();
  await server.command('user', 'add', 'alice', '--random-password');
  const secret = await server.command('token', 'add', '--user', 'alice', '--name', 'publishes', '--access', 'write');
  const clientOf = (): Client => {
    const to = { origin: server.url, send: senderTo(server.url) };
    const get = (target: string) => to.send('GET', target, { auth: basic(secret) });
    return { ...to, secret, get, images: registry(to, secret) };
  };

  const acknowledged = new Map<string, Content>();
  const underWay = new Map<string, Content>();
  const long = { upload: null as LongUpload | null, ended: [] as Content[] };
  let [wholeUnderWay, resumed] = [0, 0];

  async function checkVersion(client: Client, key: string, content: Content): Promise<boolean> {
    const [way = '', version = ''] = key.split(' ');
    const stored = await ways[way]!.read(client, version);
    if (stored !== null && !stored.equals(content)) throw new Error(`${key} has another content`);
    return stored !== null;
  }

  for (let kill = 1; kill <= kills; kill += 1) {
    const client = clientOf();
    let isKilled = false;
    /** Publishes until the server is gone. A connection that breaks earlier fails the test. */
    const untilKilled = async (step: () => Promise<void>): Promise<void> => {
      try {
        while (!isKilled) await step();
      } catch (error) {
        if (!isKilled || (error as NodeJS.ErrnoException).code === undefined) throw error;
      }
    };
    const publishing = Object.entries(ways).map(async ([name, way]) => {
      let count = 0;
      await untilKilled(async () => {
        const version = `${kill}.${count++}.0`;
        const content = randomBytes(1 + random.below(200_000));
        underWay.set(`${name} ${version}`, content);
        const { status, text } = await way.publish(client, version, content);
        if (status !== 200 && status !== 201) throw new Error(`${name} ${version}: ${status} ${text}`);
        underWay.delete(`${name} ${version}`);
        acknowledged.set(`${name} ${version}`, content);
      });
    });
    publishing.push(untilKilled(() => uploadOn(client, long)));
    const done = Promise.allSettled(publishing);
    await sleep(200 + random.below(1_500));
    isKilled = true;
    await server.kill();
    for (const result of await done) if (result.status === 'rejected') t.fail(`kill ${kill}: ${String(result.reason)}`);

    server = await start();
    const after = clientOf();
    for (const [key, content] of acknowledged)
      if (key.includes(` ${kill}.`) && !(await checkVersion(after, key, content))) t.fail(`${key} is lost`);
    // What was not acknowledged is published again: refused only where it has arrived whole.
    for (const [key, content] of underWay) {
      const isThere = await checkVersion(after, key, content);
      if (isThere) wholeUnderWay += 1;
      const [way = '', version = ''] = key.split(' ');
      const again = await ways[way]!.publish(after, version, content);
      const isExpected = again.status < 300 || (isThere && [403, 409].includes(again.status));
      if (!isExpected) t.fail(`${key} again: ${again.status} ${again.text}`);
      acknowledged.set(key, content);
    }
    underWay.clear();
    if (long.upload !== null) {
      const shown = await after.images.call('GET', long.upload.location);
      // Its end may have arrived, and a beginning of it is not known to the client.
      if (shown.status === 404 && long.upload.acknowledged === long.upload.content.length) {
        long.ended.push(long.upload.content);
        long.upload = null;
      } else {
        // An upload without a byte has the range of one with a single byte.
        const there = lengthOfRange(shown) === 1 ? 0 : lengthOfRange(shown);
        t.ok(there >= long.upload.acknowledged, `${there} of ${long.upload.acknowledged} bytes of an upload`);
        long.upload.acknowledged = there;
        resumed += 1;
      }
    }
  }

  const client = clientOf();
  const lost: string[] = [];
  for (const [key, content] of acknowledged) if (!(await checkVersion(client, key, content))) lost.push(key);
  t.strictSame(lost, [], `${acknowledged.size} versions`);
  for (const content of long.ended) {
    const answer = await client.images.call('GET', `/v2/alice/long/blobs/${digestOf(content)}`);
    t.ok(answer.bytes.equals(content), 'an upload that went on after kills');
  }
  for (const way of Object.keys(ways))
    t.ok([...acknowledged.keys()].filter((key) => key.startsWith(`${way} `)).length >= kills, way);
  await server.command('package', 'gc');
  await server.command('objects', 'check');
  t.comment(`${acknowledged.size} versions, ${wholeUnderWay} arrived unacknowledged, ${resumed} uploads went on`);
  await server.stop();
});
