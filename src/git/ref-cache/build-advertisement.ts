import type { Service } from './capabilities.ts';
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

/** Characters that are encoded at a time. As one string, a hundred thousand refs would be in memory three times. */
const pieceLength = 64 * 1024;

class PacketWriter {
  readonly #pieces: Buffer[] = [];
  #text = '';

  /** @param text one character per byte, without the line break */
  line(text: string): void {
    this.#text += `${hexLength(text.length + 5)}${text}\n`;
    if (this.#text.length > pieceLength) this.#encode();
  }

  /** The packets with a flush behind them. */
  end(): Buffer {
    this.#text += flush;
    this.#encode();
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
  }

  #encode(): void {
    this.#pieces.push(Buffer.from(this.#text, 'latin1'));
    this.#text = '';
  }
}

/** As four hexadecimal digits. */
const lengths: string[] = [];
const hexLength = (length: number): string => (lengths[length] ??= length.toString(16).padStart(4, '0'));

/**
 * The advertisement of versions 0 and 1: every ref, capabilities behind the first.
 * @param capabilities the line that git would send
 */
export function buildAdvertisement(
  snapshot: RefSnapshot,
  service: Service,
  capabilities: string,
  isVersion1: boolean,
): Buffer {
  const packets = new PacketWriter();
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
  const { target, ref } = snapshot.head;
  const packets = new PacketWriter();
  if (unborn && symrefs && ref === null && target !== null && isWanted('HEAD')) {
    packets.line(`unborn HEAD symref-target:${target}`);
  }
  for (const { name, oid, peeled } of withHead(snapshot)) {
    if (!isWanted(name)) continue;
    const leads = symrefs && name === 'HEAD' && target !== null ? ` symref-target:${target}` : '';
    packets.line(`${oid} ${name}${leads}${peel && peeled ? ` peeled:${peeled}` : ''}`);
  }
  return packets.end();
}

/** Pushes do not see the refs of pull requests: `git push --mirror` would delete them. */
const writable = ({ refs }: RefSnapshot) => refs.filter(({ name }) => !name.startsWith('refs/pull/'));

function* withHead({ refs, head }: RefSnapshot) {
  if (head.ref !== null) yield { ...head.ref, name: 'HEAD' };
  yield* refs;
}

const idDigits = (capabilities: string): number => (capabilities.includes('object-format=sha256') ? 64 : 40);
