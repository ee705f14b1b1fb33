import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { unavailable } from '../../kernel/index.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import type { RefResult } from '../pushes/report-status.ts';
import { describeGitFailure, urlWithoutCredentials, singleProtocolEnvironment, withRemote } from './remote.ts';
import type { Remote } from './remote.ts';
import { readHostKey, sshFailure } from './ssh.ts';
import type { SshHost, SshTools } from './ssh.ts';

/** Dependencies of fetches from and pushes to another host. */
export interface RemoteTools {
  runner: GitRunner;
  ssh: SshTools;
}

export interface ExchangeOptions {
  signal?: AbortSignal | undefined;
  /** Called with git's progress lines: `Receiving objects:  41% (12/29)`. */
  progress?(text: string): void;
  /** Patterns of refs to fetch besides branches and tags: `refs/notes/*`. */
  more?: readonly string[];
  /** Size limit of a fetched pack, instead of the server's. */
  maxBytes?: number | undefined;
}

/** The refs of a remote. */
export interface RemoteRefs {
  /** Short name of the branch that HEAD names; null if it names none. */
  head: string | null;
  /** Branches and tags by full name. */
  refs: ReadonlyMap<string, string>;
}

const listMs = 60_000;
const transferMs = 2 * 3_600_000;
const maxListBytes = 64 * 1024 * 1024;
const watchEveryMs = 2_000;
const maxErrorText = 8_192;
/** Namespace of fetched refs, until refs of the repository point to their objects. */
const fetchedFolder = 'refs/hearth/mirror/';

/** Lists a remote's branches and tags. Throws `remote_failed`. */
export async function listRemote(
  tools: RemoteTools,
  remote: Remote,
  { signal }: ExchangeOptions = {},
): Promise<RemoteRefs> {
  const { output } = await runRemoteCommand(
    tools,
    remote,
    ['ls-remote', '--symref', '--quiet', urlWithoutCredentials(remote), 'HEAD', 'refs/heads/*', 'refs/tags/*'],
    { signal },
    listMs,
  );
  const refs = new Map<string, string>();
  let head: string | null = null;
  for (const line of output.split('\n')) {
    const [value = '', name = ''] = line.split('\t');
    if (name === 'HEAD') head = /^ref: refs\/heads\/(.+)$/.exec(value)?.[1] ?? head;
    else if (/^[0-9a-f]{40,64}$/.test(value) && !name.endsWith('^{}')) refs.set(name, value);
  }
  return { head, refs };
}

/**
 * Fetches a remote's branches and tags with all their objects; the repository's own refs do not move. Throws
 * `remote_failed`, `remote_too_large`.
 * @param maxBytes size limit of the pack; 0 for none
 */
export async function fetchRemote(
  tools: RemoteTools,
  repository: string,
  remote: Remote,
  { maxBytes, ...options }: Omit<ExchangeOptions, 'maxBytes'> & { maxBytes: number },
): Promise<void> {
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal]);
  const tooLarge = unavailable('remote_too_large', 'The repository is larger than this server accepts.');
  const watch = setInterval(() => {
    void unfinishedBytes(repository).then((bytes) => maxBytes > 0 && bytes > maxBytes && stop.abort(tooLarge));
  }, watchEveryMs);
  const argv = [
    `--git-dir=${repository}`,
    'fetch',
    '--progress',
    '--prune',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
    urlWithoutCredentials(remote),
    `+refs/heads/*:${fetchedFolder}heads/*`,
    `+refs/tags/*:${fetchedFolder}tags/*`,
    ...(options.more ?? []).map((refs) => `+${refs}:${fetchedFolder}${refs.replace(/^refs\//, '')}`),
  ];
  const before = new Set(await unfinishedPacks(repository));
  try {
    await runRemoteCommand(tools, remote, argv, { ...options, signal }, transferMs);
  } catch (error) {
    // A stopped git leaves the data it has received.
    for (const name of await unfinishedPacks(repository))
      if (!before.has(name)) await rm(path.join(packsOf(repository), name), { force: true });
    throw error;
  } finally {
    clearInterval(watch);
  }
}

