// The executable as it is released: alone in an empty folder, with git and nothing else on PATH.
import t from 'tap';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, type Owner } from '../fixtures/temporary-folder.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const project = join(import.meta.dirname, '../..');
const built = join(project, 'dist/hearth');
const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string };

/** An unused user id; only root can become it, otherwise the user stays the same. */
const unprivilegedId = 54_321;
const isRoot = process.getuid?.() === 0;

interface Installation {
  /** Working directory, which has the executable only. */
  folder: string;
  /** HOME and TMPDIR: existing and not writable. */
  home: string;
  start(args: string[], env?: Record<string, string>): ChildProcess;
  run(args: string[], env?: Record<string, string>): Promise<{ code: number | null; stdout: string; stderr: string }>;
}

function install(t: Owner): Installation {
  const root = temporaryFolder(t);
  const [folder, home, programs] = ['alone', 'home', 'programs'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [folder, home, programs]) mkdirSync(each);
  symlinkSync(findGit(), join(programs, 'git'));
  try {
    linkSync(built, join(folder, 'hearth'));
  } catch {
    copyFileSync(built, join(folder, 'hearth'));
  }
  chmodSync(root, 0o755);
  chmodSync(home, 0o555);
  if (isRoot) chownSync(folder, unprivilegedId, unprivilegedId);

  const start: Installation['start'] = (args, env = {}) =>
    spawn('./hearth', args, {
      cwd: folder,
      env: { PATH: programs, HOME: home, TMPDIR: home, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(isRoot ? { uid: unprivilegedId, gid: unprivilegedId } : {}),
    });
  const run: Installation['run'] = async (args, env) => {
    const child = start(args, env);
    const output = { stdout: '', stderr: '' };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...output };
  };
  return { folder, home, start, run };
}

function findGit(): string {
  return realpathSync(execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim());
}

function pushFile(t: Owner, remote: string, name: string, content: string): void {
  const cwd = temporaryFolder(t);
  writeFileSync(join(cwd, name), content);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org', ...args], {
      cwd,
      stdio: 'pipe',
      env: { PATH: process.env['PATH'], HOME: cwd },
    });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'Begin');
  git('push', '-q', remote, 'main');
}

/** Files of the unprivileged user in folders where programs often leave some. */
function strayFiles(): string[] {
  if (!isRoot) return [];
  return ['/tmp', '/var/tmp', '/dev/shm', '/run', '/home'].flatMap((folder) =>
    readdirSync(folder).filter((name) => {
      const entry = statSync(join(folder, name), { throwIfNoEntry: false });
      return entry?.uid === unprivilegedId;
    }),
  );
}

t.test('it prints its version, and nothing else', async (t) => {
  const { run, folder, home } = install(t);
  t.same(await run(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' });
  t.same(readdirSync(folder), ['hearth']);
  t.same(readdirSync(home), []);
});

t.test('an unknown command exits with 2', async (t) => {
  const { run, folder } = install(t);
  const { code, stdout, stderr } = await run(['no-such-command']);
  t.equal(code, 2);
  t.equal(stdout, '');
  t.match(stderr, /no-such-command/);
  t.same(readdirSync(folder), ['hearth']);
});

t.test('Node’s environment variables have no effect on it', async (t) => {
  const { run, folder } = install(t);
  const { code, stderr } = await run(['--version'], {
    NODE_OPTIONS: '--require=./no-such-file.cjs',
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
    NODE_V8_COVERAGE: join(folder, 'coverage'),
  });
  t.same({ code, stderr }, { code: 0, stderr: '' });
});

t.test('it serves, as an unprivileged user, and writes nothing outside its data folder', async (t) => {
  const { start, run, folder, home } = install(t);
  const before = strayFiles();
  const listen = {
    SERVICE_HTTP_LISTEN: '127.0.0.1:0',
    SERVICE_SSH_LISTEN: '127.0.0.1:0',
    SERVICE_GRPC_LISTEN: '127.0.0.1:0',
  };
  // Applications sign in at an address that is stated: nothing is asked of it here.
  const child = start(['serve'], { ...listen, SERVICE_BASE_URL: 'https://git.example.org' });
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const listenFor = (text: string): void => {
      output += text;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
      if (found) resolve(found[0]);
    };
    child.stdout?.setEncoding('utf8').on('data', listenFor);
    child.stderr?.setEncoding('utf8').on('data', listenFor);
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)));
  });
  if (isRoot) t.equal(statSync(`/proc/${child.pid}`).uid, unprivilegedId);

  t.equal((await fetch(`${url}/healthz`)).status, 200);
  const environment = readFileSync(`/proc/${child.pid}/environ`, 'latin1').split('\0');
  const allocator = environment.filter((one) => one.startsWith('MALLOC_')).sort();
  const settings = ['MALLOC_ARENA_MAX=2', 'MALLOC_MMAP_THRESHOLD_=65536', 'MALLOC_TRIM_THRESHOLD_=131072'];
  t.same(
    allocator,
    settings,
    'it began once more, in the same process, with what the C library reads at the beginning',
  );
  const service = readFileSync(join(project, 'packaging/hearth.service'), 'utf8');
  t.ok(service.includes(`Environment=${settings.join(' ')}\n`), 'as the unit for systemd has it');

  // A page comes from the compiled templates, with all its links to the embedded assets.
  const page = await (await fetch(`${url}/login`)).text();
  t.match(page, /^<!DOCTYPE html>/i);
  const linked = [...page.matchAll(/(?:href|src)="(\/assets\/[^"#]+)/g)].map((match) => match[1] ?? '');
  t.ok(linked.length > 0, 'the page links assets');
  for (const path of new Set(linked)) t.equal((await fetch(url + path)).status, 200, path);

  // A command beside the server: the writing thread, argon2 and a migration ran in both.
  const added = await run(['user', 'add', 'alice', '--admin', '--random-password', '--json'], listen);
  t.equal(added.code, 0, added.stderr);

  // Search, whose threads are embedded, too: of names, and of code that was just pushed.
  const token = (
    await run(['token', 'add', '--user', 'alice', '--name', 'e2e', '--access', 'write'], listen)
  ).stdout.trim();
  t.equal((await run(['repo', 'create', 'alice/kettle', '--public'], listen)).code, 0);
  t.match(await (await fetch(`${url}/api/v1/search?q=ETTL`)).text(), /"name":"kettle"/);
  pushFile(t, `${url.replace('//', `//alice:${token}@`)}/git/alice/kettle.git`, 'whistle.c', 'int whistle_now;\n');
  t.match(await (await fetch(`${url}/repos/alice/kettle/search?q=whistle_now`)).text(), /whistle\.c/);
  await waitUntil(async () => /whistle\.c/.test(await (await fetch(`${url}/search/code?q=WHISTLE_now`)).text()));

  // The provider of sign-in names its records by their classes, and each kind has its time: here with the public client
  // of git-credential-oauth.
  const device = await fetch(`${url}/login/oauth/device/code`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'a4792ccc-144e-407e-86c9-5e7d8d9c3269', scope: 'write:repository' }),
  });
  t.match(await device.json(), { device_code: String, user_code: String, expires_in: 600 });

  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  t.same(await ended, [0, null], 'SIGTERM ends it with 0');
  t.same(readdirSync(folder).sort(), ['data', 'hearth']);
  t.same(readdirSync(home), []);
  t.same(strayFiles(), before);
  t.notMatch(output, /warning/i);
});
