import { connect, isIPv6 } from 'node:net';
import { unavailable } from '../kernel/index.ts';
import { networkErrorMessage } from './network-error-message.ts';

/** Limit of addresses: each may take the whole connect timeout, and the caller waits for all of them. */
const maxTried = 8;

/**
 * Tries addresses in order, and closes the connection as soon as one is established. Without this, a host with IPv6
 * addresses would be unreachable for many programs on a network without IPv6.
 */
export async function findReachableAddress(
  addresses: readonly string[],
  port: number,
  connectMs: number,
): Promise<string> {
  if (addresses.length === 1) return addresses[0]!;
  const failures: unknown[] = [];
  for (const address of addresses.slice(0, maxTried)) {
    try {
      await tryConnect(address, port, connectMs);
      return address;
    } catch (error) {
      failures.push(error);
    }
  }
  throw unavailable(
    'peer_unreachable',
    `None of its addresses can be reached: ${networkErrorMessage(failures.at(-1))}.`,
    {
      cause: failures.at(-1),
    },
  );
}

function tryConnect(host: string, port: number, connectMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, family: isIPv6(host) ? 6 : 4 });
    const slow = setTimeout(
      () => socket.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
      connectMs,
    );
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
    socket.once('close', () => clearTimeout(slow));
  });
}
