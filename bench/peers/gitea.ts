// A Gitea with its embedded database, one administrator and one token.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from './nginx.ts';

interface GiteaServer {
  pid: number;
  url: string;
  token: string;
  version: string;
  stop(): Promise<void>;
}

/**
 * @param program the executable
 * @param staticRoot its `templates`, `options` and `public`, where the executable does not contain them
 */
export async function startGitea(program: string, staticRoot: string | null): Promise<GiteaServer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gitea-bench-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const secret = (): string => execFileSync(program, ['generate', 'secret', 'JWT_SECRET']).toString().trim();
  mkdirSync(path.join(folder, 'custom/conf'), { recursive: true });
  writeFileSync(
    path.join(folder, 'custom/conf/app.ini'),
    [
      'RUN_MODE = prod',
      'I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true',
      '[server]',
      'HTTP_ADDR = 127.0.0.1',
      `HTTP_PORT = ${port}`,
      `ROOT_URL = ${url}/`,
      'DISABLE_SSH = true',
      'OFFLINE_MODE = true',
      ...(staticRoot === null ? [] : [`STATIC_ROOT_PATH = ${path.resolve(staticRoot)}`]),
      '[database]',
      'DB_TYPE = sqlite3',
      'SQLITE_JOURNAL_MODE = WAL',
      '[security]',
      'INSTALL_LOCK = true',
      `INTERNAL_TOKEN = ${execFileSync(program, ['generate', 'secret', 'INTERNAL_TOKEN']).toString().trim()}`,
      '[oauth2]',
      `JWT_SECRET = ${secret()}`,
      '[api]',
      'MAX_RESPONSE_ITEMS = 100',
      '[cron]',
      'ENABLED = false',
      '[log]',
      'LEVEL = error',
      '',
    ].join('\n'),
  );
  const env = { PATH: process.env['PATH'], HOME: folder, GITEA_WORK_DIR: folder };
  const run = (...words: string[]): string => execFileSync(program, words, { env, stdio: 'pipe' }).toString();
  run('migrate');
  run(
    ...['admin', 'user', 'create', '--username', 'alice', '--email', 'alice@example.org', '--admin'].concat(
      '--random-password',
      '--must-change-password=false',
    ),
  );
  const token = /[0-9a-f]{40}/.exec(
    run('admin', 'user', 'generate-access-token', '--username', 'alice', '--scopes', 'all', '--raw'),
  )![0];
  const child = spawn(program, ['web'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(`${url}/api/v1/version`).catch(() => null);
    if (response?.ok) {
      const { version } = (await response.json()) as { version: string };
      return {
        pid: child.pid!,
        url,
        token,
        version,
        async stop() {
          child.kill();
          await once(child, 'exit');
          rmSync(folder, { recursive: true, force: true });
        },
      };
    }
    if (tries === 300) throw new Error(`Gitea does not answer at ${url}`);
    await wait(200);
  }
}
