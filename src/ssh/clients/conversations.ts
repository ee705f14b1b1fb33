import type { Socket } from 'node:net';
import ssh2 from 'ssh2';
import { algorithms } from './algorithms.ts';
import type { Door } from '../door.ts';
import { createGuest } from './guest.ts';
import type { Guest } from './guest.ts';
import type { SshLimits } from '../limits.ts';
import type { SshRooms } from '../rooms.ts';
import { socketOf } from './ssh2-internals.ts';

export interface Conversations {
  /** Looks after a client that has just connected, and whose socket nobody reads yet. */
  receive(socket: Socket): void;
  /** Closes who is idle; running commands go on. */
  finish(): void;
  /** Cuts every connection. */
  cut(): void;
}

export interface ConversationNeeds {
  /** In OpenSSH format. */
  privateKey: string;
  door: Door;
  limits: SshLimits;
  rooms: SshRooms;
}

/** Everything that speaks SSH: loaded with the first client, since ssh2 would be a tenth of each start. */
export function createConversations({ privateKey, door, limits, rooms }: ConversationNeeds): Conversations {
  const guests = new Map<Socket, Guest>();
  const ssh = new ssh2.Server({
    hostKeys: [privateKey],
    algorithms,
    ident: 'Hearth',
    keepaliveInterval: limits.keepaliveMs,
    keepaliveCountMax: limits.keepalivesMissed,
  });
  ssh.on('connection', (connection: ssh2.Connection) => guests.get(socketOf(connection))?.meet(connection));
  ssh.on('error', (error: Error) => rooms.logger.error('ssh.server_error', { error }));

  return {
    receive(socket) {
      const { remoteAddress } = socket;
      // The client has hung up already.
      if (remoteAddress === undefined) return void socket.destroy();
      const guest = createGuest({
        socket,
        door,
        limits,
        rooms,
        address: remoteAddress,
        begin: () => void ssh.injectSocket(socket),
      });
      guests.set(socket, guest);
      socket.once('close', () => guests.delete(socket));
    },
    finish() {
      for (const guest of guests.values()) guest.finish();
    },
    cut() {
      for (const socket of guests.keys()) socket.destroy();
    },
  };
}
