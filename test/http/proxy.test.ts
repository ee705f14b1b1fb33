// time limit: 120 s
// The configuration for nginx that we hand out, with the real nginx.
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { freePort } from '../fixtures/free-port.ts';
import { localAdministrator } from '../../src/access/index.ts';
import { requiredProgram } from '../fixtures/required-program.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const run = promisify(execFile);
const program = requiredProgram('nginx');

t.test('every directive that pushes, addresses and signatures need is in packaging/nginx.conf', async (t) => {
  const text = readFileSync(new URL('../../packaging/nginx.conf', import.meta.url), 'utf8');
  for (const directive of [
    'proxy_pass http://127.0.0.1:3000;',
    'client_max_body_size 0;',
    'proxy_request_buffering off;',
    'proxy_buffering off;',
    'proxy_set_header Host $http_host;',
    'proxy_set_header X-Forwarded-Proto $scheme;',
    'proxy_set_header X-Forwarded-For $remote_addr;',
  ]) {
    t.ok(text.includes(directive), directive);
  }
});

t.test('a large push, a clone, addresses and the client’s own address pass nginx unharmed', async (t) => {
  const hearth = await startHearth(t);
  const alice = await hearth.addPerson('alice');
  await hearth.modules.repositories.create(localAdministrator, {
    owner: 'alice',
    name: 'garden',
    visibility: 'PUBLIC',
  });
  const port = await freePort();
  const folder = path.join(hearth.folder, 'nginx');
  mkdirSync(path.join(folder, 'logs'), { recursive: true });
  const server = readFileSync(new URL('../../packaging/nginx.conf', import.meta.url), 'utf8')
    .replace(/\n# Only for runners[^]*$/, '\n')
    .replace(/^server \{\n {4}listen 80;[^]*?\n\}\n/m, '')
    .replace(/^ *listen \[::\].*\n/gm, '')
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
    .replace(/^\s+ssl_certificate.*$/gm, '')
    .replace('http://127.0.0.1:3000', hearth.url);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n');
  writeFileSync(
    path.join(folder, 'nginx.conf'),
    `pid ${folder}/pid;\nerror_log ${folder}/logs/error.log;\nevents {}\nhttp {\naccess_log off;\n${paths}\n${server}\n}\n`,
  );
  const nginx = spawn(program, ['-p', folder, '-c', path.join(folder, 'nginx.conf'), '-g', 'daemon off;'], {
    stdio: 'ignore',
  });
  t.teardown(() => nginx.kill('SIGTERM'));
  const origin = `http://127.0.0.1:${port}`;
  await waitUntil(
    async () =>
      await fetch(`${origin}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
  );

  const work = path.join(hearth.folder, 'work');
  mkdirSync(work);
  const git = (...args: string[]) => run('git', args, { cwd: work, env: clientEnvironment, maxBuffer: 1e8 });
  await git('init', '--quiet', '--initial-branch=main');
  writeFileSync(path.join(work, 'large'), randomBytes(16 * 1024 * 1024));
  await git('add', '.');
  await git('-c', 'user.name=alice', '-c', 'user.email=alice@example.org', 'commit', '--quiet', '-m', 'large');
  await git('push', '--quiet', `http://alice:${alice.token}@127.0.0.1:${port}/git/alice/garden.git`, 'HEAD:main');
  await git('clone', '--quiet', `${origin}/git/alice/garden.git`, path.join(hearth.folder, 'clone'));
  t.ok(existsSync(path.join(hearth.folder, 'clone', 'large')));

  const page = await (await fetch(`${origin}/repos/alice/garden`)).text();
  t.match(page, `${origin}/git/alice/garden.git`, 'the clone address is the proxy’s');
  t.equal((await fetch(`${origin}/repos/alice%2Fgarden`)).status, 404, 'an encoded slash is not decoded on the way');
  t.equal((await fetch(`${origin}/metrics`)).status, 404, 'who comes through the proxy is not this machine');
  t.equal((await fetch(`${hearth.url}/metrics`)).status, 200);
});
