// A stock runner deploys through an environment with two reviewers, while server and runner are killed between the
// steps: no secret before an approval, no step twice in an attempt, and a job whose runner is lost fails.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServerProcess } from '../test/e2e/server-process.ts';
import { freePort } from '../test/fixtures/free-port.ts';
import { runGit } from '../test/fixtures/git-repositories.ts';

/** Between which steps something can be killed: before the approval, before the job starts, and after each step. */
export const moments = ['waits', 'approved', '1', '2'] as const;
type Moment = (typeof moments)[number];
const steps = ['1', '2', '3'];

/** A step leaves its mark with the length of the secret, and goes on when the script says so. */
const stepOf = (folder: string, name: string) =>
  `      - run: |
          echo "$GITHUB_RUN_ATTEMPT:${name}:\${#KEY}" >> ${folder}/marks
          until [ -e ${folder}/gate-$GITHUB_RUN_ATTEMPT-${name} ]; do sleep 0.2; done
        env: {KEY: "\${{ secrets.KEY }}"}
`;

interface Deployment {
  number: number;
  /** The number of attempts that it took. */
  attempts: number;
}

/**
 * Runs the deployments with one program.
 * @param program name of the runner in `programs`
 * @param kills where the runner is killed, one deployment each; the server is killed at every moment of one more
 * @returns the number of failures
 */
