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

/** @param text one character per byte */
const packet = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

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
  const lines: string[] = [];
  for (const { name, oid, peeled } of service === 'upload-pack' ? withHead(snapshot) : writable(snapshot)) {
    lines.push(`${oid} ${name}`);
    if (service === 'upload-pack' && peeled) lines.push(`${peeled} ${name}^{}`);
  }
  if (lines.length === 0) lines.push(`${'0'.repeat(idDigits(capabilities))} capabilities^{}`);
  const [first, ...rest] = lines;
  const packets = [`${first}\0${capabilities}`, ...rest].map((line) => packet(`${line}\n`));
  return Buffer.from([isVersion1 ? packet('version 1\n') : '', ...packets, flush].join(''), 'latin1');
}

/** The response to `ls-refs`. */
export function buildList(snapshot: RefSnapshot, { symrefs, peel, unborn, prefixes }: LsRefsRequest): Buffer {
  const isWanted = (name: string) => prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix));
  const { target, ref } = snapshot.head;
  const lines: string[] = [];
  if (unborn && symrefs && ref === null && target !== null && isWanted('HEAD')) {
    lines.push(`unborn HEAD symref-target:${target}`);
  }
  for (const { name, oid, peeled } of withHead(snapshot)) {
    if (!isWanted(name)) continue;
    const leads = symrefs && name === 'HEAD' && target !== null ? ` symref-target:${target}` : '';
    lines.push(`${oid} ${name}${leads}${peel && peeled ? ` peeled:${peeled}` : ''}`);
  }
  return Buffer.from(lines.map((line) => packet(`${line}\n`)).join('') + flush, 'latin1');
}

/** Pushes do not see the refs of pull requests: `git push --mirror` would delete them. */
const writable = ({ refs }: RefSnapshot) => refs.filter(({ name }) => !name.startsWith('refs/pull/'));

function withHead({ refs, head }: RefSnapshot) {
  return head.ref === null ? refs : [{ ...head.ref, name: 'HEAD' }, ...refs];
}

const idDigits = (capabilities: string): number => (capabilities.includes('object-format=sha256') ? 64 : 40);
