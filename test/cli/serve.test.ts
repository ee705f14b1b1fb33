// time limit: 180 s
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { programs } from '../e2e/server-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const folder = temporaryFolder(t);
const program = programs.either;
const freePorts = {
  SERVICE_HTTP_LISTEN: '127.0.0.1:0',
  SERVICE_SSH_LISTEN: '127.0.0.1:0',
  SERVICE_GRPC_LISTEN: '127.0.0.1:0',
};

interface Started {
  child: ChildProcess;
  stdout: string;
  stderr: string;
  ended: Promise<number | null>;
  /** Resolves when stdout or stderr matches `pattern`. */
  says(pattern: RegExp): Promise<string>;
}

/** Starts the program itself, as a person does. */
function start(
  words: readonly string[],
  { dataDir, env = {}, preload }: { dataDir: string; env?: Record<string, string>; preload?: string },
): Started {
  // The executable takes no options of Node.
  const child = spawn(preload === undefined ? program : programs.checkout, words, {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      SERVICE_DATA_DIR: dataDir,
      ...freePorts,
      ...env,
      ...(preload === undefined ? {} : { NODE_OPTIONS: `--import=${preload}` }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const started: Started = {
    child,
    stdout: '',
    stderr: '',
    ended: new Promise((resolve) => child.on('close', resolve)),
    async says(pattern) {
      let over = false;
      void started.ended.then(() => (over = true));
      return waitUntil(() => {
        const match = pattern.exec(started.stdout) ?? pattern.exec(started.stderr);
        if (match === null && over) throw new Error(`ended without ${pattern}:\n${started.stdout}${started.stderr}`);
        return match?.[0];
      }, String(pattern));
    },
  };
  child.stdout.on('data', (chunk: Buffer) => (started.stdout += String(chunk)));
  child.stderr.on('data', (chunk: Buffer) => (started.stderr += String(chunk)));
  return started;
}

async function run(
  words: readonly string[],
  options: Parameters<typeof start>[1],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const started = start(words, options);
  const code = await started.ended;
  return { code, stdout: started.stdout, stderr: started.stderr };
}

async function serving(
  dataDir: string,
  options: { env?: Record<string, string>; preload?: string; words?: string[] } = {},
): Promise<Started & { web: string }> {
  const server = start(['serve', ...(options.words ?? [])], { dataDir, ...options });
  await server.says(/Data .*\n/);
  return Object.assign(server, { web: /Web {3}(\S+)/.exec(server.stdout)![1]! });
}

t.test('a server and commands beside it', async (t) => {
  const dataDir = path.join(folder, 'data');
  const server = await serving(dataDir);
  await server.says(/--admin\n/);

  t.match(
    server.stdout,
    new RegExp(
      [
        '^Hearth \\d+\\.\\d+\\.\\d+ is running\\.',
        '  Web   http://127\\.0\\.0\\.1:\\d+',
        '  SSH   ssh://git@127\\.0\\.0\\.1:\\d+   fingerprint SHA256:[\\w+/]{43}',
        '  gRPC  127\\.0\\.0\\.1:\\d+',
        `  Data  ${dataDir}`,
        'No administrator yet\\. Open this link within 24 hours to create one:',
        '  http://127\\.0\\.0\\.1:\\d+/setup\\?token=[0-9A-Z-]{24}',
        'Show it again: hearth setup-url {6}Without a browser: hearth user add NAME --admin\n$',
      ].join('\n'),
    ),
    'the start block',
  );
  t.notMatch(server.stdout, /\.1:0\b/, 'ports are the real ones');
  t.equal((await fetch(`${server.web}/healthz`)).status, 200);

  await t.test('security K03 its files are private to its user', async (t) => {
    for (const name of ['', 'hearth.db', 'run', 'run/hearth.lock', 'run/server.json', 'README']) {
      t.equal(statSync(path.join(dataDir, name)).mode & 0o077, 0, name);
    }
  });

  await t.test('health finds the server without its port', async (t) => {
    t.same(await run(['health'], { dataDir }), { code: 0, stdout: 'ok\n', stderr: '' });
  });

  await t.test('a second server on the same data folder is refused at once, with the process id', async (t) => {
    const began = performance.now();
    const second = await run(['serve'], { dataDir });
    t.equal(second.code, 6);
    t.equal(second.stdout, '');
    t.match(
      second.stderr,
      new RegExp(
        `^error: a Hearth server is already running in ${dataDir} \\(process ${server.child.pid}\\)\nhint: stop it first`,
      ),
    );
    t.ok(performance.now() - began < 5_000);
    const migrate = await run(['migrate'], { dataDir });
    t.equal(migrate.code, 6);
    t.match(migrate.stderr, `process ${server.child.pid}`);
    t.equal((await fetch(`${server.web}/healthz`)).status, 200, 'the first goes on');
  });

  await t.test('setup-url prints a working link to this server', async (t) => {
    const { stdout, code } = await run(['setup-url'], { dataDir });
    t.equal(code, 0);
    t.match(stdout, new RegExp(`^${server.web}/setup\\?token=[0-9A-Z-]{24}\n$`));
    t.equal((await fetch(stdout.trim())).status, 200);
  });

  await t.test('50 short writes beside a busy server: none is refused, none is lost', async (t) => {
    let busy = true;
    const load = (async () => {
      while (busy) {
        const response = await fetch(`${server.web}/login`, { headers: { connection: 'close' } });
        await response.arrayBuffer();
      }
    })();
    let slowest = 0;
    const names = Array.from({ length: 50 }, (_, index) => `person${index}`);
    const worker = async (): Promise<void> => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        const began = performance.now();
        // In this process: starting the program 50 times would dominate the measurement.
        const { code, stderr } = await runCli(['user', 'add', name, '--random-password'], {
          env: { SERVICE_DATA_DIR: dataDir },
        });
        slowest = Math.max(slowest, performance.now() - began);
        if (code !== 0) t.fail(`${name}: ${code} ${stderr}`);
      }
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    busy = false;
    await load;
    const { stdout } = await run(['user', 'list'], { dataDir });
    t.equal(stdout.split('\n').filter((line) => line.startsWith('person')).length, 50);
    t.comment(`slowest ${Math.round(slowest)} ms`);
  });

  await t.test('SIGTERM exits with 0 and leaves no process', async (t) => {
    server.child.kill('SIGTERM');
    t.equal(await server.ended, 0);
    t.match(server.stderr, /"event":"server\.stopping"/);
    t.match(server.stderr, /"event":"server\.stopped"/);
    t.notOk(existsSync(path.join(dataDir, 'run/server.json')));
    const health = await run(['health'], { dataDir });
    t.equal(health.code, 1);
    t.match(health.stdout, /^no server answers at /);
  });

  await t.test('security K01, K02 the log is JSON lines without the setup token', async (t) => {
    for (const line of server.stderr.trim().split('\n')) t.type(JSON.parse(line), 'object');
    const token = /token=([0-9A-Z-]{24})/.exec(server.stdout)![1]!;
    t.notMatch(server.stderr, token);
  });
});

t.test('with an administrator and a base URL the start block shows the public address and no link', async (t) => {
  const dataDir = path.join(folder, 'data');
  const made = await run(['user', 'add', 'alice', '--admin', '--random-password'], { dataDir });
  t.equal(made.code, 0);
  const env = { SERVICE_BASE_URL: 'https://git.example.org', SERVICE_SSH_PUBLIC_PORT: '22' };
  const server = await serving(dataDir, { env, words: ['--no-ssh'] });
  t.match(
    server.stdout,
    /^ {2}Web {3}https:\/\/git\.example\.org {3}\(also http:\/\/127\.0\.0\.1:\d+\)\n {2}gRPC {2}\S+\n {2}Data /m,
  );
  t.notMatch(server.stdout, /SSH|setup/);
  server.child.kill('SIGINT');
  t.equal(await server.ended, 0);
});

t.test('after kill -9 the lock is free, and the same data folder can be served', async (t) => {
  const dataDir = path.join(folder, 'killed');
  const first = await serving(dataDir);
  first.child.kill('SIGKILL');
  await first.ended;
  t.equal((await run(['health'], { dataDir })).code, 1);
  const second = await serving(dataDir);
  t.equal((await run(['health'], { dataDir })).code, 0);
  second.child.kill('SIGTERM');
  t.equal(await second.ended, 0);
});

t.test('a second signal ends the process within a second, whatever runs', async (t) => {
  // A request that is never completed delays the orderly end.
  const server = await serving(path.join(folder, 'data'));
  const { host, port } = { host: '127.0.0.1', port: Number(new URL(server.web).port) };
  const { connect } = await import('node:net');
  const hanging = connect(port, host);
  hanging.on('error', () => {});
  await new Promise<void>((resolve) =>
    hanging.write('POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nuser', () => resolve()),
  );
  await fetch(`${server.web}/healthz`);
  server.child.kill('SIGTERM');
  await server.says(/server\.stopping/);
  const began = performance.now();
  server.child.kill('SIGTERM');
  t.equal(await server.ended, 143);
  t.ok(performance.now() - began < 15_000, 'half of what the request would be waited for');
  hanging.destroy();
});

t.test('security K05 an unhandled error is logged, connections drain, and the exit code is 1 within 5 s', async (t) => {
  const preload = path.join(folder, 'fault.mjs');
  writeFileSync(preload, "process.on('SIGUSR2', () => { setTimeout(() => { throw new Error('injected fault') }) });\n");
  const server = await serving(path.join(folder, 'data'), { preload });
  const began = performance.now();
  server.child.kill('SIGUSR2');
  t.equal(await server.ended, 1);
  t.ok(performance.now() - began < 15_000, 'not the 30 s of an orderly end, even on a busy machine');
  t.match(server.stderr, /"event":"server\.fatal"/);
  t.match(server.stderr, /injected fault/);
});

t.test('78: errors that a restart does not fix', async (t) => {
  const dataDir = path.join(folder, 'refused');
  const settings = path.join(folder, 'bad.toml');
  writeFileSync(settings, '[http]\nlisten = "nowhere"\n');
  const refused: [words: string[], env: Record<string, string>, message: RegExp][] = [
    [['--config', settings], {}, /bad\.toml:2: "nowhere" is not allowed for http\.listen/],
    [['--listen', '127.0.0.1:2222', '--ssh-listen', '127.0.0.1:2222'], {}, /use the same port/],
    [[], { SERVICE_GIT_PROGRAM: 'no-such-git' }, /no-such-git.*was not found/],
    [
      [],
      { SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true', SERVICE_BASE_URL: 'https://git.example.org' },
      /public address/,
    ],
  ];
  if (existsSync('/proc/version'))
    refused.push([
      ['--data-dir', '/proc/hearth'],
      {},
      /user \d+ cannot write to the data folder \/proc\/hearth\nhint: mkdir -p \/proc\/hearth && chown/,
    ]);
  for (const [words, env, message] of refused) {
    const { code, stdout, stderr } = await run(['serve', ...words], {
      dataDir,
      env: { SERVICE_HTTP_LISTEN: '', SERVICE_SSH_LISTEN: '', ...env },
    });
    t.equal(code, 78, words.join(' '));
    t.equal(stdout, '');
    t.match(stderr, message);
  }
  await run(['migrate'], { dataDir });
  const db = new DatabaseSync(path.join(dataDir, 'hearth.db'));
  db.exec("INSERT INTO migrations(timestamp, name) VALUES (99, 'V99Future0000000000099')");
  db.close();
  t.equal((await run(['serve'], { dataDir })).code, 78, 'a schema from the future');
});

t.test('a port in use is explained', async (t) => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const { code, stderr } = await run(['serve', '--listen', `127.0.0.1:${port}`], {
    dataDir: path.join(folder, 'data'),
  });
  t.equal(code, 1);
  t.match(
    stderr,
    new RegExp(`error: another program is already listening on 127\\.0\\.0\\.1:${port}\nhint: choose another port`),
  );
});

t.test('a closed stdout ends a command quietly', async (t) => {
  const child = spawn('sh', ['-c', `"${program}" config example | head -1; "${program}" user list --json | true`], {
    cwd: folder,
    env: { PATH: process.env['PATH'], SERVICE_DATA_DIR: path.join(folder, 'data') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)));
  t.equal(await new Promise((resolve) => child.on('close', resolve)), 0);
  t.match(stdout, /^# Hearth settings.*\n$/);
  t.equal(stderr, '');
});

t.test('143: a command that is terminated changes nothing', async (t) => {
  const dataDir = path.join(folder, 'data');
  await run(['user', 'add', 'dana', '--random-password'], { dataDir });
  await run(['repo', 'create', 'dana/site'], { dataDir });
  const child = spawn(program, ['pull', 'new', 'dana/site', '--as', 'dana', '--title', 'Beds', '--patch', '-'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], SERVICE_DATA_DIR: dataDir },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // More than a pipe holds: once it is consumed, the command is waiting for the rest.
  await new Promise((resolve) => child.stdin.write(Buffer.alloc(1 << 20, 'x'), resolve));
  child.kill('SIGTERM');
  t.equal(await new Promise((resolve) => child.on('close', resolve)), 143);
  t.same(await run(['pull', 'list', 'dana/site'], { dataDir }), { code: 0, stdout: '', stderr: '' });
});
