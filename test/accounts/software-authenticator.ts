// createAuthenticator({origin, rpId}) → an authenticator of WebAuthn in a few lines: an ES256 key, and answers to the
// options of the server, each part of which a test can change.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface AuthenticatorOverrides {
  origin?: string;
  rpId?: string;
  challenge?: string;
  counter?: number;
  /** Flags of the authenticator data: 1 user present, 4 user verified. */
  flags?: number;
  type?: string;
  userHandle?: string | null;
  signature?: Buffer;
  id?: string;
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const present = 0x01;
const verified = 0x04;
const attested = 0x40;

/** CBOR (RFC 8949) of what a key and an attestation need: integers, bytes, texts, maps. */
function cbor(value: unknown): Buffer {
  const head = (major: number, count: number): Buffer =>
    count < 24
      ? Buffer.from([(major << 5) | count])
      : count < 256
        ? Buffer.from([(major << 5) | 24, count])
        : Buffer.from([(major << 5) | 25, count >> 8, count & 255]);
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  const map = value as Map<unknown, unknown>;
  return Buffer.concat([head(5, map.size), ...[...map].flatMap(([key, each]) => [cbor(key), cbor(each)])]);
}

export function createAuthenticator(home: { origin: string; rpId: string }) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  let counter = 0;
  let owner: string | null = null;

  const clientData = (challenge: string, type: string, changes: AuthenticatorOverrides): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: changes.type ?? type,
        challenge: changes.challenge ?? challenge,
        origin: changes.origin ?? home.origin,
        crossOrigin: false,
      }),
    );
  const authenticatorData = (flags: number, changes: AuthenticatorOverrides): Buffer => {
    const head = Buffer.alloc(5);
    head.writeUInt8(changes.flags ?? flags);
    head.writeUInt32BE(changes.counter ?? (counter += 1), 1);
    return Buffer.concat([sha256(changes.rpId ?? home.rpId), head]);
  };
  const credential = (changes: AuthenticatorOverrides, response: object): string => {
    const name = changes.id ?? id.toString('base64url');
    return JSON.stringify({ id: name, rawId: name, type: 'public-key', response });
  };

  return {
    id: id.toString('base64url'),
    /** What `navigator.credentials.create` returns for the options of the server. */
    create(options: { challenge: string; user: { id: string } }, changes: AuthenticatorOverrides = {}): string {
      owner = options.user.id;
      const key = new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const authData = Buffer.concat([
        authenticatorData(changes.flags === undefined ? present | verified | attested : changes.flags, changes),
        Buffer.alloc(16),
        length,
        id,
        cbor(key),
      ]);
      const attestation = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]);
      return credential(changes, {
        clientDataJSON: clientData(options.challenge, 'webauthn.create', changes).toString('base64url'),
        attestationObject: cbor(attestation).toString('base64url'),
        transports: ['internal'],
      });
    },
    /** What `navigator.credentials.get` returns. */
    get(options: { challenge: string }, changes: AuthenticatorOverrides = {}): string {
      const data = clientData(options.challenge, 'webauthn.get', changes);
      const authData = authenticatorData(present | verified, changes);
      const signature = changes.signature ?? sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey);
      const userHandle = changes.userHandle === undefined ? owner : changes.userHandle;
      return credential(changes, {
        clientDataJSON: data.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        ...(userHandle === null ? {} : { userHandle }),
      });
    },
  };
}
