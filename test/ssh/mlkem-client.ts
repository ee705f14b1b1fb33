// The client's side of SSH's transport, as far as the hybrid key exchange needs it: written from the drafts and RFC
// 4253 alone, so that it shares no code with what it tests.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPublicKey,
  decapsulate,
  diffieHellman,
  generateKeyPairSync,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import type { KeyPairKeyObjectResult } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';

const identification = 'SSH-2.0-Tester';
const messages = {
  serviceRequest: 5,
  serviceAccept: 6,
  kexInit: 20,
  newKeys: 21,
  hybridInit: 30,
  hybridReply: 31,
  signInRequest: 50,
  signedIn: 52,
  globalRequest: 80,
  requestFailed: 82,
};
const cipher = 'aes128-gcm@openssh.com';
const tagBytes = 16;

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
export const sshString = (value: string | Buffer) => Buffer.concat([uint32(value.length), Buffer.from(value)]);

/** Parses the strings of a message one after the other. */
function strings(bytes: Buffer, at: number, count: number): Buffer[] {
  return Array.from({ length: count }, () => {
    const length = bytes.readUInt32BE(at);
    const value = bytes.subarray(at + 4, at + 4 + length);
    at += 4 + length;
    return value;
  });
}

interface Keys {
  key: Buffer;
  /** Four fixed bytes and an eight-byte counter (RFC 5647 §7.1). */
  iv: Buffer;
}

interface HybridKeys {
  /** What a client sends: encapsulation key and X25519 key. */
  sent: Buffer;
  secret(reply: Buffer): Buffer;
}

const rawKey = (key: { export(form: { format: 'der'; type: 'spki' }): Buffer }, bytes: number) =>
  key.export({ format: 'der', type: 'spki' }).subarray(-bytes);

/** draft-ietf-sshm-mlkem-hybrid-kex, for ML-KEM-768 and X25519. */
export function hybridKeys(): HybridKeys {
  const mlkem = generateKeyPairSync('ml-kem-768');
  const x25519 = generateKeyPairSync('x25519');
  return {
    sent: Buffer.concat([rawKey(mlkem.publicKey, 1_184), rawKey(x25519.publicKey, 32)]),
    secret(reply) {
      if (reply.length !== 1_088 + 32) throw new Error(`a reply of ${reply.length} bytes`);
      const point = Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), reply.subarray(1_088)]);
      const publicKey = createPublicKey({ key: point, format: 'der', type: 'spki' });
      return createHash('sha256')
        .update(decapsulate(mlkem.privateKey, reply.subarray(0, 1_088)))
        .update(diffieHellman({ privateKey: x25519.privateKey, publicKey }))
        .digest();
    },
  };
}

