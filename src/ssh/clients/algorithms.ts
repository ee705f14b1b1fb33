import type { Algorithms } from 'ssh2';

/**
 * What the server offers, most wanted first (security §2.2). Nothing follows the
 * defaults of ssh2, so an upgrade never widens the list by itself. The post-quantum
 * key exchange, which ssh2 does not have, is put in front by `mlkem-key-exchange.ts`.
 *
 * chacha20-poly1305 is left out on purpose: OpenSSH clients prefer it, and without
 * a native addon it costs a quarter more time than AES, which the CPU does itself.
 * ssh2 adds the marker of strict key exchange to `kex` on its own.
 */
export const algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    // Old clients and those that are restricted to NIST curves, and devices with Diffie-Hellman alone.
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group14-sha256',
  ],
  serverHostKey: ['ssh-ed25519'],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes256-ctr'],
  // For the two CTR ciphers only; GCM carries its own proof. libssh2 has the `-etm` forms since 1.11
  // only, and neither of the GCM ciphers before: without the plain forms it cannot connect.
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
} satisfies Algorithms;
