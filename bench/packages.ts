// Packages. An image of 500 MB pushed and pulled by two clients at once whose connections break, and the memory that
// takes; warm pulls beside nginx with the same files; pages, lists and indexes of an owner with 100,000 versions; pip
// and npm installing a package of 500 versions, beside a static folder.
// usage: bench/packages [--rounds N] [--megabytes N] [--packages N] [--versions N] [--executable PATH]
import { execFile } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { crc32, gzipSync } from 'node:zlib';
import { npmBody, pypiBody } from '../test/http-packages/package-server.ts';
import { compare, comparisonHead, formatRow, median, readNumberOption } from './harness.ts';
import type { Measurement } from './harness.ts';
import { startHearthServer } from './hearth-server.ts';
import { freePort, runNginx } from './peers/nginx.ts';
import { requirePrograms } from './peers/require-programs.ts';
import { cpuMsOfThreads, cpuOfTree, memoryOfTree } from './process-usage.ts';

requirePrograms({ nginx: 'nginx', fcgiwrap: 'fcgiwrap' });
const rounds = readNumberOption('rounds', 5);
const megabytes = readNumberOption('megabytes', 500);
const packages = readNumberOption('packages', 1000);
const versions = readNumberOption('versions', 100_000);
const layers = 5;
const chunkBytes = 8 * 1024 * 1024;

let nginx: Awaited<ReturnType<typeof runNginx>> | undefined;
const hearth = await startHearthServer({
  SERVICE_PACKAGES_OWNER_QUOTA: '1TiB',
  SERVICE_PROXY_SEND_FILES: '/hearth-objects/',
});
// A benchmark that fails half-way leaves nothing that runs.
let isOver = false;
process.once('exit', () => {
  if (isOver) return;
  hearth.kill();
  nginx?.stop();
});
const Authorization = `Basic ${Buffer.from(`x:${hearth.token}`).toString('base64')}`;

interface Asked {
  method?: string;
  body?: Buffer;
  headers?: Record<string, string>;
  /** Breaks the connection after so many bytes of the answer, or of the body. */
  breakAfter?: number;
}

const resetsOf = ({ code = '' }: NodeJS.ErrnoException): void => {
  if (!['ECONNRESET', 'EPIPE'].includes(code)) throw new Error(code);
};

/** Sends a request; null where its connection was to break. */
async function ask(
  url: string,
  { method = 'GET', body, headers = {}, breakAfter }: Asked = {},
): Promise<IncomingMessage | null> {
  const sent = request(url, {
    method,
    headers: { Authorization, ...headers, ...(body && { 'Content-Length': body.length }) },
  });
  if (breakAfter !== undefined && body !== undefined) {
    sent.on('error', resetsOf);
    sent.write(body.subarray(0, breakAfter), () => setTimeout(() => sent.destroy(), 50));
    await new Promise((resolve) => sent.on('close', resolve));
    return null;
  }
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode! >= 400) throw new Error(`${method} ${url}: ${response.statusCode}`);
  return response;
}

/** How many bytes a request gets. */
async function drain(
  response: IncomingMessage,
  breakAfter = Infinity,
  hash?: ReturnType<typeof createHash>,
): Promise<number> {
  let bytes = 0;
  for await (const part of response) {
    bytes += part.length;
    hash?.update(part);
    if (bytes >= breakAfter) break;
  }
  return bytes;
}

async function textOf(url: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await ask(url, { headers });
  return Buffer.concat((await response!.toArray()) as Buffer[]).toString();
}

