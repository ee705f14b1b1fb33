import type { Socket } from 'node:net';
import type { Connection, Session } from 'ssh2';
import { sshString, uint32 } from '../../openssh/index.ts';

/*
 * What the server needs of ssh2 1.17 and ssh2 keeps to itself. package.json pins it
 * exactly; the tests of this room fail if an upgrade moves anything of this.
 */

interface ConnectionInside {
  _sock?: Socket;
  _protocol?: ProtocolInside;
}

interface ProtocolInside {
  /** Our half of a key exchange that is under way. */
  _kexinit?: Buffer;
  _kex: { remoteExtInfoEnabled: boolean };
  _cipher: { allocPacket(payloadBytes: number): Buffer; encrypt(packet: Buffer): void };
  _onHandshakeComplete(...details: unknown[]): void;
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

/**
 * Tells the client by which algorithms it may sign (RFC 8308, `server-sig-algs`).
 * In the list that ssh2 would send a comma is missing, so that RSA with SHA-512 and
 * ECDSA on P-521 seem unknown, and SHA-1 and DSA, which are refused here, are in it.
 * To be called before the first key exchange.
 */
export function tellSignatureAlgorithms(connection: Connection, names: readonly string[]): void {
  const protocol = (connection as ConnectionInside)._protocol;
  if (protocol === undefined) throw new Error('this version of ssh2 keeps its protocol elsewhere');
  const complete = protocol._onHandshakeComplete;
  protocol._onHandshakeComplete = (...details) => {
    protocol._onHandshakeComplete = complete;
    if (protocol._kex.remoteExtInfoEnabled) {
      // ssh2 looks at this next, and then stays silent.
      protocol._kex.remoteExtInfoEnabled = false;
      send(protocol, extInfo(names));
    }
    complete(...details);
  };
}

/** Tells the client why the connection ends (RFC 4253 §11.1), which ssh2 never does. Programs show it to their users. */
export function tellReason(connection: Connection, code: number, words: string): void {
  const protocol = (connection as ConnectionInside)._protocol;
  if (protocol === undefined) throw new Error('this version of ssh2 keeps its protocol elsewhere');
  send(protocol, Buffer.concat([Buffer.from([disconnectMessage]), uint32(code), sshString(words), sshString('')]));
}

function send({ _cipher }: ProtocolInside, payload: Buffer): void {
  const packet = _cipher.allocPacket(payload.length);
  packet.set(payload, lengthAndPaddingBytes);
  _cipher.encrypt(packet);
}

const lengthAndPaddingBytes = 5;
const disconnectMessage = 1;
const extInfoMessage = 7;

function extInfo(names: readonly string[]): Buffer {
  return Buffer.concat([
    Buffer.from([extInfoMessage]),
    uint32(1),
    sshString('server-sig-algs'),
    sshString(names.join(',')),
  ]);
}
