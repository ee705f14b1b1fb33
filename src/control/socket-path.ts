import { closeSync, constants, openSync } from 'node:fs';
import path from 'node:path';

/** The longest address of a unix socket (108 bytes in Linux), without its terminating zero. */
const maxAddressBytes = 107;
const name = 'control.sock';

/**
 * The address of the socket in `run/` of a data folder. A path that is too long for an address goes through a
 * descriptor of its folder.
 * @returns also what to call once the address has been used
 */
export function socketAddress(dataDir: string): { address: string; used(): void } {
  const folder = path.join(dataDir, 'run');
  const plain = path.join(folder, name);
  if (Buffer.byteLength(plain) <= maxAddressBytes) return { address: plain, used() {} };
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  return { address: `/proc/self/fd/${descriptor}/${name}`, used: () => closeSync(descriptor) };
}

export const socketFile = (dataDir: string): string => path.join(dataDir, 'run', name);
