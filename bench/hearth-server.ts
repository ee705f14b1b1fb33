// Starts dist/hearth in a temporary folder with one person, one token, one key and one repository.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readTextOption } from './harness.ts';

/** `--executable PATH`: another build, to compare two of them. */
export const executable = path.resolve(
  readTextOption('executable') ?? fileURLToPath(new URL('../dist/hearth', import.meta.url)),
);

export interface HearthServer {
  pid: number;
  folder: string;
  url: string;
  sshPort: number;
  token: string;
  keyFile: string;
  /** The bare repository `alice/bench` on disk. */
  repository: string;
  /** Hearth's own git settings, so that a peer can be given the same. */
  gitConfig: string;
  /** A command of the same program on the same data folder; what it prints. */
  run(...words: string[]): Promise<string>;
  stop(): Promise<void>;
  /** For a benchmark that fails half-way. */
  kill(): void;
}

/**
 * @param settings by their environment names
 * @param furnish adds data to the data folder before the first start
 * @param program another executable, of an earlier build
 */
export async function startHearthServer(
  settings: Record<string, string> = {},
  furnish?: (dataFolder: string) => Promise<void>,
  program: string = executable,
): Promise<HearthServer> {
  if (!existsSync(program)) throw new Error(`${program} is missing. Run: scripts/build-executable`);
  const folder = mkdtempSync(path.join(tmpdir(), 'hearth-bench-'));
  await furnish?.(path.join(folder, 'data'));
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: folder,
    SERVICE_HTTP_LISTEN: '127.0.0.1:0',
    SERVICE_SSH_LISTEN: '127.0.0.1:0',
    SERVICE_GRPC_LISTEN: '127.0.0.1:0',
    SERVICE_LOG_LEVEL: 'warn',
    ...settings,
  };
  const child = spawn(program, ['serve'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let block = '';
  for await (const chunk of child.stdout) {
    block += (chunk as Buffer).toString();
    // The last line that is always printed; the setup link may follow.
    if (/^ {2}Data .*\n/m.test(block)) break;
  }
  const run = async (...args: string[]) =>
    (await promisify(execFile)(program, args, { cwd: folder, env })).stdout.trim();
  await run('user', 'add', 'alice', '--random-password');
  const token = await run('token', 'add', '--user', 'alice', '--name', 'bench', '--access', 'write');
  const keyFile = path.join(folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', keyFile]);
  await run('key', 'add', '--user', 'alice', `${keyFile}.pub`);
  await run('repo', 'create', 'alice/bench', '--public');
  const shown = JSON.parse(await run('repo', 'show', 'alice/bench', '--json')) as { path: string };
  return {
    pid: child.pid!,
    folder,
    url: /Web\s+(http\S+)/.exec(block)![1]!,
    sshPort: Number(/ssh:\/\/git@\S+?:(\d+)/.exec(block)![1]),
    token,
    keyFile,
    repository: shown.path,
    gitConfig: path.join(folder, 'data/run/git/config'),
    run,
    kill() {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
