// time limit: 120 s
// Control commands of the running server: reload, cron, log tail.
import { execFile, spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { programs, startServerProcess } from '../e2e/server-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';

const folder = temporaryFolder(t);
const settings = path.join(folder, 'hearth.toml');
writeFileSync(settings, '[log]\nlevel = "info"\n');
const ownGit = path.join(folder, 'git');
writeFileSync(ownGit, '#!/bin/sh\nexec /usr/bin/env git "$@"\n', { mode: 0o755 });
const server = await startServerProcess(t, 'either', { folder, env: { SERVICE_GIT_PROGRAM: ownGit } });
const program = programs.either;

/** Exit code and both outputs of a command beside the server. */
function command(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: '/usr/bin:/bin', HOME: '/nonexistent' };
  return new Promise((resolve) => {
    execFile(program, words, { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

t.test('reload applies what can change, names what needs a restart, and refuses invalid settings', async (t) => {
  t.match(await command('reload'), { code: 0, stdout: '', stderr: 'Nothing has changed.\n' });
  writeFileSync(settings, '[log]\nlevel = "debug"\n[storage]\nlow_disk_floor = "1TiB"\n[git]\nqueue = 7\n');
  t.equal(
    (await command('reload')).stdout,
    'storage.low_disk_floor\tapplied\nlog.level\tapplied\ngit.queue\tneeds a restart\n',
  );
  t.match(await (await fetch(`${server.url}/readyz`)).text(), /disk full/, 'the new floor is in use');
  writeFileSync(settings, '[log]\nlevel = "loud"\n');
  t.match(await command('reload'), { code: 5, stderr: /log\.level/ });
  t.match(await (await fetch(`${server.url}/readyz`)).text(), /disk full/, 'nothing of it is taken over');
  writeFileSync(settings, '[log]\nlevel = "info"\n');
  t.equal((await command('reload')).code, 0);
  t.equal((await fetch(`${server.url}/readyz`)).status, 200);
  t.match(
    (await command('log', 'list', '--plain')).stdout,
    /\tserver\t[^\n]*\tconfig\.reloaded\t/,
    'and the audit log knows',
  );
});

t.test('/readyz reports that git is missing', async (t) => {
  const readiness = async () => (await fetch(`${server.url}/readyz`)).text();
  chmodSync(ownGit, 0o600);
  t.equal(await readiness(), 'not ready: git\n');
  chmodSync(ownGit, 0o755);
  t.equal(await readiness(), 'ready\n');
});

t.test('SIGHUP reloads as well, and the log has the result', async (t) => {
  writeFileSync(settings, '[log]\nlevel = "debug"\n');
  const { pid } = JSON.parse((await command('status', '--json')).stdout) as { pid: number };
  process.kill(pid, 'SIGHUP');
  let last = '';
  while (!/"log\.level"/.test(last)) {
    last =
      (await command('log', 'tail', '--json', '--level', 'info')).stdout
        .split('\n')
        .filter((line) => line.includes('config.reloaded'))
        .at(-1) ?? '';
    await sleep(20);
  }
  t.match(JSON.parse(last), { event: 'config.reloaded' });
  t.strictSame([JSON.parse(last).applied, JSON.parse(last).needRestart], [['log.level'], []]);
});

t.test('log tail shows the newest lines, then new ones until it is interrupted', async (t) => {
  const { stdout } = await command('log', 'tail', '-n', '1', '--plain');
  t.match(JSON.parse(stdout), { level: /./, time: /./, event: /./ });
  const following = spawn(program, ['log', 'tail', '--follow', '-n', '0', '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: '/usr/bin:/bin' },
  });
  t.teardown(() => following.kill('SIGKILL'));
  let text = '';
  following.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  while (!text.includes('/absent-page')) {
    await fetch(`${server.url}/absent-page`);
    await sleep(20);
  }
  following.kill('SIGINT');
  const code = await new Promise((resolve) => following.once('exit', (exitCode) => resolve(exitCode)));
  t.equal(code, 130);
});

t.test('cron lists the tasks with their next time, and runs one by name', async (t) => {
  const list = JSON.parse((await command('cron', 'list', '--json')).stdout) as {
    name: string;
    nextAt: string | null;
    lastAt: string | null;
  }[];
  t.ok(list.length > 5);
  for (const { name, nextAt } of list) t.ok(nextAt, name);
  t.match(await command('cron', 'run', 'sessions.sweep'), { code: 0, stdout: /^Ran sessions\.sweep in \d/ });
  const after = JSON.parse((await command('cron', 'list', '--json')).stdout) as typeof list;
  t.ok(after.find(({ name }) => name === 'sessions.sweep')!.lastAt, 'the run is remembered');
  t.match(await command('cron', 'run', 'tea'), { code: 3, stderr: /scheduled task "tea" does not exist/ });
});

t.test('doctor --url requests the server by its address, and refuses an invalid address', async (t) => {
  t.match(await command('doctor', '--only', 'settings', '--url', server.url), {
    code: 0,
    stdout: /^ok\taddress\t.*unchanged$/m,
  });
  t.match(await command('doctor', '--only', 'settings', '--url', `${server.url}/git`), {
    code: 7,
    stdout: /is not a server URL/,
  });
  t.match(await command('doctor', '--only', 'settings', '--peers'), { code: 0, stdout: /federation is disabled/ });
});

t.test('without a server cron run runs the task itself; the others report that none runs', async (t) => {
  t.equal(await server.stop(), 0);
  const env = { SERVICE_DATA_DIR: server.dataDir };
  t.match(await runCli(['cron', 'run', 'sessions.sweep'], { env }), { code: 0, stdout: /^Ran sessions\.sweep/ });
  for (const words of [['reload'], ['log', 'tail']])
    t.match(await runCli(words, { env }), { code: 1, stderr: /[Nn]o Hearth server is running/ });
});
