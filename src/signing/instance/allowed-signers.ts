import type { InstanceSigningKey } from './instance-signer.ts';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * The signing keys of the server in the format of `gpg.ssh.allowedSignersFile` (ssh-keygen(1), ALLOWED SIGNERS). A
 * replaced key is valid for dates up to two days after its end, because OpenSSH reads dates in the time zone of its
 * machine.
 * @param principal the address of the server as a committer
 */
export function allowedSigners(keys: readonly InstanceSigningKey[], principal: string): string {
  if (keys.length === 0) return '# This server has not made its signing key yet.\n';
  return keys
    .map(({ publicKey, retiredAt }) => {
      const until = retiredAt === null ? '' : `,valid-before="${dateOf(retiredAt + 2 * dayMs)}"`;
      return `${principal} namespaces="git"${until} ${publicKey}\n`;
    })
    .join('');
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