export async function tryDeployments(
  programs: string,
  program: string,
  config: string,
  kills: readonly Moment[] = ['1'],
): Promise<number> {
  const ends: (() => unknown)[] = [];
  const owner = { teardown: (fn: () => unknown) => void ends.unshift(fn) };
  const port = await freePort();
  const env = { SERVICE_HTTP_LISTEN: `127.0.0.1:${port}`, SERVICE_BASE_URL: `http://127.0.0.1:${port}` };
  let server = await startServerProcess(owner, 'checkout', { env });
  const { folder, url } = server;
  let runner: ChildProcess | null = null;
  const home = path.join(folder, 'runner');
  mkdirSync(home);
  const atRunner = (...words: string[]) =>
    spawn(path.join(programs, program), ['-c', 'config.yml', ...words], {
      cwd: home,
      env: { PATH: process.env['PATH'] ?? '', HOME: home },
      stdio: 'ignore',
      // Its jobs are killed with it.
      detached: true,
    });
  const killRunner = async () => {
    const ended = new Promise((resolve) => runner!.once('exit', resolve));
    process.kill(-runner!.pid!, 'SIGKILL');
    await ended;
  };
  const killServer = async () => {
    await server.kill();
    server = await startServerProcess(owner, 'checkout', { folder, env });
  };
  ends.unshift(() => (runner?.exitCode === null ? killRunner() : null));

  const until = async (what: string, isSo: () => Promise<boolean> | boolean, seconds = 90) => {
    for (const end = Date.now() + seconds * 1000; !(await isSo()); await sleep(300))
      if (Date.now() > end) throw new Error(`in vain: ${what}`);
  };
  const statusOf = async (number: number) => {
    const { jobs } = JSON.parse(await server.command('run', 'show', 'alice/site', String(number), '--json')) as {
      jobs: { status: string; reason: string | null }[];
    };
    return jobs[0]!;
  };
  const marks = () => (existsSync(`${folder}/marks`) ? readFileSync(`${folder}/marks`, 'utf8').trim().split('\n') : []);

  /** One deployment: what is killed at a moment, in the first attempt. */
  async function deploy(number: number, kill: (moment: Moment) => Promise<boolean>): Promise<Deployment> {
    writeFileSync(`${folder}/marks`, '');
    for (let attempt = 1; ; attempt += 1) {
      const pass = async (moment: Moment) => attempt === 1 && (await kill(moment));
      await until('the job waits', async () => (await statusOf(number)).status === 'blocked');
      await sleep(3_000);
      if (marks().some((mark) => mark.startsWith(`${attempt}:`))) throw new Error('a step ran before the approval');
      await pass('waits');
      await server.command(
        'run',
        'review',
        'alice/site',
        String(number),
        '--approve',
        '--as',
        attempt > 1 ? 'carol' : 'bob',
      );
      await pass('approved');
      let isLost = false;
      for (const name of steps) {
        // A task whose answer was lost with the server goes to a runner again after a minute.
        await until(`step ${name}`, () => marks().includes(`${attempt}:${name}:8`), 180);
        if (name !== '3') isLost = await pass(name as Moment);
        if (isLost) break;
        writeFileSync(`${folder}/gate-${attempt}-${name}`, '');
      }
      if (!isLost) {
        await until('success', async () => (await statusOf(number)).status === 'success');
        const begun = marks();
        if (new Set(begun).size !== begun.length) throw new Error(`a step began twice: ${begun.join(' ')}`);
        return { number, attempts: attempt };
      }
      await until('the job is lost', async () => (await statusOf(number)).status === 'failure', 300);
      const before = marks().length;
      await sleep(5_000);
      if (marks().length !== before) throw new Error('a lost job went on');
      await server.command('run', 'rerun', 'alice/site', String(number));
    }
  }

  let failed = 0;
  try {
    for (const name of ['alice', 'bob', 'carol']) await server.command('user', 'add', name, '--random-password');
    const token = await server.command('token', 'add', '--user', 'alice', '--name', 'x', '--access', 'admin');
    await server.command('repo', 'create', 'alice/site', '--public');
    await server.command('environment', 'set', 'alice/site', 'production', '--reviewers', 'bob,carol');
    const answer = await fetch(`${url}/api/v1/repos/alice/site/environments/production/secrets/KEY`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ value: 'hunter22' }),
    });
    if (!answer.ok) throw new Error(`the secret was answered ${answer.status}`);
    writeFileSync(path.join(home, 'config.yml'), config);
    const registration = await server.command('runner', 'token');
    const register = atRunner(
      'register',
      '--no-interactive',
      '--instance',
      url,
      '--token',
      registration,
      '--name',
      'b',
    );
    await new Promise((resolve) => register.once('exit', resolve));
    runner = atRunner('daemon');

    const clone = path.join(folder, 'work');
    mkdirSync(path.join(clone, '.hearth/workflows'), { recursive: true });
    const git = (...words: string[]) => runGit(words, { cwd: clone });
    await git('init', '--quiet', '-b', 'main');
    const tries: [string, (moment: Moment) => Promise<boolean>, number][] = [
      ['the server, at every moment', async () => (await killServer(), false), 1],
      ...kills.map((at): (typeof tries)[number] => {
        const isTaken = at === '1' || at === '2';
        const kill = async (moment: Moment) => {
          if (moment !== at) return false;
          await killRunner();
          runner = atRunner('daemon');
          return isTaken;
        };
        return [`the runner, at “${at}”`, kill, isTaken ? 2 : 1];
      }),
    ];
    for (const [at, [what, kill, expected]] of tries.entries()) {
      writeFileSync(
        path.join(clone, '.hearth/workflows/deploy.yml'),
        `on: push\njobs:\n  deploy:\n    runs-on: linux\n    environment: production\n    steps:\n${steps.map((name) => stepOf(folder, name)).join('')}`,
      );
      await git('add', '.');
      await git('commit', '--quiet', '--allow-empty', '-m', `Deploy ${at}`);
      for (const attempt of [1, 2])
        for (const name of steps)
          if (existsSync(`${folder}/gate-${attempt}-${name}`)) rmSync(`${folder}/gate-${attempt}-${name}`);
      await git('push', '--quiet', `http://x:${token}@127.0.0.1:${port}/git/alice/site.git`, 'main');
      const began = Date.now();
      const done = await deploy(at + 1, kill).catch((error: unknown) => error as Error);
      const isOk = !(done instanceof Error) && done.attempts === expected;
      if (!isOk) failed += 1;
      const said = done instanceof Error ? done.message : `${done.attempts} attempts, ${marks().length} steps`;
      console.log(
        `${isOk ? 'ok  ' : 'FAIL'} ${program} deploys; killed: ${what}: ${said}, ${Math.round((Date.now() - began) / 1000)} s`,
      );
    }
  } finally {
    for (const end of ends) await end();
  }
  return failed;
}