/** Pushes a layer in chunks; one of them breaks off and goes on where the server is. */
async function pushLayer(name: string, content: Buffer): Promise<string> {
  const begun = await ask(`${hearth.url}/v2/alice/${name}/blobs/uploads/`, { method: 'POST' });
  begun!.resume();
  const location = `${hearth.url}${begun!.headers.location!}`;
  const breakAt = Math.floor(content.length / chunkBytes / 2) * chunkBytes;
  let hasBroken = false;
  for (let at = 0; at < content.length; ) {
    const body = content.subarray(at, at + chunkBytes);
    const breaks: boolean = at === breakAt && !hasBroken;
    const headers = { 'Content-Range': `${at}-${at + body.length - 1}` };
    const answer = await ask(location, {
      method: 'PATCH',
      body,
      headers,
      ...(breaks && { breakAfter: body.length >> 1 }),
    });
    hasBroken ||= breaks;
    const shown = answer ?? (await ask(location))!;
    shown.resume();
    const last = Number(shown.headers.range!.split('-')[1]);
    at = last === 0 ? 0 : last + 1;
  }
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  (await ask(`${location}?digest=${digest}`, { method: 'PUT' }))!.resume();
  return digest;
}

/** Pulls a layer; the connection breaks half-way, and the rest comes by its range. */
async function pullLayer(name: string, digest: string, bytes: number): Promise<void> {
  const url = `${hearth.url}/v2/alice/${name}/blobs/${digest}`;
  const hash = createHash('sha256');
  const first = await drain((await ask(url))!, bytes >> 1, hash);
  await drain((await ask(url, { headers: { Range: `bytes=${first}-` } }))!, Infinity, hash);
  if (`sha256:${hash.digest('hex')}` !== digest) throw new Error('a pulled layer is damaged');
}

const layerBytes = Math.round((megabytes * 1_000_000) / layers);
const chunk = randomBytes(1_000_000);
function layerOf(client: number, layer: number): Buffer {
  const content = Buffer.alloc(layerBytes);
  for (let at = 0; at < layerBytes; at += chunk.length) chunk.copy(content, at);
  content.writeUInt32LE(client * 100 + layer);
  return content;
}

console.log('| Memory of the server | MB above idle | Goal |\n| --- | ---: | ---: |');
const digests: string[] = [];
// Compiled code that stays is no part of what a transfer takes.
await pullLayer('warm', await pushLayer('warm', randomBytes(3 * chunkBytes)), 3 * chunkBytes);
for (const [what, transfer] of [
  [
    'Two clients push',
    async (client: number, layer: number) =>
      void (digests[client * layers + layer] = await pushLayer(`image${client}`, layerOf(client, layer))),
  ],
  [
    'Two clients pull',
    (client: number, layer: number) => pullLayer(`image${client}`, digests[client * layers + layer]!, layerBytes),
  ],
] as const) {
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const idle = memoryOfTree(hearth.pid);
  let most = idle;
  const sampling = setInterval(() => (most = Math.max(most, memoryOfTree(hearth.pid))), 200);
  await Promise.all(
    [0, 1].map(async (client) => {
      for (let layer = 0; layer < layers; layer += 1) await transfer(client, layer);
    }),
  );
  clearInterval(sampling);
  console.log(formatRow([`${what} ${megabytes} MB each, cut off and resumed`, (most - idle).toFixed(0), '60']));
}

const place = path.join(hearth.folder, 'nginx');
mkdirSync(place);
const port = await freePort();
const blobs = path.join(hearth.folder, 'data/objects/packages');
const owner = readdirSync(blobs)[0]!;
const fileOf = (digest: string): string => {
  const name = readdirSync(path.join(blobs, owner)).find((one) => one.startsWith(digest.slice(7)))!;
  return `${owner}/${name}`;
};
nginx = await runNginx(place, {
  socket: path.join(place, 'cgi.sock'),
  port,
  locations: `sendfile on; tcp_nopush on;
    location /static/ { alias ${place}/static/; default_type text/html; }
    location /npm/ { alias ${place}/npm/; index index.json; default_type application/json; }
    location /blobs/ { alias ${blobs}/; }
    location /hearth-objects/ { internal; alias ${hearth.folder}/data/objects/; }
    location / { proxy_pass ${hearth.url}; proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr; }`,
});

