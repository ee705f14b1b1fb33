import type { Config } from '../../config/index.ts';

/**
 * The clone URL: `git@host:owner/name.git` on port 22, otherwise `ssh://git@host:2222/owner/name.git`. Without a
 * configured host name it contains HOST, since the server cannot know the name that the client used.
 *
 * @param port the port that the server listens on; `ssh.public_port` wins
 */
export function cloneAddress(
  { ssh, baseUrl }: Pick<Config, 'ssh' | 'baseUrl'>,
  port: number,
  { owner, name }: { owner: string; name: string },
): string {
  const host = ssh.publicHost ?? (baseUrl === null ? 'HOST' : new URL(baseUrl).hostname);
  const path = `${owner}/${name}.git`;
  const shown = ssh.publicPort ?? port;
  return shown === 22 ? `git@${host}:${path}` : `ssh://git@${host}:${shown}/${path}`;
}
