// time limit: 300 s
// Faults around a server in a process of its own. HEARTH_CHAOS=20 for a long run: scripts/chaos.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import t from 'tap';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { programs, startServerProcess } from '../e2e/server-process.ts';
import type { ServerProcess } from '../e2e/server-process.ts';
import { gitClient } from '../e2e/git-client.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

const rounds = Number(process.env['HEARTH_CHAOS'] ?? 1);
const run = promisify(execFile);

async function instance(t: Owner, env: Record<string, string> = {}) {
  const server = await startServerProcess(t, 'either', { env });
  await server.command('user', 'add', 'alice', '--random-password', '--admin');
  const token = await server.command('token', 'add', '--user', 'alice', '--name', 'laptop', '--access', 'write');
  await server.command('repo', 'create', 'alice/site', '--public');
  const client = gitClient(server.folder);
  const work = path.join(server.folder, 'work');
  mkdirSync(work);
  await client.expect(work, 'init', '-q', '-b', 'main');
  const push = async (to: ServerProcess, text: string) => {
    await client.expect(work, 'commit', '-q', '--allow-empty', '-m', text);
    return client.run(work, 'push', '-q', `http://${token}@${new URL(to.url).host}/git/alice/site.git`, 'main');
  };
  return { server, push };
}

/** Exit code and standard error of a command that may fail. */
async function attempt(server: ServerProcess, ...words: string[]): Promise<string> {
  return server.command(...words).then(
    () => 'done',
    (error: Error) => error.message,
  );
}

t.test(`${rounds} kills during a backup do not block the next one, which is complete`, async (t) => {
  const random = seededRandom(7);
  const { server, push } = await instance(t);
  t.equal((await push(server, 'first')).code, 0);
  const program = programs.either;
  for (let round = 0; round < rounds; round += 1) {
    const child = execFile(program, ['backup', 'create', '--data-dir', server.dataDir]);
    await sleep(300 + random.below(900));
    child.kill('SIGKILL');
    // The lock of a killed backup blocks the next one for at most a minute; here that time has passed.
    await run('touch', ['-d', '2 minutes ago', path.join(server.dataDir, 'run', 'backup-under-way')]);
    const made = JSON.parse(await server.command('backup', 'create', '--json')) as { name: string };
    t.match(
      await server.command('backup', 'verify', made.name, '--plain'),
      /^files\t\d+\tok\ndatabase\t\d+\tok\nrepositories\t1\tok$/,
    );
  }
  t.same(
    readdirSync(path.join(server.dataDir, 'backups')).filter((name) => name.startsWith('.unfinished')),
    [],
  );
});

t.test('two servers on one folder: the second one reports it and exits', async (t) => {
  const { server } = await instance(t);
  const second = await attempt(server, 'serve');
  t.match(second, /is already running in .* \(process \d+\)/);
  t.equal((await fetch(`${server.url}/readyz`)).status, 200, 'the first one does not notice');
});

t.test('disk full: pushes are refused with one line, reading goes on, and it recovers by itself', async (t) => {
  const { server, push } = await instance(t);
  t.equal((await push(server, 'first')).code, 0);
  t.equal(await server.stop(), 0);
  const full = await startServerProcess(t, 'either', {
    folder: server.folder,
    env: { SERVICE_STORAGE_LOW_DISK_FLOOR: '1TiB' },
  });
  const refused = await push(full, 'second');
  t.not(refused.code, 0);
  t.match(await (await fetch(`${full.url}/readyz`)).text(), 'not ready: disk full');
  t.equal((await fetch(`${full.url}/repos/alice/site`)).status, 200);
  t.match(await attempt(full, 'backup', 'create'), /low on disk space; no backup was made/);
  t.equal(await full.stop(), 0);
  const again = await startServerProcess(t, 'either', { folder: server.folder });
  t.equal((await push(again, 'third')).code, 0);
});

t.test('a database locked by another program: one line, no hang, and it recovers', async (t) => {
  const { server, push } = await instance(t);
  const other = new DatabaseSync(path.join(server.dataDir, 'hearth.db'));
  other.exec('BEGIN IMMEDIATE');
  const startedAt = performance.now();
  t.not((await push(server, 'held')).code, 0);
  t.ok(performance.now() - startedAt < 30_000);
  t.equal((await fetch(`${server.url}/repos/alice/site`)).status, 200, 'reading waits for nobody');
  other.exec('ROLLBACK');
  other.close();
  t.equal((await push(server, 'free')).code, 0);
});

t.test('leftovers of a killed server are removed at the next start, and the doctor finds nothing', async (t) => {
  const { server, push } = await instance(t);
  for (let round = 0; round < Math.max(2, rounds); round += 1) {
    const pushing = push(server, `round ${round}`);
    await sleep(40 * round);
    if (round === Math.max(2, rounds) - 1) await server.kill();
    await pushing;
  }
  const again = await startServerProcess(t, 'either', { folder: server.folder });
  t.equal((await push(again, 'after')).code, 0);
  const report = JSON.parse(await again.command('doctor', '--json')) as { problems: number; findings: unknown[] };
  t.same(report.findings, []);
  t.ok(existsSync(server.dataDir));
});
