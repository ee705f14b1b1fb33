// startProgram(t, which, {folder?, env?}) → a Hearth as people run it, in a process of its own on free ports:
//   {url, sshPort, setupLink, dataDir, folder, pid, ended, kill(), stop(), command(...args)}
// `through` is a command that runs another one: with walls or witnesses of its own.
// `which` is 'checkout' (bin/hearth), 'executable' (dist/hearth, which scripts/test builds) or 'either', for what is
// the same in both: the executable where scripts/test has just built it, because it starts in a third of the CPU time.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { databaseSettings, testPostgresUrl } from '../fixtures/test-postgres.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

export type ServerVariant = 'checkout' | 'executable' | 'either';

const projectFolder = fileURLToPath(new URL('../../', import.meta.url));
const checkout = path.join(projectFolder, 'bin/hearth');
const executable = path.join(projectFolder, 'dist/hearth');
/** The program of each variant. */
export const programs: Readonly<Record<ServerVariant, string>> = {
  checkout,
  executable,
  either: process.env['HEARTH_TESTS_BUILT_EXECUTABLE'] === undefined ? checkout : executable,
};

export interface ServerProcess {
  folder: string;
  dataDir: string;
  pid: number;
  /** The exit code, once it has ended. */
  ended: Promise<number | null>;
  url: string;
  sshPort: number;
  /** Null once an administrator exists. */
  setupLink: string | null;
  /** Kills the server, as a power failure would, and waits until it is gone. */
  kill(): Promise<void>;
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Runs another command of the same program on the same data; returns its standard output. */
  command(...args: string[]): Promise<string>;
}

export async function startServerProcess(
  t: Owner,
  which: ServerVariant,
  {
    folder = temporaryFolder(t),
    env = {},
    wrapper = [],
  }: { folder?: string; env?: Record<string, string>; wrapper?: string[] } = {},
): Promise<ServerProcess> {
  const environment = {
    PATH: '/usr/bin:/bin',
    HOME: '/nonexistent',
    SERVICE_HTTP_LISTEN: '127.0.0.1:0',
    SERVICE_SSH_LISTEN: '127.0.0.1:0',
    SERVICE_GRPC_LISTEN: '127.0.0.1:0',
    ...(testPostgresUrl === undefined ? {} : await databaseSettings(t, path.join(folder, 'data'))),
    ...env,
  };
  const [file = '', ...words] = [...wrapper, programs[which], 'serve'];
  const child = spawn(file, words, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  t.teardown(() => void child.kill('SIGKILL'));
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  let block = '';
  for await (const chunk of child.stdout) {
    block += (chunk as Buffer).toString();
    if (/^Show it again|^ {2}Data .*\n$/m.test(block) && block.endsWith('\n')) break;
  }
  const url = /Web\s+(http\S+)/.exec(block)?.[1];
  const sshPort = Number(/ssh:\/\/git@\S+?:(\d+)/.exec(block)?.[1]);
  if (url === undefined) throw new Error(`Hearth did not start:\n${block}${errors}`);

  return {
    folder,
    dataDir: path.join(folder, 'data'),
    pid: child.pid ?? 0,
    ended: exited.then(([code]) => code as number | null),
    url,
    sshPort,
    setupLink: /http\S+\/setup\?token=\S+/.exec(block)?.[0] ?? null,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await exited) as [number | null];
      return code;
    },
    command: (...args) =>
      new Promise((resolve, reject) => {
        execFile(programs[which], args, { cwd: folder, env: environment }, (error, stdout, stderr) =>
          error === null ? resolve(stdout.trimEnd()) : reject(new Error(`${args.join(' ')}: ${stderr}`)),
        );
      }),
  };
}
