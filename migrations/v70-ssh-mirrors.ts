import type { Migration } from '../src/db/index.ts';

/** Mirrors by ssh: the key pair of each, its pinned host key, and a differing one that the other side presents. */
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
