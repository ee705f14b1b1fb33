import type { Socket } from 'node:net';
import ssh2 from 'ssh2';
import { algorithms } from './algorithms.ts';
import type { ConnectionLimiter } from '../connection-limiter.ts';
import { createClientConnection } from './connection.ts';
import type { ClientConnection } from './connection.ts';
import type { SshLimits } from '../limits.ts';
import type { SshDeps } from '../deps.ts';
import { socketOf } from './ssh2-internals.ts';

export interface Connections {
  /** Takes over the paused socket of a new client. */
  accept(socket: Socket): void;
  /** Closes idle connections; running commands continue. */
  closeIdle(): void;
  /** Closes every connection. */
  destroyAll(): void;
}

interface ConnectionsDeps {
  /** In OpenSSH format or PEM, the preferred one first. */
  privateKeys: readonly string[];
  limiter: ConnectionLimiter;
  limits: SshLimits;
  deps: SshDeps;
}

/** The SSH protocol itself: loaded for the first client, since ssh2 would take a tenth of each start. */
export function createConnections({ privateKeys, limiter, limits, deps }: ConnectionsDeps): Connections {
  const guests = new Map<Socket, ClientConnection>();
  const ssh = new ssh2.Server({
    hostKeys: [...privateKeys],
    algorithms,
    ident: 'Hearth',
    keepaliveInterval: limits.keepaliveMs,
    keepaliveCountMax: limits.keepalivesMissed,
  });
  ssh.on('connection', (connection: ssh2.Connection) => guests.get(socketOf(connection))?.meet(connection));
  ssh.on('error', (error: Error) => deps.logger.error('ssh.server_error', { error }));

  return {
    accept(socket) {
      const { remoteAddress } = socket;
      // The client has already disconnected.
      if (remoteAddress === undefined) return void socket.destroy();
      const guest = createClientConnection({
        socket,
        limiter,
        limits,
        deps,
        address: remoteAddress,
        begin: () => void ssh.injectSocket(socket),
      });
      guests.set(socket, guest);
      socket.once('close', () => guests.delete(socket));
    },
    closeIdle() {
      for (const guest of guests.values()) guest.finish();
    },
    destroyAll() {
      for (const socket of guests.keys()) socket.destroy();
    },
  };
}
