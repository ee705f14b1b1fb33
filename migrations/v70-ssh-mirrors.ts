import type { Migration } from '../src/db/index.ts';

/** Mirrors by ssh: the key pair of each, the host key that it trusts, and one that the other side shows instead. */
export const sshMirrors: Migration = {
  version: 70,
  name: 'SshMirrors',
  statements: [
    `ALTER TABLE mirrors ADD COLUMN ssh_key_ciphertext TEXT`,
    `ALTER TABLE mirrors ADD COLUMN ssh_public_key TEXT`,
    `ALTER TABLE mirrors ADD COLUMN host_key TEXT`,
    `ALTER TABLE mirrors ADD COLUMN offered_host_key TEXT`,
  ],
};
