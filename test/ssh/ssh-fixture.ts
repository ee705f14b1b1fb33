// startSsh(t, {limits?, env?}) → a real SSH server on real modules in a folder of its own, with people and their keys;
// ssh(…) and git(…) run the real clients against it.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import ssh2 from 'ssh2';
import { openModules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import type { LogFields, Logger } from '../../src/kernel/index.ts';
import { createSshServer } from '../../src/ssh/index.ts';
import type { SshLimits } from '../../src/ssh/index.ts';
import { generateKey } from '../../src/openssh/index.ts';
import { gitEnvironment } from '../fixtures/git-repositories.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { databaseSettings } from '../fixtures/test-postgres.ts';

export interface ClientResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface KeyFiles {
  /** The private key in OpenSSH format. */
  privateKey: string;
  /** Path of the private key; the public one has `.pub` appended. */
  file: string;
  publicLine: string;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  input?: string;
  /** Flags of ssh. */
  flags?: readonly string[];
  /** Private keys to offer, in this order. */
  keys?: readonly KeyFiles[];
  /** Further options of ssh, as `Name=value`. */
  options?: readonly string[];
}

interface StartOptions {
  limits?: Partial<SshLimits>;
  env?: Record<string, string>;
}

export async function startSsh(t: Owner, { limits = {}, env = {} }: StartOptions = {}) {
  const folder = temporaryFolder(t);
  const log: ({ event: string } & LogFields)[] = [];
  const record = (event: string, fields: LogFields = {}) => void log.push({ event, ...fields });
  const logger: Logger = {
    ...silentLogger,
    debug: record,
    info: record,
    warn: record,
    error: record,
    child: () => logger,
  };
  const { config } = loadConfig({
    argvOverrides: {},
    env: {
      SERVICE_DATA_DIR: path.join(folder, 'data'),
      SERVICE_SSH_LISTEN: '127.0.0.1:0',
      ...(await databaseSettings(t, path.join(folder, 'data'))),
      ...env,
    },
    cwd: folder,
    readFile: () => '',
  });
  const modules = await openModules(config, { logger }, 'always');
  const { accounts, repositories, issues, lfs, pulls, notifications, git, workers, clock, nodes, sharedKeys } = modules;
  const server = createSshServer({
    config,
    accounts,
    repositories,
    issues,
    lfs,
    pulls,
    notifications,
    git,
    workers,
    nodes,
    sharedKeys,
    logger,
    clock,
    limits,
  });
  let isStopped = false;
  t.teardown(async () => {
    if (!isStopped) await server.stop({ graceMs: 0 });
    await modules.close();
  });
  const { port, fingerprint } = await server.listen().catch((error: unknown) => {
    isStopped = true;
    throw error;
  });

  const knownHosts = path.join(folder, 'known_hosts');
  writeFileSync(knownHosts, `[127.0.0.1]:${port} ${publicHalf(path.join(config.dataDir, 'ssh', 'host_ed25519'))}\n`);
  const work = path.join(folder, 'work');
  mkdirSync(work);

  let keysMade = 0;
  function newKey(type: 'ed25519' | 'ecdsa' | 'rsa' = 'ed25519', bits = 0): KeyFiles {
    const file = path.join(folder, `key-${(keysMade += 1)}`);
    const pair = type === 'ed25519' ? ed25519Key() : ssh2.utils.generateKeyPairSync(type, { bits });
    writeFileSync(file, pair.private, { mode: 0o600 });
    writeFileSync(`${file}.pub`, `${pair.public}\n`);
    return { file, privateKey: pair.private, publicLine: pair.public };
  }

  async function person(username: string | null, key = newKey()) {
    const { id } = await accounts.addPerson({ username });
    await accounts.addKey(id, { title: 'test', line: key.publicLine });
    const viewer = {
      kind: 'person',
      id,
      username,
      isAdministrator: false,
      via: 'key',
      scope: 'admin',
      repositoryIds: null,
    } as const;
    return { id, viewer, key };
  }

  const sshOptions = ({ keys = [], options = [], flags = [] }: RunOptions) => [
    ...flags,
    '-F',
    'none',
    // ssh uses the first value that it finds.
    ...[
      ...options,
      'BatchMode=yes',
      'IdentitiesOnly=yes',
      'IdentityAgent=none',
      'StrictHostKeyChecking=yes',
      `UserKnownHostsFile=${knownHosts}`,
      'GlobalKnownHostsFile=/dev/null',
      'ControlPath=none',
      'ConnectTimeout=10',
    ].flatMap((option) => ['-o', option]),
    ...keys.flatMap(({ file }) => ['-i', file]),
  ];
  const environment = gitEnvironment(work);

  return {
    modules,
    server,
    port,
    fingerprint,
    log,
    folder,
    work,
    knownHosts,
    newKey,
    person,
    sshOptions,
    events: (event: string) => log.filter((line) => line.event === event),
    async stop(graceMs: number) {
      isStopped = true;
      await server.stop({ graceMs });
    },

    /** Runs OpenSSH with `words` as the command. */
    ssh(words: readonly string[], options: RunOptions = {}): Promise<ClientResult> {
      return run('ssh', [...sshOptions(options), '-p', String(port), 'git@127.0.0.1', ...words], {
        cwd: work,
        env: environment,
        ...options,
      });
    },

    /** Runs git with OpenSSH as its transport. */
    git(args: readonly string[], options: RunOptions = {}): Promise<ClientResult> {
      const command = ['ssh', ...sshOptions(options)].map((word) => `'${word}'`).join(' ');
      const env = { ...environment, GIT_SSH_COMMAND: command, GIT_SSH_VARIANT: 'ssh', ...options.env };
      return run('git', args, { cwd: work, ...options, env });
    },

    url: (repository: string) => `ssh://git@127.0.0.1:${port}/${repository}`,

    /** A client other than OpenSSH, for what OpenSSH refuses to do. */
    client(t: Owner, options: ssh2.ConnectConfig): Promise<ssh2.Client> {
      const client = new ssh2.Client();
      t.teardown(() => client.end());
      return new Promise((resolve, reject) => {
        client
          .on('ready', () => resolve(client))
          .on('error', reject)
          .on('close', () => reject(new Error('closed')));
        client.connect({ host: '127.0.0.1', port, username: 'git', ...options });
      });
    },

    /** A plain socket; `closed` resolves with the milliseconds until the server closed it. */
    socket(t: Owner) {
      const startedAt = performance.now();
      const socket = connect(port, '127.0.0.1');
      t.teardown(() => socket.destroy());
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {});
      const closed = new Promise<number>((resolve) => socket.on('close', () => resolve(performance.now() - startedAt)));
      return { socket, closed, received: () => Buffer.concat(chunks) };
    },
  };
}

