import type { Service } from './capabilities.ts';
import type { RefEntry } from './ref-files.ts';
import type { RefSnapshot } from './ref-snapshot.ts';

/** The arguments of a client's `ls-refs` (gitprotocol-v2). */
export interface LsRefsRequest {
  symrefs: boolean;
  peel: boolean;
  unborn: boolean;
  /** One character per byte; empty for all refs. */
  prefixes: readonly string[];
}

const flush = '0000';

/** Number of characters encoded at a time. As one string, a hundred thousand refs would be in memory three times. */
const pieceLength = 4_096;
const smallestBytes = 8_192;

class PacketWriter {
  #bytes: Buffer;
  #length = 0;
  #text = '';

  /**
   * @param expectedBytes an estimate; the buffer doubles whenever it is full
   */
  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(expectedBytes, smallestBytes));
  }

  /** @param text one character per byte, without the line break */
  line(text: string): void {
    this.#text += `${hexLength(text.length + 5)}${text}\n`;
    if (this.#text.length > pieceLength) this.#encode();
  }

  /** The packets, followed by a flush packet. */
  end(): Buffer {
    this.#text += flush;
    this.#encode();
    const bytes = this.#bytes.subarray(0, this.#length);
    // Copied, because a cached result must not hold unused memory.
    return this.#length > this.#bytes.length / 2 ? bytes : Buffer.from(bytes);
  }

  #encode(): void {
    const needed = this.#length + this.#text.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#length += this.#bytes.write(this.#text, this.#length, 'latin1');
    this.#text = '';
  }
}

/** The bytes of a listing of these refs, without peeled ids. */
function expectedBytes(refs: readonly RefEntry[]): number {
  let bytes = 0;
  for (const { name, oid } of refs) bytes += lengthDigits + oid.length + 1 + name.length + 1;
  return bytes + besidesRefs;
}

const lengthDigits = 4;
/** HEAD and the capabilities. */
const besidesRefs = 512;

/** As four hexadecimal digits. */
const lengths: string[] = [];
const hexLength = (length: number): string => (lengths[length] ??= length.toString(16).padStart(4, '0'));

/**
 * The advertisement of versions 0 and 1: every ref, capabilities after the first.
 * @param capabilities the line that git would send
 */
export function buildAdvertisement(
  snapshot: RefSnapshot,
  service: Service,
  capabilities: string,
  isVersion1: boolean,
): Buffer {
  const packets = new PacketWriter(expectedBytes(snapshot.refs));
  if (isVersion1) packets.line('version 1');
  let suffix = `\0${capabilities}`;
  const add = (line: string): void => {
    packets.line(line + suffix);
    suffix = '';
  };
  for (const { name, oid, peeled } of service === 'upload-pack' ? withHead(snapshot) : writable(snapshot)) {
    add(`${oid} ${name}`);
    if (service === 'upload-pack' && peeled) add(`${peeled} ${name}^{}`);
  }
  if (suffix !== '') add(`${'0'.repeat(idDigits(capabilities))} capabilities^{}`);
  return packets.end();
}

/** The response to `ls-refs`. */
export function buildList(snapshot: RefSnapshot, { symrefs, peel, unborn, prefixes }: LsRefsRequest): Buffer {
  const isWanted = (name: string) => prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix));
  const { target, ref: tip } = snapshot.head;
  const refs = prefixes.length === 0 ? snapshot.refs : snapshot.refs.filter(({ name }) => isWanted(name));
  const packets = new PacketWriter(expectedBytes(refs));
  const peeledId = ({ peeled }: RefEntry): string => (peel && peeled ? ` peeled:${peeled}` : '');
  if (isWanted('HEAD')) {
    const leads = symrefs && target !== null ? ` symref-target:${target}` : '';
    if (tip !== null) packets.line(`${tip.oid} HEAD${leads}${peeledId(tip)}`);
    else if (unborn && leads !== '') packets.line(`unborn HEAD${leads}`);
  }
  for (const ref of refs) packets.line(`${ref.oid} ${ref.name}${peeledId(ref)}`);
  return packets.end();
}

/** Pushes do not see pull request refs: `git push --mirror` would delete them. */
const writable = ({ refs }: RefSnapshot) => refs.filter(({ name }) => !name.startsWith('refs/pull/'));

function* withHead({ refs, head }: RefSnapshot) {
  if (head.ref !== null) yield { ...head.ref, name: 'HEAD' };
  yield* refs;
}

const idDigits = (capabilities: string): number => (capabilities.includes('object-format=sha256') ? 64 : 40);