const peer = nginx;
const measure =
  (cpuS: () => number, work: () => Promise<void>): Measurement =>
  async () => {
    const [before, startedAt] = [cpuS(), performance.now()];
    await work();
    return { wallS: (performance.now() - startedAt) / 1000, cpuS: cpuS() - before };
  };
const pullAll = (urls: readonly string[]) => async () => {
  for (const url of urls) {
    const bytes = await drain((await ask(url))!);
    if (bytes !== layerBytes) throw new Error(`${url}: ${bytes} bytes`);
  }
};
const ofImage = digests.slice(0, layers);
const blobAt = (origin: string) => ofImage.map((digest) => `${origin}/v2/alice/image0/blobs/${digest}`);
const files = measure(
  () => cpuOfTree(peer.pids),
  pullAll(ofImage.map((digest) => `http://127.0.0.1:${port}/blobs/${fileOf(digest)}`)),
);
const pulls = {
  'straight from Hearth': measure(() => cpuOfTree([hearth.pid]), pullAll(blobAt(hearth.url))),
  'through nginx, with `proxy.send_files`': measure(
    () => cpuOfTree([hearth.pid, ...peer.pids]),
    pullAll(blobAt(`http://127.0.0.1:${port}`)),
  ),
};
console.log(`\n${comparisonHead.join('\n')}`);
for (const [how, hearthSide] of Object.entries(pulls))
  for (const row of await compare(`Warm pull of ${megabytes} MB, ${how}`, rounds, { hearth: hearthSide, nginx: files }))
    console.log(row);

// pip and npm: a package of 500 versions here, and the same answers and files in a folder.
const many = 500;
const tarball = (name: string, version: string): Buffer =>
  gzipSync(tarOf('package/package.json', JSON.stringify({ name, version })));

