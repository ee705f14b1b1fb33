import { createHash, createPublicKey, diffieHellman, encapsulate, generateKeyPairSync } from 'node:crypto';
import type { Connection } from 'ssh2';
import { sshString } from '../../openssh/index.ts';

/*
 * Post-quantum key exchange for ssh2 1.17, which has none: ML-KEM-768 combined with X25519
 * (draft-ietf-sshm-mlkem-hybrid-kex), which OpenSSH prefers since 10.0. Recorded traffic stays secret from a later
 * quantum computer; X25519 protects it if ML-KEM turns out to be weak.
 *
 * ssh2 creates its key exchanges in a private function, by the negotiated name. Its exchange on Curve25519 has the same
 * messages (30 and 31) and the same hash; only their content and the shared secret differ. So when a client's KEXINIT
 * negotiates our name, ssh2 is given `curve25519-sha256` instead, and its exchange object gets three functions of ours
 * and the client's original KEXINIT, which is part of the data that the host key signs. If an upgrade of ssh2 changes
 * any of this, the signature no longer verifies and test/ssh/mlkem.test.ts fails; other clients are not affected.
 * package.json pins ssh2 exactly.
 */

const mlkemKeyExchange = 'mlkem768x25519-sha256';
const substitutedKex = 'curve25519-sha256';

const kexInitMessage = 20;
/** The first list, the names of key exchanges, follows message number and cookie (RFC 4253 §7.1). */
const listAt = 17;
const listCount = 10;

/** FIPS 203, table 3, and RFC 7748: a client sends an encapsulation key and a public key. */
const encapsulationKeyBytes = 1_184;
const x25519Bytes = 32;

/** The SubjectPublicKeyInfo header before the key: the form in which Node reads raw keys. */
const mlkemPrefix = Buffer.from('308204b2300b0609608648016503040402038204a100', 'hex');
const x25519Prefix = Buffer.from('302a300506032b656e032100', 'hex');

interface Names {
  array: string[];
}

interface Offer {
  lists: Record<'kex' | 'serverHostKey', Names> & Record<'cs' | 'sc', Record<'cipher' | 'mac' | 'compress', Names>>;
}

interface KeyExchange {
  negotiated: { kex: string };
  _remoteKexinit: Buffer;
  getPublicKey(): Buffer | undefined;
  convertPublicKey(theirs: Buffer): Buffer;
  computeSecret(theirs: Buffer): Buffer | Error;
}

interface ProtocolInside {
  _offer: Offer;
  _kex: KeyExchange | undefined;
  _skipNextInboundPacket: boolean;
  _onPayload(payload: Buffer): unknown;
  _decipher: { _onPayload(payload: Buffer): unknown };
}

/**
 * Offers the exchange to a client, before all others, and runs it if negotiated. Must be called after the client has
 * identified itself and before the server's own KEXINIT is sent: on ssh2's event "connection".
 */
export function offerMlkem(connection: Connection): void {
  const protocol = (connection as { _protocol?: ProtocolInside })._protocol;
  if (protocol === undefined) throw new Error('this version of ssh2 keeps its protocol elsewhere');
  protocol._offer = withMlkem(protocol._offer);
  // The first exchange and later re-keying use different objects.
  for (const place of [protocol._decipher, protocol]) {
    const next = place._onPayload;
    place._onPayload = (payload) => {
      const init = payload[0] === kexInitMessage ? readKexInit(payload, protocol._offer) : null;
      if (init === null) return next.call(place, payload);
      const before = protocol._kex;
      const result = next.call(place, init.shown);
      // Skipped if ssh2 refused the message.
      if (protocol._kex === undefined || protocol._kex === before) return result;
      // ssh2 intends this for wrong guesses, but does it for all.
      protocol._skipNextInboundPacket = init.isWrongGuess;
      if (init.isOurs) Object.assign(protocol._kex, exchange(protocol._kex, payload));
      return result;
    };
  }
}

const offers = new WeakMap<Offer, Offer>();

