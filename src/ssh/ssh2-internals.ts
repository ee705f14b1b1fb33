import type { Socket } from 'node:net';
import type { Connection, Session } from 'ssh2';

/*
 * The three things that the server must know and that ssh2 1.17 does not tell.
 * package.json pins ssh2 exactly; the tests of this room fail if an upgrade moves
 * any of them.
 */

interface ConnectionInside {
  _sock?: Socket;
  _protocol?: { _kexinit?: Buffer };
}

interface SessionInside {
  _chanInfo?: { outgoing?: { packetSize?: number } };
}

/** The socket under a connection. */
export function socketOf(connection: Connection): Socket {
  const socket = (connection as ConnectionInside)._sock;
  if (socket === undefined) throw new Error('this version of ssh2 keeps its socket elsewhere');
  return socket;
}

/**
 * Whether new keys are being agreed on. Until that ends, ssh2 keeps everything that
 * is written in an unbounded list instead of the socket.
 */
export function isAgreeingOnKeys(connection: Connection): boolean {
  return (connection as ConnectionInside)._protocol?._kexinit !== undefined;
}

/**
 * The largest packet that the client takes, in bytes. ssh2 cuts its output to that
 * size without looking: zero would keep it in a loop for ever.
 */
export function packetSizeOf(session: Session): number {
  return (session as SessionInside)._chanInfo?.outgoing?.packetSize ?? 0;
}