/** A tar archive of one file. */
function tarOf(name: string, content: string): Buffer {
  const head = Buffer.alloc(512);
  head.write(name);
  head.write('0000644\0'.padEnd(8), 100);
  head.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  head.write('00000000000\0', 136);
  head.fill(' ', 148, 156);
  head.write('0', 156);
  head.write('ustar\u000000', 257);
  head.write(
    `${head
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content);
  return Buffer.concat([head, body, Buffer.alloc(1024)]);
}

/** A zip archive of some files, stored. */
function wheelOf(version: string): Buffer {
  const info = `many-${version}.dist-info`;
  const files: Record<string, string> = {
    'many.py': 'x = 1\n',
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: many\nVersion: ${version}\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: '',
  };
  const [parts, entries] = [[] as Buffer[], [] as Buffer[]];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt32LE(crc32(Buffer.from(text)), 10);
    fields.writeUInt32LE(text.length, 14);
    fields.writeUInt32LE(text.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const entry = Buffer.alloc(46);
    entry.write('PK\u0001\u0002', 'latin1');
    fields.copy(entry, 6);
    entry.writeUInt32LE(at, 42);
    entries.push(entry, Buffer.from(name));
    parts.push(Buffer.from('PK\u0003\u0004', 'latin1'), fields, Buffer.from(name + text));
    at += 30 + name.length + text.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(entries.length / 2, 8);
  end.writeUInt16LE(entries.length / 2, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, directory, end]);
}

const registry = `${hearth.url}/packages/alice`;
for (let minor = 0; minor < many; minor += 1) {
  const version = `1.${minor}.0`;
  const body = Buffer.from(
    npmBody('many', version, { description: 'of the benchmark' }, 'latest', tarball('many', version)),
  );
  (await ask(`${registry}/npm/many`, {
    method: 'PUT',
    body,
    headers: { 'Content-Type': 'application/json' },
  }))!.resume();
  const fileName = `many-${version}-py3-none-any.whl`;
  const wheel = pypiBody('many', version, { fileName, content: wheelOf(version) });
  (await ask(`${registry}/pypi/`, { method: 'POST', ...wheel }))!.resume();
}
const run = promisify(execFile);
const scratch = path.join(hearth.folder, 'client');
const statics = `http://127.0.0.1:${port}`;
const save = (name: string, content: Buffer | string): void => {
  mkdirSync(path.dirname(path.join(place, name)), { recursive: true });
  writeFileSync(path.join(place, name), content);
};
const newest = `1.${many - 1}.0`;
save(
  'npm/many/index.json',
  (await textOf(`${registry}/npm/many`)).replaceAll(`${registry}/npm/many/-`, `${statics}/npm`),
);
save(`npm/many-${newest}.tgz`, tarball('many', newest));
const simple = await textOf(`${registry}/pypi/simple/many/`);
const wheelName = `many-${newest}-py3-none-any.whl`;
const [, wheelPath = ''] = new RegExp(`href="([^"#]*${wheelName})#`).exec(simple) ?? [];
const wheelUrl = new URL(wheelPath, `${registry}/pypi/simple/many/`);
save('static/many/index.html', simple.replaceAll(/href="[^"#]*\/([^/"#]+)#/g, `href="${statics}/static/$1#`));
save(`static/${wheelName}`, wheelOf(newest));
save(`static/${wheelName}.metadata`, await textOf(`${wheelUrl.href}.metadata`));

const install = (work: () => Promise<unknown>) =>
  measure(
    () => Number.NaN,
    async () => {
      rmSync(scratch, { recursive: true, force: true });
      mkdirSync(scratch);
      await work();
    },
  );
const home = { HOME: scratch, PATH: process.env['PATH'] ?? '' };
const npm = (from: string) =>
  install(() =>
    run('npm', ['install', 'many', '--registry', from, '--cache', `${scratch}/cache`, '--no-audit', '--no-fund'], {
      cwd: scratch,
      env: { ...home, npm_config_prefix: scratch },
    }),
  );
const pip = (from: string) =>
  install(() =>
    run(
      'pip',
      [
        'install',
        '--no-cache-dir',
        '--disable-pip-version-check',
        '--target',
        `${scratch}/to`,
        '--index-url',
        from,
        '--trusted-host',
        '127.0.0.1',
        'many',
      ],
      {
        cwd: scratch,
        env: { ...process.env, HOME: scratch },
      },
    ),
  );
for (const row of [
  ...(await compare(`npm install of one of ${many} versions`, rounds, {
    hearth: npm(`${registry}/npm/`),
    'nginx with a folder': npm(`${statics}/npm/`),
  })),
  ...(await compare(`pip install of one of ${many} versions`, rounds, {
    hearth: pip(`${registry}/pypi/simple/`),
    'nginx with a folder': pip(`${statics}/static/`),
  })),
])
  console.log(row);

// Rows alone: what indexes, lists and pages read.
const database = new DatabaseSync(path.join(hearth.folder, 'data/hearth.db'));
database.exec('PRAGMA busy_timeout = 10000');
const ownerId = (database.prepare('SELECT owner_id FROM packages LIMIT 1').get() as { owner_id: string }).owner_id;
const addPackage = database.prepare(`INSERT INTO packages
  (id, owner_id, owner_kind, format, name, name_key, visibility, versions, created_at, updated_at)
  VALUES (?, ?, 'user', ?, ?, ?, 'PUBLIC', 0, ?, ?)`);
const addVersion = database.prepare(`INSERT INTO package_versions
  (id, package_id, version, version_key, metadata, bytes, downloads, created_at, updated_at)
  VALUES (?, ?, ?, ?, ?, 1000, 0, ?, ?)`);
const addFile = database.prepare(`INSERT INTO package_files
  (id, version_id, package_id, owner_id, name, name_key, sha256, bytes, sha1, md5, sha512, downloads, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, 1000, ?, ?, ?, 0, ?)`);
const addTag = database.prepare(
  'INSERT INTO package_tags (package_id, name, version_id, updated_at) VALUES (?, ?, ?, ?)',
);
const hex = (length: number): string => randomBytes(length).toString('hex');
const each = Math.round(versions / packages);
const formats = ['npm', 'pypi', 'cargo', 'maven'];
database.exec('BEGIN IMMEDIATE');
for (let at = 0; at < packages; at += 1) {
  const [id, format, at0] = [randomUUID(), formats[at % formats.length]!, Date.now() - at * 1000];
  const name = format === 'maven' ? `org.example:lib${at}` : `lib${at}`;
  addPackage.run(id, ownerId, format, name, name, at0, at0);
  for (let minor = 0; minor < each; minor += 1) {
    const [versionId, version] = [randomUUID(), `1.${minor}.0`];
    const metadata = {
      manifest: { name, version, description: 'A library.' },
      readme: '',
      deprecated: null,
      requiresPython: null,
    };
    const index = { name, vers: version, deps: [], features: {} };
    const created = at0 + minor;
    addVersion.run(
      versionId,
      id,
      version,
      version,
      JSON.stringify(
        format === 'cargo' ? { index, yanked: false, description: '', readme: '', license: '' } : metadata,
      ),
      created,
      created,
    );
    const file = {
      npm: 'package.tgz',
      pypi: `${name}-${version}.tar.gz`,
      cargo: 'package.crate',
      maven: `lib${at}-${version}.jar`,
    }[format]!;
    addFile.run(randomUUID(), versionId, id, ownerId, file, file, hex(32), hex(20), hex(16), hex(64), created);
    if (format === 'npm' && minor === each - 1) addTag.run(id, 'latest', versionId, created);
  }
}
database.exec('COMMIT');
database.close();

const requests = 40;
console.log(`\n| ${packages} packages with ${versions} versions | CPU ms of an answer | Goal |\n| --- | ---: | ---: |`);
for (const [what, goal, target] of [
  ['The page of all packages of the owner', 20, (at: number) => `/packages/alice?page=${(at % 20) + 1}`],
  ['The page of a package', 20, (at: number) => `/packages/alice/-/npm/lib${at * 4}`],
  ['npm: packument', 20, (at: number) => `/packages/alice/npm/lib${at * 4}`],
  ['PyPI: page of a project', 20, (at: number) => `/packages/alice/pypi/simple/lib${at * 4 + 1}/`],
  ['PyPI: page of all projects', 20, () => '/packages/alice/pypi/simple/'],
  ['Cargo: index of a crate', 20, (at: number) => `/packages/alice/cargo/${cargoPath(`lib${at * 4 + 2}`)}`],
  [
    'Maven: maven-metadata.xml',
    20,
    (at: number) => `/packages/alice/maven/org/example/lib${at * 4 + 3}/maven-metadata.xml`,
  ],
  ['API: list of packages', 10, (at: number) => `/api/v1/packages/alice?limit=50&page=${(at % 20) + 1}`],
  ['API: versions of a package', 10, (at: number) => `/api/v1/packages/alice/npm/lib${at * 4}`],
] as const) {
  const isPage = what.startsWith('The page');
  const headers: Record<string, string> = what.startsWith('npm')
    ? { Accept: 'application/json' }
    : isPage
      ? { Accept: 'text/html' }
      : {};
  const taken: number[] = [];
  for (let at = 0; at < requests; at += 1) {
    const before = cpuMsOfThreads(hearth.pid);
    await textOf(`${hearth.url}${target(at)}`, headers);
    taken.push(cpuMsOfThreads(hearth.pid) - before);
  }
  console.log(formatRow([what, median(taken).toFixed(1), String(goal)]));
}

/** Where the sparse index has a crate. */
function cargoPath(name: string): string {
  return name.length === 4
    ? `${name.slice(0, 2)}/${name.slice(2)}/${name}`
    : `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`;
}
nginx.stop();
await hearth.stop();
isOver = true;
