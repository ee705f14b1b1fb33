// time limit: 180 s
// The shipped proxy files, with the real programs (those of PATH, or HEARTH_CADDY and HEARTH_TRAEFIK; Debian has no
// Traefik), and the results of `hearth doctor --url`: none when they are right, the wrong line when not.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client, credentials } from '@grpc/grpc-js';
import t from 'tap';
import { checkAddress } from '../../src/doctor/index.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { freePort } from '../fixtures/free-port.ts';
import { requiredProgram } from '../fixtures/required-program.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];
const find = (name: string): string | undefined =>
  process.env[`HEARTH_${name.toUpperCase()}`] ??
  folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
const read = (name: string): string => readFileSync(new URL(`../../packaging/${name}`, import.meta.url), 'utf8');

const hearth = await startHearth(t);
const { host: upstream } = new URL(hearth.url);
const certificates = temporaryFolder(t);
for (const [name, days] of [
  ['long', '300'],
  ['short', '3'],
] as const) {
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      days,
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost',
      '-keyout',
      path.join(certificates, `${name}.key`),
      '-out',
      path.join(certificates, `${name}.pem`),
    ],
    { stdio: 'ignore' },
  );
}
const ca = ['long', 'short'].map((name) => readFileSync(path.join(certificates, `${name}.pem`), 'utf8'));
const examine = async (port: number, protocol = 'https', baseUrl: string | null = null, now = Date.now()) =>
  (
    await checkAddress(new URL(`${protocol}://localhost:${port}`), {
      dataDir: hearth.config.dataDir,
      baseUrl,
      ca,
      now,
    })
  ).findings;

async function start(t: Owner, port: number, program: string, ...words: string[]): Promise<void> {
  const child = spawn(program, words, {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], HOME: temporaryFolder(t) },
  });
  t.teardown(() => child.kill('SIGTERM'));
  await waitUntil(() =>
    fetch(`https://localhost:${port}/`).then(
      () => true,
      ({ cause }: { cause?: { code?: string } }) => cause?.code !== 'ECONNREFUSED',
    ),
  );
}

/** Native gRPC through a proxy, as a runner uses it. */
async function pingOver(t: Owner, port: number): Promise<string> {
  const client = new Client(`localhost:${port}`, credentials.createSsl(Buffer.from(ca[0]!)));
  t.teardown(() => client.close());
  const same = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve, reject) => {
    // A message whose first field is the text `x`.
    client.makeUnaryRequest('/ping.v1.PingService/Ping', same, same, Buffer.from('\n\x01x'), (error, response) =>
      error ? reject(error) : resolve(response!.toString()),
    );
  });
}

