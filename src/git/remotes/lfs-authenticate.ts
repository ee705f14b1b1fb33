import type { ExchangeOptions, RemoteTools } from './fetch-and-push.ts';
import { refuseOptions, sshFailure, withSsh } from './ssh.ts';
import type { SshRemote } from './ssh.ts';

/** URL of a remote's LFS objects, as reported over ssh. */
export interface LfsEndpoint {
  href: string;
  header: Record<string, string>;
}

const timeLimitMs = 60_000;
const maxOutputBytes = 64 * 1024;
/** Exit code of ssh itself; all other codes are those of the remote command. */
const sshFailed = 255;

/**
 * Runs the connection's ssh program by a shell, as git itself does. An alias, because git is the only program started
 * here, with limits and an environment of its own.
 */
const throughSsh = 'alias.through-ssh=!f() { eval "$GIT_SSH_COMMAND \\"\\$@\\""; }; f';

/**
 * Requests the LFS server of a repository and its credentials from a host (`git-lfs-authenticate`, Git LFS Server
 * Discovery). Null if the host does not know the command or refuses it. Throws `ssh_client_missing`,
 * `host_key_changed`, `remote_key_refused`, `remote_failed`.
 */
export async function requestLfsEndpoint(
  { runner, ssh: tools }: RemoteTools,
  remote: SshRemote,
  operation: 'upload' | 'download',
  { signal }: ExchangeOptions = {},
): Promise<LfsEndpoint | null> {
  const { ssh } = remote;
  refuseOptions(ssh);
  const path = remote.path.startsWith('/') ? decodeURIComponent(remote.path) : remote.path;
  const quoted = `'${path.replaceAll("'", `'\\''`)}'`;
  const { code, output, errorText } = await withSsh(tools, remote, (environment) =>
    runner.run(
      {
        argv: [
          ...['-c', throughSsh, 'through-ssh'],
          ...['-p', String(ssh.port), '--', `${ssh.user}@${ssh.host.replace(/^\[|\]$/g, '')}`],
          `git-lfs-authenticate ${quoted} ${operation}`,
        ],
        timeLimitMs,
        signal,
        yields: true,
        environment,
      },
      maxOutputBytes,
    ),
  );
  const failure = code === sshFailed ? sshFailure(errorText) : null;
  if (failure !== null) throw failure;
  return code === 0 ? readEndpoint(output) : null;
}

function readEndpoint(output: Buffer): LfsEndpoint | null {
  try {
    const { href, header } = JSON.parse(output.toString('utf8')) as { href?: unknown; header?: unknown };
    if (typeof href !== 'string' || !URL.canParse(href)) return null;
    const fields = Object.entries(header !== null && typeof header === 'object' ? header : {});
    return {
      href,
      header: Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string')),
    };
  } catch {
    return null;
  }
}
