// sshSide(t) → a real sshd on 127.0.0.1 that serves bare repositories of a folder: {url, port, host, folder,
// allow(key), hostKeyLine, changeHostKey(), log()}
// httpSide(t, {address}) → git http-backend behind a small HTTP server: {url, host, folder, authorizations, password}
// newBare(folder, name) makes a bare repository with a branch `main` and a tag; tips(path) returns its refs.
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import path from 'node:path';
import { freePort } from '../fixtures/free-port.ts';
import { requiredProgram } from '../fixtures/required-program.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, {
    cwd,
    env: clientEnvironment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

export function createBareRepository(folder: string, name: string, { isEmpty = false } = {}): string {
  const bare = path.join(folder, name);
  git(folder, 'init', '--quiet', '--bare', '-b', 'main', bare);
  if (!isEmpty) {
    addCommit(bare, 'main', 'one');
    git(bare, 'tag', 'v1', 'main');
  }
  return bare;
}

export function addCommit(bare: string, branch: string, message: string): string {
  const tree = git(bare, 'hash-object', '-t', 'tree', '-w', '/dev/null');
  const parent = readRefs(bare).get(`refs/heads/${branch}`);
  const commit = git(bare, 'commit-tree', ...(parent === undefined ? [] : ['-p', parent]), '-m', message, tree);
  git(bare, 'update-ref', `refs/heads/${branch}`, commit);
  return commit;
}

export function readRefs(bare: string): Map<string, string> {
  const lines = git(bare, 'for-each-ref', '--format=%(refname) %(objectname)').split('\n');
  return new Map(lines.filter((line) => line !== '').map((line) => line.split(' ') as [string, string]));
}

const sshd = requiredProgram('sshd');

/** Whether a real sshd can be started here; as root it wants a user and a folder for its locked-up half. */
export function hasSshd(): boolean {
  if (process.getuid?.() !== 0) return true;
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  return /^sshd:/m.test(readFileSync('/etc/passwd', 'utf8'));
}

export async function startSshRemote(t: Owner, chosenPort?: number) {
  const folder = temporaryFolder(t);
  const port = chosenPort ?? (await freePort());
  const user = userInfo().username;
  const [hostKey, config, authorized] = ['host', 'config', 'authorized'].map((name) => path.join(folder, name));
  const makeHostKey = (): void => {
    rmSync(hostKey!, { force: true });
    rmSync(`${hostKey}.pub`, { force: true });
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', hostKey!]);
  };
  makeHostKey();
  writeFileSync(authorized!, '');
  writeFileSync(
    config!,
    `
    Port ${port}
    ListenAddress 127.0.0.1
    HostKey ${hostKey}
    PidFile ${folder}/pid
    StrictModes no
    UsePAM no
    LogLevel VERBOSE
    PasswordAuthentication no
    KbdInteractiveAuthentication no
    PermitRootLogin prohibit-password
    AuthorizedKeysFile ${authorized}
    AcceptEnv GIT_PROTOCOL
  `,
  );
  let daemon: ChildProcess;
  let log = '';
  const start = async (): Promise<void> => {
    const from = log.length;
    daemon = spawn(sshd!, ['-D', '-e', '-f', config!], { stdio: ['ignore', 'ignore', 'pipe'] });
    daemon.stderr!.on('data', (chunk: Buffer) => (log += chunk.toString()));
    await waitUntil(() => /listening/i.test(log.slice(from)) || daemon.exitCode !== null);
  };
  const stop = async (): Promise<void> => {
    if (daemon.exitCode !== null) return;
    const ended = new Promise((resolve) => daemon.once('exit', resolve));
    daemon.kill('SIGTERM');
    await ended;
  };
  await start();
  t.teardown(stop);
  return {
    folder,
    port,
    user,
    host: `127.0.0.1:${port}`,
    url: `ssh://${user}@127.0.0.1:${port}${folder}`,
    /** `ssh-ed25519 AAAA…` */
    hostKey: (): string => readFileSync(`${hostKey}.pub`, 'utf8').trim(),
    fingerprint: (): string =>
      execFileSync('ssh-keygen', ['-l', '-f', `${hostKey}.pub`], { encoding: 'utf8' }).split(' ')[1]!,
    /** Lets keys in, all of them and no other. */
    allow: (...keys: string[]): void => writeFileSync(authorized!, keys.map((key) => `${key}\n`).join('')),
    async changeHostKey(): Promise<void> {
      await stop();
      makeHostKey();
      await start();
    },
    log: (): string => log,
    stop,
    start,
  };
}

export interface HttpRemoteServer {
  folder: string;
  host: string;
  url: string;
  /** The Authorization header of each request, null for none. */
  authorizations: (string | null)[];
  /** Called with each response before it is sent. */
  beforeResponse: ((body: Buffer) => Promise<void>) | null;
  /** Answers what is not of git; says whether it did. */
  answer: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  /** Cuts requests off that have no answer yet. */
  cut(): void;
}

/** @param address each 127.x.y.z is another host to its clients */
export async function startHttpRemote(
  t: Owner,
  { address = '127.0.0.1', port = 0, password = null as string | null } = {},
): Promise<HttpRemoteServer> {
  const folder = temporaryFolder(t);
  const authorizations: (string | null)[] = [];
  const side: HttpRemoteServer = {
    folder,
    host: '',
    url: '',
    authorizations,
    beforeResponse: null,
    answer: null,
    cut: () => {},
  };
  const server = createServer((request, response) => {
    const { authorization = null } = request.headers;
    authorizations.push(authorization);
    if (side.answer?.(request, response) === true) return;
    if (password !== null && authorization !== `Basic ${Buffer.from(password).toString('base64')}`) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://other.side');
    const backend = spawn('git', ['-c', 'http.receivepack=true', 'http-backend'], {
      env: {
        ...clientEnvironment,
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: pathname,
        QUERY_STRING: searchParams.toString(),
        REQUEST_METHOD: request.method ?? 'GET',
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        ...(request.headers['git-protocol'] === undefined
          ? {}
          : { GIT_PROTOCOL: String(request.headers['git-protocol']) }),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    request.pipe(backend.stdin);
    backend.stdin.on('error', () => {});
    const parts: Buffer[] = [];
    backend.stdout.on('data', (part: Buffer) => parts.push(part));
    backend.once('close', async () => {
      await side.beforeResponse?.(Buffer.concat(parts));
      const whole = Buffer.concat(parts);
      const end = whole.indexOf('\r\n\r\n');
      const headers = whole
        .toString('latin1', 0, end)
        .split('\r\n')
        .map((line) => line.split(/:\s*/, 2) as [string, string]);
      const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200';
      response.writeHead(
        Number.parseInt(status, 10),
        Object.fromEntries(headers.filter(([name]) => name !== 'Status')),
      );
      response.end(whole.subarray(end + 4));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `${address}:${(server.address() as AddressInfo).port}`;
  return Object.assign(side, { host, url: `http://${host}`, cut: () => server.closeAllConnections() });
}