/** The refs that `fetchRemote` fetched, by the remote's names. */
export async function fetchedRefs(runner: GitRunner, repository: string): Promise<Map<string, string>> {
  const argv = [`--git-dir=${repository}`, 'for-each-ref', '--format=%(objectname) %(refname)', fetchedFolder];
  const { output } = await runner.run({ argv, timeLimitMs: listMs }, maxListBytes);
  return new Map(
    output
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [oid = '', name = ''] = line.split(' ');
        return [`refs/${name.slice(fetchedFolder.length)}`, oid];
      }),
  );
}

/**
 * Makes the remote's branches and tags equal to the local ones, also backwards. Throws `remote_failed`.
 * @param prune also removes refs that do not exist here
 * @returns the refs that the remote refused
 */
export async function pushRemote(
  tools: RemoteTools,
  repository: string,
  remote: Remote,
  { prune, ...options }: ExchangeOptions & { prune: boolean },
): Promise<RefResult[]> {
  const argv = [
    `--git-dir=${repository}`,
    'push',
    '--porcelain',
    '--progress',
    ...(prune ? ['--prune'] : []),
    urlWithoutCredentials(remote),
    '+refs/heads/*:refs/heads/*',
    '+refs/tags/*:refs/tags/*',
  ];
  const { output, code, errorText } = await runRemoteCommand(tools, remote, argv, options, transferMs, [0, 1]);
  const refused = output.split('\n').flatMap((line): RefResult[] => {
    const [flag, names = '', summary = ''] = line.split('\t');
    return flag === '!' ? [{ ref: names.split(':').at(-1) ?? names, ok: false, reason: summary.slice(0, 200) }] : [];
  });
  if (code !== 0 && refused.length === 0) throw failed(remote, errorText);
  return refused;
}

const failed = (remote: Remote, errorText: string) =>
  ('ssh' in remote ? sshFailure(errorText) : null) ?? unavailable('remote_failed', describeGitFailure(errorText));

async function runRemoteCommand(
  { runner, ssh }: RemoteTools,
  remote: Remote,
  argv: readonly string[],
  { signal, progress }: ExchangeOptions,
  timeLimitMs: number,
  accepts: readonly number[] = [0],
): Promise<{ output: string; code: number; errorText: string }> {
  let errorText = '';
  const { code, output } = await withRemote(ssh, remote, (environment) =>
    runner.run(
      {
        argv,
        timeLimitMs,
        signal,
        yields: true,
        environment,
        onStderr(text) {
          errorText = (errorText + text).slice(-maxErrorText);
          const line = text.split(/[\r\n]/).findLast((each) => /%|\bdone\b/.test(each));
          if (line !== undefined) progress?.(line.replace(/^remote: /, '').trim());
        },
      },
      maxListBytes,
    ),
  );
  if (code === null || !accepts.includes(code)) throw failed(remote, errorText);
  return { output: output.toString('utf8'), code, errorText };
}

/**
 * The host key that a host currently presents: `ssh-ed25519 AAAA…`; the connection is not authenticated. Throws
 * `remote_failed` if it cannot be reached, `ssh_client_missing`.
 */
export async function hostKeyOf({ runner, ssh }: RemoteTools, host: SshHost): Promise<string> {
  let errorText = '';
  const key = await readHostKey(ssh, host, async (environment) => {
    await runner.run(
      {
        argv: ['ls-remote', '--quiet', `ssh://${host.user}@${host.host}:${host.port}/`],
        timeLimitMs: listMs,
        yields: true,
        environment: { ...singleProtocolEnvironment('ssh'), ...environment },
        onStderr: (text) => (errorText = (errorText + text).slice(-maxErrorText)),
      },
      maxListBytes,
    );
  });
  if (key === null) throw sshFailure(errorText) ?? unavailable('remote_failed', describeGitFailure(errorText));
  return key;
}

/** Size of the packs being received. */
async function unfinishedBytes(repository: string): Promise<number> {
  const sizes = await Promise.all(
    (await unfinishedPacks(repository)).map(
      async (name) => (await stat(path.join(packsOf(repository), name)).catch(() => null))?.size ?? 0,
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

const packsOf = (repository: string): string => path.join(repository, 'objects', 'pack');

const unfinishedPacks = async (repository: string): Promise<string[]> =>
  (await readdir(packsOf(repository)).catch(() => [])).filter((name) => name.startsWith('tmp_pack_'));
