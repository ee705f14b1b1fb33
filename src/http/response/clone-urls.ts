import type { Config } from '../../config/index.ts';
import type { CloneTransport } from '../request/preferences.ts';

/** Address of the SSH server; `app/` knows it once the server listens. */
export interface SshFacts {
  /** The port for clients. */
  port: number;
  /** `SHA256:…` of the host key, to compare at the first connection; null if the machine's own sshd has the key. */
  fingerprint: string | null;
}

/** The clone URLs of a repository, with help for new users. */
export interface CloneBoxView {
  https: string;
  /** Null if SSH is off. */
  ssh: string | null;
  fingerprint: string | null;
  /** Which of the two is shown first. */
  chosen: CloneTransport;
}

interface CloneBoxInput {
  origin: string;
  owner: string;
  name: string;
  ssh: SshFacts | null;
  config: Pick<Config, 'ssh'>;
  preferred: CloneTransport;
}

/** The scp-like short form works on port 22 only; with another port git needs a URL. */
function sshAddress({ origin, owner, name, config }: CloneBoxInput, facts: SshFacts): string {
  const host = config.ssh.publicHost ?? new URL(origin).hostname;
  const port = config.ssh.publicPort ?? facts.port;
  const path = `${owner}/${name}.git`;
  // The short form would parse the colons of a bare IPv6 address as its separator.
  return port === 22 && !host.includes(':')
    ? `git@${host}:${path}`
    : `ssh://git@${host}${port === 22 ? '' : `:${port}`}/${path}`;
}

export function viewCloneBox(input: CloneBoxInput): CloneBoxView {
  const { origin, owner, name, ssh, preferred } = input;
  return {
    https: `${origin}/git/${owner}/${name}.git`,
    ssh: ssh && sshAddress(input, ssh),
    fingerprint: ssh?.fingerprint ?? null,
    chosen: ssh === null ? 'https' : preferred,
  };
}