export class MlkemClient {
  readonly #socket: Socket;
  #read: Buffer = Buffer.alloc(0);
  #serverIdentification = '';
  #sending: Keys | null = null;
  #receiving: Keys | null = null;
  #sessionId: Buffer | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => (this.#read = Buffer.concat([this.#read, bytes])));
  }

  async introduce(): Promise<void> {
    this.#socket.write(`${identification}\r\n`);
    while (!this.#read.includes('\r\n')) await this.#more();
    const end = this.#read.indexOf('\r\n');
    this.#serverIdentification = this.#read.subarray(0, end).toString();
    this.#read = this.#read.subarray(end + 2);
  }

  /** @param guesses whether a guessed exchange packet follows at once */
  kexInit(names: readonly string[], guesses = false): Buffer {
    const lists = [names.join(','), 'ssh-ed25519', cipher, cipher, 'hmac-sha2-256', 'hmac-sha2-256', 'none', 'none'];
    return Buffer.concat([
      Buffer.from([messages.kexInit]),
      randomBytes(16),
      ...[...lists, '', ''].map(sshString),
      Buffer.from([guesses ? 1 : 0]),
      uint32(0),
    ]);
  }

  /**
   * A complete exchange, from KEXINIT to new keys. Fails if the host key has not signed what both should have seen.
   * @returns the length of the server's reply
   */
  async exchange(names: readonly string[], { guesses = false, wrongGuess = false } = {}): Promise<number> {
    const clientInit = this.kexInit(names, guesses || wrongGuess);
    this.send(clientInit);
    if (wrongGuess) this.send(Buffer.concat([Buffer.from([messages.hybridInit]), sshString(randomBytes(1_190))]));
    const keys = hybridKeys();
    const ours = Buffer.concat([Buffer.from([messages.hybridInit]), sshString(keys.sent)]);
    if (guesses) this.send(ours);
    const serverInit = await this.receive(messages.kexInit);
    if (!guesses) this.send(ours);
    const [hostKey, reply, signature] = strings(await this.receive(messages.hybridReply), 1, 3) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    const secret = sshString(keys.secret(reply));
    const hash = createHash('sha256');
    for (const part of [identification, this.#serverIdentification, clientInit, serverInit, hostKey, keys.sent, reply])
      hash.update(sshString(part));
    const exchangeHash = hash.update(secret).digest();
    const [, point] = strings(hostKey, 0, 2) as [Buffer, Buffer];
    const key = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), point]);
    const [, bare] = strings(signature, 0, 2) as [Buffer, Buffer];
    if (!verify(null, exchangeHash, { key, format: 'der', type: 'spki' }, bare)) throw new Error('a wrong signature');

    this.#sessionId ??= exchangeHash;
    const derive = (letter: string, bytes: number) =>
      createHash('sha256')
        .update(secret)
        .update(exchangeHash)
        .update(letter)
        .update(this.#sessionId!)
        .digest()
        .subarray(0, bytes);
    await this.receive(messages.newKeys);
    this.send(Buffer.from([messages.newKeys]));
    this.#sending = { iv: derive('A', 12), key: derive('C', 16) };
    this.#receiving = { iv: derive('B', 12), key: derive('D', 16) };
    return reply.length;
  }

  send(payload: Buffer): void {
    const block = this.#sending === null ? 8 : 16;
    const counted = this.#sending === null ? 5 : 1;
    const padding = block - ((payload.length + counted) % block) + block;
    const length = uint32(payload.length + 1 + padding);
    const body = Buffer.concat([Buffer.from([padding]), payload, Buffer.alloc(padding)]);
    if (this.#sending === null) return void this.#socket.write(Buffer.concat([length, body]));
    const sealing = createCipheriv('aes-128-gcm', this.#sending.key, this.#sending.iv).setAAD(length);
    this.#socket.write(Buffer.concat([length, sealing.update(body), sealing.final(), sealing.getAuthTag()]));
    advance(this.#sending.iv);
  }

  /** Signs in with an Ed25519 key (RFC 4252 §7). */
  async signIn({ publicKey, privateKey }: KeyPairKeyObjectResult): Promise<void> {
    this.send(Buffer.concat([Buffer.from([messages.serviceRequest]), sshString('ssh-userauth')]));
    await this.receive(messages.serviceAccept);
    const key = Buffer.concat([sshString('ssh-ed25519'), sshString(rawKey(publicKey, 32))]);
    const request = Buffer.concat([
      Buffer.from([messages.signInRequest]),
      ...['git', 'ssh-connection', 'publickey'].map(sshString),
      Buffer.from([1]),
      sshString('ssh-ed25519'),
      sshString(key),
    ]);
    const signature = sign(null, Buffer.concat([sshString(this.#sessionId!), request]), privateKey);
    const signed = Buffer.concat([sshString('ssh-ed25519'), sshString(signature)]);
    this.send(Buffer.concat([request, sshString(signed)]));
    await this.receive(messages.signedIn);
  }

  /** Sends a message that needs a reply, and waits for it: proves that both sides' keys agree. */
  async talk(): Promise<void> {
    const request = [Buffer.from([messages.globalRequest]), sshString('keepalive@openssh.com'), Buffer.from([1])];
    this.send(Buffer.concat(request));
    await this.receive(messages.requestFailed);
  }

  /** The next message, which has to be of this kind; its number is the first byte. */
  async receive(kind: number): Promise<Buffer> {
    const tag = this.#receiving === null ? 0 : tagBytes;
    while (this.#read.length < 4 || this.#read.length < 4 + this.#read.readUInt32BE(0) + tag) await this.#more();
    const end = 4 + this.#read.readUInt32BE(0);
    let body = this.#read.subarray(4, end);
    if (this.#receiving !== null) {
      const opening = createDecipheriv('aes-128-gcm', this.#receiving.key, this.#receiving.iv)
        .setAAD(this.#read.subarray(0, 4))
        .setAuthTag(this.#read.subarray(end, end + tag));
      body = Buffer.concat([opening.update(body), opening.final()]);
      advance(this.#receiving.iv);
    }
    this.#read = this.#read.subarray(end + tag);
    const payload = Buffer.from(body.subarray(1, body.length - body[0]!));
    if (payload[0] !== kind) throw new Error(`message ${payload[0]} in place of ${kind}`);
    return payload;
  }

  async #more(): Promise<void> {
    const closed = new AbortController();
    const onClose = () => closed.abort(new Error('the server has closed the connection'));
    this.#socket.once('close', onClose);
    if (this.#socket.destroyed) onClose();
    await once(this.#socket, 'data', { signal: closed.signal }).finally(() => this.#socket.off('close', onClose));
  }
}

function advance(iv: Buffer): void {
  iv.writeBigUInt64BE(BigInt.asUintN(64, iv.readBigUInt64BE(4) + 1n), 4);
}
