import { createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Connection } from 'ssh2';
import { freeMemory } from '../../kernel/index.ts';

/*
 * Costs of each packet in ssh2 1.17, besides its encryption:
 * - memory for the packet and for its encrypted form, 32 KiB each. Over a large clone these made the garbage collector
 *   walk the whole heap a dozen times, which took half of the server's CPU time. Here they are freed as soon as nothing
 *   reads them anymore.
 * - a cipher (AES-GCM) or an HMAC (AES-CTR). Node takes 12 µs to create one from the bytes of a key, nearly all of it
 *   to find out that they are not a KeyObject, and 2 µs to create it from a KeyObject.
 */

interface Encryption {
  /** Encrypts a packet and passes its parts to `_onWrite`. The packet is not used afterwards. */
  encrypt(packet: Buffer): void;
  _onWrite(part: Uint8Array): void;
  /** For AES-GCM. */
  _encKey?: Buffer | KeyObject;
  /** Absent or undefined if the cipher itself authenticates. */
  _macKey?: Buffer | KeyObject;
}

interface Decryption {
  /** For AES-GCM. */
  _decipherKey?: Buffer | KeyObject;
  _macKey?: Buffer | KeyObject;
}

interface ProtocolInside {
  /** Each key exchange replaces both. */
  _cipher: Encryption;
  _decipher: Decryption | undefined;
}

/** Must be called before the first key exchange. */
export function makeCiphersCheaper(connection: Connection, socket: Socket): void {
  const protocol = (connection as { _protocol?: ProtocolInside })._protocol;
  if (protocol === undefined) throw new Error('this version of ssh2 keeps its protocol elsewhere');
  changeEach(protocol, '_cipher', (cipher) => {
    if (cipher._encKey !== undefined) cipher._encKey = asKeyObject(cipher._encKey);
    if (cipher._macKey !== undefined) cipher._macKey = asKeyObject(cipher._macKey);
    freeEarly(cipher, socket);
  });
  changeEach(protocol, '_decipher', (decipher) => {
    if (decipher._decipherKey !== undefined) decipher._decipherKey = asKeyObject(decipher._decipherKey);
    if (decipher._macKey !== undefined) decipher._macKey = asKeyObject(decipher._macKey);
  });
}

/** Calls `change` with every value that is assigned to the property from now on. */
function changeEach<Name extends keyof ProtocolInside>(
  protocol: ProtocolInside,
  name: Name,
  change: (made: NonNullable<ProtocolInside[Name]>) => void,
): void {
  let value = protocol[name];
  Object.defineProperty(protocol, name, {
    get: () => value,
    set: (made: ProtocolInside[Name]) => {
      value = made;
      if (made !== undefined) change(made as NonNullable<ProtocolInside[Name]>);
    },
  });
}

const asKeyObject = (key: Buffer | KeyObject): KeyObject => (Buffer.isBuffer(key) ? createSecretKey(key) : key);

function freeEarly(cipher: Encryption, socket: Socket): void {
  const { encrypt, _onWrite: write } = cipher;
  let packetMemory: ArrayBufferLike | null = null;
  cipher._onWrite = (part) => {
    // The length is sent from the packet itself.
    if (part.buffer === packetMemory) write(Buffer.from(part));
    else if (socket.writable) socket.write(part, (error) => void (error ? null : freeMemory(part)));
  };
  cipher.encrypt = (packet) => {
    packetMemory = packet.buffer;
    encrypt.call(cipher, packet);
    packetMemory = null;
    freeMemory(packet);
  };
}
