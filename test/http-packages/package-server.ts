// startPackageServer(t, {env?}) → a whole server with alice, bob, carol and the organisation acme (bob: MEMBER, carol:
// GUEST), alice's private repository "closed" and public "open"; tokens by what they are for; send(method, path, …).
// registry(server, secret) → a client of the registry of images: the token service first, as real clients do.
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { localAdministrator } from '../../src/access/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { startGitServer } from '../http-git/git-server.ts';
import type { GitServer } from '../http-git/git-server.ts';

export interface Answer {
  status: number;
  headers: Headers;
  bytes: Buffer;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any format
  json: any;
}

export interface PackageServer extends Omit<GitServer, 'tokens'> {
  tokens: Record<
    | 'alice'
    | 'aliceReads'
    | 'aliceAdmin'
    | 'bob'
    | 'carol'
    | 'packagesRead'
    | 'packagesWrite'
    | 'limitedIn'
    | 'limitedOut',
    string
  >;
  ids: Record<'alice' | 'bob' | 'carol' | 'closed', string>;
  send(
    method: string,
    target: string,
    options?: { auth?: string | undefined; headers?: Record<string, string>; body?: Buffer | string },
  ): Promise<Answer>;
}

export const basic = (secret: string, name = 'x'): string =>
  `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;

export async function startPackageServer(t: Owner, env: Record<string, string> = {}): Promise<PackageServer> {
  const server = await startGitServer(t, env);
  const { accounts, organisations, repositories } = server.app.modules;
  await server.newRepository('open');
  await server.newRepository('closed', 'PRIVATE');
  const carol = await accounts.addPerson({ username: 'carol' });
  const idOf = async (handle: string): Promise<string> => (await server.app.modules.owners.resolve(handle))!.id;
  const ids = {
    alice: await idOf('alice'),
    bob: await idOf('bob'),
    carol: carol.id,
    closed: (await repositories.find(localAdministrator, 'alice', 'closed')).repository.id,
  };
  const open = (await repositories.find(localAdministrator, 'alice', 'open')).repository.id;
  const token = async (
    id: string,
    name: string,
    more: { access?: 'read' | 'write' | 'admin'; repositoryIds?: string[]; onlyPackages?: boolean } = {},
  ) => (await accounts.addToken(id, { name, access: 'write', repositoryIds: null, expiresAt: null, ...more })).secret;
  await organisations.create(localAdministrator, { name: 'acme', owner: 'alice' });
  await organisations.addMember(localAdministrator, 'acme', { username: 'bob', role: 'MEMBER' });
  await organisations.addMember(localAdministrator, 'acme', { username: 'carol', role: 'GUEST' });
  const tokens = {
    ...server.tokens,
    aliceAdmin: await token(ids.alice, 'admin', { access: 'admin' }),
    carol: await token(ids.carol, 'writes'),
    packagesRead: await token(ids.alice, 'packages, reads', { access: 'read', onlyPackages: true }),
    packagesWrite: await token(ids.alice, 'packages, writes', { onlyPackages: true }),
    limitedIn: await token(ids.alice, 'limited to closed', { repositoryIds: [ids.closed] }),
    limitedOut: await token(ids.alice, 'limited to open', { repositoryIds: [open] }),
  };
  return {
    ...server,
    tokens,
    ids,
    send: senderTo(server.origin),
  };
}

/** Sends requests on connections of their own; addresses with or without the origin. */
export const senderTo =
  (origin: string): PackageServer['send'] =>
  (method, target, { auth, headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port: new URL(origin).port,
          path: target.replace(origin, ''),
          method,
          agent: false,
          headers: { ...(auth === undefined ? {} : { Authorization: auth }), ...headers },
        },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', reject);
          response.on('end', () => {
            const bytes = Buffer.concat(parts);
            const text = bytes.toString();
            const known = new Headers();
            for (const [name, value] of Object.entries(response.headers)) known.set(name, String(value));
            const isJson = /json/.test(known.get('content-type') ?? '') && text !== '';
            resolve({
              status: response.statusCode!,
              headers: known,
              bytes,
              text,
              json: isJson ? JSON.parse(text) : null,
            });
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });

export const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');
export const digestOf = (content: Buffer | string): string => `sha256:${sha256(content)}`;

interface RegistryClient {
  call: PackageServer['send'];
  /** The registry token for some scopes. */
  token(...scopes: string[]): Promise<string>;
  /** Pushes as skopeo does: HEAD, POST, PATCH, PUT. @returns the digest */
  pushBlob(name: string, content: Buffer | string): Promise<string>;
  pushManifest(name: string, reference: string, manifest: object | string, type?: string): Promise<Answer>;
}

export const imageType = 'application/vnd.oci.image.manifest.v1+json';
export const indexType = 'application/vnd.oci.image.index.v1+json';

/** @param secret none for an anonymous client */
export function registry(server: Pick<PackageServer, 'origin' | 'send'>, secret?: string): RegistryClient {
  const known = new Map<string, string>();
  async function token(...scopes: string[]): Promise<string> {
    const query = new URLSearchParams([
      ['service', new URL(server.origin).host],
      ...scopes.map((scope) => ['scope', scope]),
    ]);
    const answer = await server.send('GET', `/v2/token?${query}`, secret === undefined ? {} : { auth: basic(secret) });
    if (answer.status !== 200) throw new Error(`token: ${answer.status} ${answer.text}`);
    return answer.json.token as string;
  }
  /** Asks, follows the challenge once, asks again. */
  const call: PackageServer['send'] = async (method, target, options = {}) => {
    const first = await server.send(method, target, { auth: known.get('last'), ...options });
    const [, scope] = /scope="([^"]+)"/.exec(first.headers.get('www-authenticate') ?? '') ?? [];
    if (first.status !== 401 || scope === undefined || options.auth !== undefined) return first;
    const bearer = `Bearer ${await token(...scope.split(' '))}`;
    known.set('last', bearer);
    return server.send(method, target, { auth: bearer, ...options });
  };
  return {
    call,
    token,
    async pushBlob(name, content) {
      const digest = digestOf(content);
      if ((await call('HEAD', `/v2/${name}/blobs/${digest}`)).status === 200) return digest;
      const begun = await call('POST', `/v2/${name}/blobs/uploads/`);
      if (begun.status !== 202) throw new Error(`POST: ${begun.status} ${begun.text}`);
      const sent = await call('PATCH', begun.headers.get('location')!, { body: Buffer.from(content) });
      const ended = await call('PUT', `${sent.headers.get('location')!}?digest=${encodeURIComponent(digest)}`);
      if (ended.status !== 201) throw new Error(`PUT: ${ended.status} ${ended.text}`);
      return digest;
    },
    pushManifest: (name, reference, manifest, type = imageType) =>
      call('PUT', `/v2/${name}/manifests/${reference}`, {
        headers: { 'Content-Type': type },
        body: typeof manifest === 'string' ? manifest : JSON.stringify(manifest),
      }),
  };
}

export const descriptor = (content: Buffer | string, mediaType = 'application/vnd.oci.image.layer.v1.tar') => ({
  mediaType,
  digest: digestOf(content),
  size: Buffer.byteLength(content),
});

/** Pushes an image with one layer; returns its manifest and its digest. */
export async function pushImage(
  client: RegistryClient,
  name: string,
  tag: string,
  {
    layer = 'a layer',
    labels = {},
    ...more
  }: { layer?: string; labels?: Record<string, string>; [field: string]: unknown } = {},
): Promise<{ manifest: string; digest: string; answer: Answer }> {
  const config = JSON.stringify({ os: 'linux', architecture: 'amd64', config: { Labels: labels } });
  await client.pushBlob(name, config);
  await client.pushBlob(name, layer);
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: imageType,
    config: descriptor(config, 'application/vnd.oci.image.config.v1+json'),
    layers: [descriptor(layer)],
    ...more,
  });
  return { manifest, digest: digestOf(manifest), answer: await client.pushManifest(name, tag, manifest) };
}

/** What `npm publish` sends. */
export function npmBody(
  name: string,
  version: string,
  more: Record<string, unknown> = {},
  tag = 'latest',
  tarball: Buffer = Buffer.from(`tarball of ${name} ${version}`),
): string {
  return JSON.stringify({
    _id: name,
    name,
    'dist-tags': { [tag]: version },
    versions: {
      [version]: { name, version, ...more, dist: { shasum: createHash('sha1').update(tarball).digest('hex') } },
    },
    _attachments: {
      [`${name}-${version}.tgz`]: { data: tarball.toString('base64'), length: tarball.length },
    },
  });
}

/** What `cargo publish` sends. */
export function crateBody(
  name: string,
  vers: string,
  more: Record<string, unknown> = {},
  crate: Buffer = Buffer.from(`crate of ${name} ${vers}`),
): Buffer {
  const json = Buffer.from(JSON.stringify({ name, vers, deps: [], features: {}, ...more }));
  const lengthOf = (bytes: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return length;
  };
  return Buffer.concat([lengthOf(json), json, lengthOf(crate), crate]);
}

/** What twine sends for a source distribution, or for a given file. */
export function pypiBody(
  name: string,
  version: string,
  {
    fileName = `${name}-${version}.tar.gz`,
    content = Buffer.from(`sdist of ${name} ${version}`) as Buffer,
    fields = {} as Record<string, string>,
  } = {},
): { headers: Record<string, string>; body: Buffer } {
  const boundary = 'form-boundary';
  const all = { ':action': 'file_upload', name, version, sha256_digest: sha256(content), ...fields };
  const parts = Object.entries(all).map(
    ([field, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="content"; filename="${fileName}"\r\n\r\n`;
  return {
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(parts.join('') + file), content, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}