/** The configuration of ssh2 refuses unknown names, but they are not checked at this point. */
function withMlkem(offer: Offer): Offer {
  const known = offers.get(offer);
  if (known !== undefined) return known;
  const { kex, serverHostKey, cs } = offer.lists;
  const both = { cipher: cs.cipher.array, mac: cs.mac.array, compress: cs.compress.array, lang: [] };
  const KexInit = offer.constructor as new (lists: object) => Offer;
  const made = new KexInit({
    kex: [mlkemKeyExchange, ...kex.array],
    serverHostKey: serverHostKey.array,
    cs: both,
    sc: both,
  });
  offers.set(offer, made);
  return made;
}

interface KexInit {
  /** Whether our exchange is negotiated: the first name of the client's list that we offer (RFC 4253 §7.1). */
  isOurs: boolean;
  /** The message for ssh2: unchanged, except for the replaced name if our exchange is negotiated. */
  shown: Buffer;
  /** A packet of a wrongly guessed exchange follows and must be ignored (RFC 4253 §7). */
  isWrongGuess: boolean;
}

/**
 * @returns null if it is malformed; ssh2 then reports the error
 */
function readKexInit(payload: Buffer, { lists }: Offer): KexInit | null {
  const names: string[][] = [];
  const ends: number[] = [];
  let at = listAt;
  for (let list = 0; list < listCount; list += 1) {
    if (at + 4 > payload.length) return null;
    const end = at + 4 + payload.readUInt32BE(at);
    if (end > payload.length) return null;
    names.push(payload.toString('utf8', at + 4, end).split(','));
    ends.push((at = end));
  }
  const [kex = [], hostKey = []] = names;
  const isGuess = payload[at] === 1;
  const isRightGuess = kex[0] === lists.kex.array[0] && hostKey[0] === lists.serverHostKey.array[0];
  const agreed = kex.findIndex((name) => lists.kex.array.includes(name));
  const isOurs = kex[agreed] === mlkemKeyExchange;
  const rest = payload.subarray(ends[0]);
  const shown = isOurs
    ? Buffer.concat([payload.subarray(0, listAt), sshString(kex.with(agreed, substitutedKex).join(',')), rest])
    : payload;
  return { isOurs, shown, isWrongGuess: isGuess && !isRightGuess };
}

/** The differences from ssh2's exchange on Curve25519; messages, hash, signature and key derivation are the same. */
function exchange(made: KeyExchange, clientKexInit: Buffer): Partial<KeyExchange> {
  let reply: Buffer | undefined;
  return {
    _remoteKexinit: clientKexInit,
    negotiated: Object.assign(made.negotiated, { kex: mlkemKeyExchange }),
    // Both sides' bytes go into the hash unchanged: they are strings here, not numbers.
    convertPublicKey: (theirs) => theirs,
    // ssh2 calls this after it has computed the secret.
    getPublicKey: () => reply,
    computeSecret(theirs) {
      try {
        const response = respond(theirs);
        reply = response.reply;
        return response.secret;
      } catch (error) {
        return error as Error;
      }
    },
  };
}

/**
 * The server's part, from the bytes of the client: the reply, and the shared secret. Throws for a wrong length, an
 * invalid encapsulation key, and a point of small order.
 */
function respond(theirs: Buffer): { reply: Buffer; secret: Buffer } {
  if (theirs.length !== encapsulationKeyBytes + x25519Bytes) throw new Error('the public keys have a wrong length');
  const spki = (prefix: Buffer, key: Buffer) =>
    createPublicKey({ key: Buffer.concat([prefix, key]), format: 'der', type: 'spki' });
  const encapsulationKey = spki(mlkemPrefix, theirs.subarray(0, encapsulationKeyBytes));
  const theirPoint = spki(x25519Prefix, theirs.subarray(encapsulationKeyBytes));
  const { sharedKey, ciphertext } = encapsulate(encapsulationKey);
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const ourPoint = publicKey.export({ format: 'der', type: 'spki' }).subarray(x25519Prefix.length);
  const secret = createHash('sha256')
    .update(sharedKey)
    .update(diffieHellman({ privateKey, publicKey: theirPoint }))
    .digest();
  return { reply: Buffer.concat([ciphertext, ourPoint]), secret };
}
