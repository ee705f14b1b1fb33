import type { Socket } from 'node:net';
import type { Connection, Session } from 'ssh2';
import { sshString, uint32 } from '../../openssh/index.ts';

/*
 * Private members of ssh2 1.17 that the server needs. package.json pins it exactly; the tests of this module fail if an
 * upgrade changes any of this.
 */

interface ConnectionInside {
  _sock?: Socket;
  _protocol?: ProtocolInside;
}

interface ProtocolInside {
  /** Our KEXINIT of a key exchange in progress. */
  _kexinit?: Buffer;
  _kex: { remoteExtInfoEnabled: boolean };
  _cipher: { allocPacket(payloadBytes: number): Buffer; encrypt(packet: Buffer): void };
  _onHandshakeComplete(...details: unknown[]): void;
  channelOpenFail(recipient: number, reason: number, description?: string): void;
}

interface SessionInside {
  _chanInfo?: { outgoing?: { packetSize?: number } };
}

/** The socket of a connection. */
export function socketOf(connection: Connection): Socket {
  const socket = (connection as ConnectionInside)._sock;
  if (socket === undefined) throw new Error('this version of ssh2 keeps its socket elsewhere');
  return socket;
}

/** Whether a key exchange is in progress. Until it ends, ssh2 buffers all output in an unbounded list. */
export function isAgreeingOnKeys(connection: Connection): boolean {
  return (connection as ConnectionInside)._protocol?._kexinit !== undefined;
}

/**
 * The client's maximum packet size in bytes. ssh2 splits its output by that size without a check: zero would make it
 * loop forever.
 */
export function packetSizeOf(session: Session): number {
  return (session as SessionInside)._chanInfo?.outgoing?.packetSize ?? 0;
}

/**
 * Sends the client the algorithms by which it may sign (RFC 8308, `server-sig-algs`). The list of ssh2 lacks a comma,
 * so that RSA with SHA-512 and ECDSA on P-521 seem unknown, and it includes SHA-1 and DSA, which are refused here. Must
 * be called before the first key exchange.
 */
export function sendSignatureAlgorithms(connection: Connection, names: readonly string[]): void {
  const protocol = (connection as ConnectionInside)._protocol;
  if (protocol === undefined) throw new Error('this version of ssh2 keeps its protocol elsewhere');
  const complete = protocol._onHandshakeComplete;
  protocol._onHandshakeComplete = (...details) => {
    protocol._onHandshakeComplete = complete;
    if (protocol._kex.remoteExtInfoEnabled) {
      // ssh2 checks this next, and then sends no list.
      protocol._kex.remoteExtInfoEnabled = false;
      send(protocol, extInfo(names));
    }
    complete(...details);
  };
}

/** Sends the reason of a disconnect (RFC 4253 §11.1), which ssh2 never does. Clients show it to their users. */
export function sendDisconnectReason(connection: Connection, code: number, words: string): void {
  const protocol = (connection as ConnectionInside)._protocol;
  if (protocol === undefined) throw new Error('this version of ssh2 keeps its protocol elsewhere');
  send(protocol, Buffer.concat([Buffer.from([disconnectMessage]), uint32(code), sshString(words), sshString('')]));
}

/** Adds a description to refusals of tunnels (`ssh -W`, `-L`), which ssh shows; those of ssh2 have none. */
export function describeRefusedChannels(connection: Connection, description: string): void {
  const protocol = (connection as ConnectionInside)._protocol;
  if (protocol === undefined) throw new Error('this version of ssh2 keeps its protocol elsewhere');
  const refuse = protocol.channelOpenFail.bind(protocol);
  protocol.channelOpenFail = (recipient, reason) =>
    refuse(recipient, reason, reason === administrativelyProhibited ? description : '');
}

function send({ _cipher }: ProtocolInside, payload: Buffer): void {
  const packet = _cipher.allocPacket(payload.length);
  packet.set(payload, lengthAndPaddingBytes);
  _cipher.encrypt(packet);
}

const lengthAndPaddingBytes = 5;
const disconnectMessage = 1;
const extInfoMessage = 7;
/** RFC 4254 §5.1. */
const administrativelyProhibited = 1;

function extInfo(names: readonly string[]): Buffer {
  return Buffer.concat([
    Buffer.from([extInfoMessage]),
    uint32(1),
    sshString('server-sig-algs'),
    sshString(names.join(',')),
  ]);
}
