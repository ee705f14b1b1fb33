import type { Config } from '../../config/index.ts';
import type { CloneTransport } from '../request/preferences.ts';

/** How the SSH server is reached; `app/` knows once it listens. */
export interface SshFacts {
  /** The port that people connect to. */
  port: number;
  /** `SHA256:…` of the host key, to compare at the first connection; null when the machine's own sshd has the key. */
  fingerprint: string | null;
}

/** The addresses a repository is cloned from, and what a newcomer must know to use them. */
export interface CloneBoxView {
  https: string;
  /** Null while SSH is off. */
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
  // The short form would read the colons of a bare IPv6 address as its separator.
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
