import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import ssh2 from 'ssh2';
import { systemRandom, unavailable } from '../kernel/index.ts';
import type { Random } from '../kernel/index.ts';
import { algorithms } from './algorithms.ts';
import { createDoor } from './door.ts';
import { createGuest } from './guest.ts';
import type { Guest } from './guest.ts';
import { hostKey } from './host-key.ts';
import { defaultLimits } from './limits.ts';
import type { SshLimits } from './limits.ts';
import type { SshRooms } from './rooms.ts';
import { socketOf } from './ssh2-internals.ts';

export interface SshServerNeeds extends Omit<SshRooms, 'random'> {
  random?: Random;
  limits?: Partial<SshLimits>;
}

export interface SshServer {
  /**
   * Starts to accept connections, with the host key made if there is none.
   * Refuses `host_key_unusable`, `ssh_address_unavailable`.
   */
  listen(): Promise<{ host: string; port: number; fingerprint: string }>;
  /** Accepts nothing new, closes who is idle, and waits for running commands at most `graceMs`. */
  stop(options: { graceMs: number }): Promise<void>;
}

/** git over SSH, and a few commands besides (SPEC §4.5, security §2.2). */
export function createSshServer(needs: SshServerNeeds): SshServer {
  const rooms: SshRooms = { ...needs, random: needs.random ?? systemRandom };
  const limits: SshLimits = { ...defaultLimits, ...needs.limits };
  const door = createDoor({ limits, now: () => performance.now() });
  const guests = new Map<Socket, Guest>();
  // Nothing is read from a socket before its turn has come.
  const listener = createServer({ pauseOnConnect: true, noDelay: true });
  listener.maxConnections = limits.connections;

  function receive(ssh: ssh2.Server, socket: Socket): void {
    const { remoteAddress } = socket;
    // The client has hung up already.
    if (remoteAddress === undefined) return void socket.destroy();
    const guest = createGuest({
      socket, door, limits, rooms,
      address: remoteAddress,
      begin: () => void ssh.injectSocket(socket),
    });
    guests.set(socket, guest);
    socket.once('close', () => guests.delete(socket));
  }

  return {
    async listen() {
      const { privateKey, fingerprint } = await hostKey(needs.config.dataDir);
      const ssh = new ssh2.Server({
        hostKeys: [privateKey],
        algorithms,
        ident: 'Hearth',
        keepaliveInterval: limits.keepaliveMs,
        keepaliveCountMax: limits.keepalivesMissed,
      });
      ssh.on('connection', (connection: ssh2.Connection) => guests.get(socketOf(connection))?.meet(connection));
      ssh.on('error', (error: Error) => rooms.logger.error('ssh.server_error', { error }));
      listener.on('connection', (socket) => receive(ssh, socket));
      const { host, port } = await bind();
      return { host, port, fingerprint };
    },

    async stop({ graceMs }) {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      for (const guest of guests.values()) guest.finish();
      const end = setTimeout(() => {
        for (const socket of guests.keys()) socket.destroy();
      }, graceMs);
      await closed;
      clearTimeout(end);
      door.close();
    },
  };

  function bind(): Promise<{ host: string; port: number }> {
    const { host, port } = rooms.config.ssh.listen;
    return new Promise((resolve, reject) => {
      listener.once('error', (cause) => {
        reject(unavailable('ssh_address_unavailable', `Cannot listen for SSH on ${host}:${port}: ${cause.message}.`, { cause }));
      });
      listener.listen(port, host, () => {
        listener.removeAllListeners('error');
        listener.on('error', (error) => rooms.logger.error('ssh.server_error', { error }));
        resolve({ host, port: (listener.address() as AddressInfo).port });
      });
    });
  }
}
