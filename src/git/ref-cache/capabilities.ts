import type { RefSnapshot } from './ref-snapshot.ts';

export type Service = 'upload-pack' | 'receive-pack';

/**
 * The capabilities that the installed git announces before version 2. They depend on its version and on the settings of
 * server and repository, so they are learned from git's own responses and never hard-coded.
 */
export interface LearnedLine {
  /** Without the `symref` capability. */
  text: string;
  /** Position of the `symref` capability; null until a response contained it. */
  symrefAt: number | null;
}

const symref = / symref=HEAD:[^ ]+/;

/**
 * @returns null if the response contains a value that changes between responses
 */
export function learnLine(advertisement: Buffer): LearnedLine | null {
  const nul = advertisement.indexOf(0);
  const end = advertisement.indexOf(0x0a, nul);
  if (nul === -1 || end === -1) return null;
  const line = advertisement.toString('latin1', nul + 1, end);
  if (/ (?:session-id|push-cert)=/.test(line)) return null;
  const at = line.search(symref);
  return { text: line.replace(symref, ''), symrefAt: at === -1 ? null : at };
}

/**
 * @returns null if the position of the `symref` capability is not known yet
 */
export function capabilityLine(learned: LearnedLine, service: Service, { head }: RefSnapshot): string | null {
  // Before version 2 only a HEAD that resolves to a commit is advertised.
  if (service === 'receive-pack' || head.target === null || head.ref === null) return learned.text;
  if (learned.symrefAt === null) return null;
  return `${learned.text.slice(0, learned.symrefAt)} symref=HEAD:${head.target}${learned.text.slice(learned.symrefAt)}`;
}
