import type { Algorithms } from 'ssh2';

/**
 * The offered algorithms, most preferred first. The list does not depend on the defaults of ssh2, so an upgrade never
 * widens it. `mlkem-key-exchange.ts` adds the post-quantum key exchange, which ssh2 lacks, at the front.
 *
 * chacha20-poly1305 is omitted on purpose: OpenSSH clients prefer it, and without a native addon it takes a quarter
 * more time than AES, for which CPUs have instructions. ssh2 adds the marker of strict key exchange to `kex`.
 */
export const algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    // For old clients, clients restricted to NIST curves, and devices that only have Diffie-Hellman.
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group14-sha256',
  ],
  // The second is for clients without Ed25519.
  serverHostKey: ['ssh-ed25519', 'ecdsa-sha2-nistp256'],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes256-ctr'],
  // Used only with CTR ciphers; GCM authenticates by itself. libssh2 has the `-etm` forms since 1.11 and no GCM cipher
  // before: without the plain forms it could not connect.
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
} satisfies Algorithms;