export type SshFixture = Awaited<ReturnType<typeof startSsh>>;

/** Runs a program to its end; failures are returned, not thrown. */
function run(
  program: string,
  args: readonly string[],
  { cwd, env, input }: { cwd: string; env: Record<string, string>; input?: string },
): Promise<ClientResult> {
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => stderr.push(bytes));
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
    });
  });
}

/** Runs a command over an open connection. */
export function exec(client: ssh2.Client, command: string): Promise<ClientResult> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error !== undefined) return reject(error);
      const out: ClientResult = { code: null, stdout: '', stderr: '' };
      channel.on('data', (bytes: Buffer) => (out.stdout += bytes.toString()));
      channel.stderr.on('data', (bytes: Buffer) => (out.stderr += bytes.toString()));
      channel.on('exit', (code: number) => (out.code = code)).on('close', () => resolve(out));
    });
  });
}

function ed25519Key(): { private: string; public: string } {
  const { privateKey, blob } = generateKey('test');
  return { private: privateKey, public: `ssh-ed25519 ${blob.toString('base64')}` };
}

function publicHalf(file: string): string {
  const key = ssh2.utils.parseKey(readFileSync(file));
  if (key instanceof Error || Array.isArray(key)) throw new Error('no host key');
  return `${key.type} ${key.getPublicSSH().toString('base64')}`;
}