const nginx = requiredProgram('nginx');
async function startNginx(
  t: Owner,
  { change = (text: string) => text, certificate = 'long', grpc = 0 } = {},
): Promise<number> {
  const port = await freePort();
  const folder = temporaryFolder(t);
  mkdirSync(path.join(folder, 'logs'));
  const server = change(read('nginx.conf').replace(/^server \{\n {4}listen 80;[^]*?\n\}\n/m, ''))
    .replace(/^ *listen \[::\].*\n/gm, '')
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`)
    .replaceAll('server_name git.example.org;', 'server_name localhost;')
    .replaceAll('/etc/ssl/git.example.org.pem', path.join(certificates, `${certificate}.pem`))
    .replaceAll('/etc/ssl/git.example.org.key', path.join(certificates, `${certificate}.key`))
    .replaceAll('127.0.0.1:3000', upstream)
    .replace(/listen 8443[^;]*;/, `listen 127.0.0.1:${grpc === 0 ? await freePort() : grpc} ssl http2;`)
    .replaceAll('127.0.0.1:3001', hearth.grpc);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n');
  writeFileSync(
    path.join(folder, 'nginx.conf'),
    `pid ${folder}/pid;\nerror_log ${folder}/logs/error.log;\nevents {}\nhttp {\naccess_log off;\n${paths}\n${server}\n}\n`,
  );
  await start(
    t,
    port,
    nginx!,
    '-p',
    folder,
    '-c',
    path.join(folder, 'nginx.conf'),
    '-g',
    `daemon off;${process.getuid?.() === 0 ? ' user root;' : ''}`,
  );
  return port;
}

t.test('without a proxy there are no results', async (t) => {
  t.same(await examine(Number(new URL(hearth.url).port), 'http'), []);
});

t.test('no server at the address, and another server there', async (t) => {
  t.match(await examine(await freePort()), [
    { check: 'address.unreachable', level: 'problem', message: /refused the connection/, remedy: /proxy running/ },
  ]);
  t.match(await examine(Number(new URL(hearth.url).port)), [
    { check: 'address.unreachable', message: /does not speak TLS/, remedy: /listen 443 ssl[^]*tls internal/ },
  ]);
  const other = await startHearth(t);
  t.match(await examine(Number(new URL(other.url).port), 'http'), [{ check: 'address.elsewhere' }]);
});

t.test('the token of a probe expires with it, and is not accepted by another server', async (t) => {
  t.equal((await fetch(`${hearth.url}/hearth-probe/${'0'.repeat(32)}`)).status, 404);
});

if (nginx !== undefined) {
  t.test('packaging/nginx.conf: large bodies, streams, addresses and the scheme come through', async (t) => {
    const grpc = await freePort();
    const port = await startNginx(t, { grpc });
    t.same(await examine(port), []);
    const { findings } = await checkAddress(new URL(`https://localhost:${port}`), {
      dataDir: hearth.config.dataDir,
      baseUrl: null,
      now: Date.now(),
    });
    t.match(
      findings,
      [{ check: 'address.unreachable', message: /certificate is self-signed/, remedy: /ca_file = / }],
      'an authority that nobody here knows',
    );
    t.match(await pingOver(t, grpc), 'x', 'gRPC gets through');
    t.match(await examine(port, 'https', 'https://git.example.org'), [{ check: 'address.base_url', level: 'warning' }]);
  });

  const wrong: [what: string, change: (text: string) => string, check: string, line: string][] = [
    [
      'a small limit for bodies',
      (text) => text.replace('client_max_body_size 0;', 'client_max_body_size 1m;'),
      'address.body_too_large',
      'client_max_body_size 0;',
    ],
    [
      'buffered requests',
      (text) => text.replace('proxy_request_buffering off;', ''),
      'address.requests_buffered',
      'proxy_request_buffering off;',
    ],
    [
      'buffered answers',
      (text) => text.replace('proxy_buffering off;', ''),
      'address.answers_buffered',
      'proxy_buffering off;',
    ],
    [
      'the host of the upstream',
      (text) => text.replace('proxy_set_header Host $http_host;', ''),
      'address.host',
      'proxy_set_header Host $http_host;',
    ],
    [
      'no scheme',
      (text) => text.replace('proxy_set_header X-Forwarded-Proto $scheme;', ''),
      'address.scheme',
      'proxy_set_header X-Forwarded-Proto $scheme;',
    ],
    [
      'a slash too many',
      (text) => text.replace('proxy_pass http://127.0.0.1:3000;', 'proxy_pass http://127.0.0.1:3000/;'),
      'address.path_changed',
      'proxy_pass http://127.0.0.1:3000;',
    ],
    [
      'a password before everything',
      (text) => text.replace('location / {', 'location / { return 401;'),
      'address.elsewhere',
      'auth_basic',
    ],
    [
      'a password before what others call',
      (text) => text.replace('location / {', 'location /ap/ { return 403; }\n location / {'),
      'address.wall',
      'auth_request',
    ],
  ];
  for (const [what, change, check, line] of wrong) {
    t.test(`nginx with ${what}: ${check}`, async (t) => {
      const findings = await examine(await startNginx(t, { change }));
      t.same(
        findings.map((finding) => finding.check),
        [check],
      );
      t.ok(findings[0]?.remedy?.includes(line), findings[0]?.remedy ?? '');
    });
  }

  t.test('a certificate that expires soon', async (t) => {
    const days = (count: number): number => Date.now() + count * 24 * 60 * 60 * 1_000;
    const port = await startNginx(t, { certificate: 'short' });
    t.same(await examine(port), [], 'one that was made for three days is good');
    t.match(await examine(port, 'https', null, days(2.5)), [{ check: 'address.certificate', level: 'warning' }]);
    t.match(await examine(await startNginx(t), 'https', null, days(290)), [
      { check: 'address.certificate', level: 'warning' },
    ]);
  });
}

const caddy = find('caddy') ?? requiredProgram('caddy');
t.test('packaging/Caddyfile: large bodies, streams, addresses and the scheme come through', async (t) => {
  const [port, grpc, folder] = [await freePort(), await freePort(), temporaryFolder(t)];
  const file = path.join(folder, 'Caddyfile');
  const tls = `tls ${path.join(certificates, 'long.pem')} ${path.join(certificates, 'long.key')}`;
  const text = read('Caddyfile')
    .replace('grpc.git.example.org {', `localhost:${grpc} {\n\t${tls}`)
    .replace('git.example.org {', `localhost:${port} {\n\t${tls}`)
    .replaceAll('127.0.0.1:3000', upstream)
    .replaceAll('127.0.0.1:3001', hearth.grpc);
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text}`);
  await start(t, port, caddy, 'run', '--config', file, '--adapter', 'caddyfile');
  t.same(await examine(port), []);
  t.match(await pingOver(t, grpc), 'x', 'gRPC gets through');
});

const traefik = find('traefik');
if (traefik !== undefined) {
  t.test('packaging/traefik.yml: large bodies, streams, addresses and the scheme come through', async (t) => {
    const [port, folder] = [await freePort(), temporaryFolder(t)];
    const [fixed = '', dynamic = ''] = read('traefik.yml').split(/^# The dynamic part.*$/m);
    writeFileSync(
      path.join(folder, 'traefik.yml'),
      fixed.replace(':443', `127.0.0.1:${port}`).replace('/etc/traefik/hearth.yml', path.join(folder, 'hearth.yml')),
    );
    const routes = dynamic
      .replaceAll(/^# ?/gm, '')
      .replace('git.example.org', 'localhost')
      .replaceAll('127.0.0.1:3000', upstream)
      .replaceAll('127.0.0.1:3001', hearth.grpc)
      .replaceAll(/tls: \{.*\}/g, 'tls: {}');
    const stores = `tls:\n  certificates:\n    - certFile: ${certificates}/long.pem\n      keyFile: ${certificates}/long.key\n`;
    writeFileSync(path.join(folder, 'hearth.yml'), `${routes}${stores}`);
    await start(t, port, traefik, `--configFile=${path.join(folder, 'traefik.yml')}`);
    t.same(await examine(port), []);
  });
} else {
  t.test('packaging/traefik.yml', { skip: 'Debian has no Traefik, and HEARTH_TRAEFIK names none' }, async () => {});
}
