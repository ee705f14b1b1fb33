import { parseRemoteAddress } from './remote-address.ts';
import type { MirrorRow } from './mirror-schema.ts';
import { isWaitingForKey, stateWord } from './mirror-state.ts';
import type { MirrorDeps } from './deps.ts';
import { hostKeyFingerprint } from './ssh-key.ts';

type Hidden = 'secretCiphertext' | 'sshKeyCiphertext' | 'lockedUntil' | 'hostKey' | 'offeredHostKey';

/** What anybody sees of a mirror: never its secret. */
export interface Mirror extends Omit<MirrorRow, Hidden> {
  hasSecret: boolean;
  /** Host and port of the address. */
  host: string;
  /** `ok`, `failing 3`, `paused`, `new`, `waiting for key`, `host key changed`. */
  state: string;
  /** Whether the other side has to be given `sshPublicKey` before it can begin. */
  isWaitingForKey: boolean;
  /** `ED25519 SHA256:…` of the host key that is trusted; null for a mirror that does not use ssh. */
  hostKeyFingerprint: string | null;
  /** The same of another one that the host shows by now; the mirror waits until somebody accepts it. */
  offeredFingerprint: string | null;
  /** In git's words, while this process is at work on it; null else. */
  progress: string | null;
  isRunning: boolean;
}

export function describeMirror(
  { progress, clock }: MirrorDeps,
  { secretCiphertext, sshKeyCiphertext: _, lockedUntil, hostKey, offeredHostKey, ...row }: MirrorRow,
): Mirror {
  return {
    ...row,
    host: hostOf(row.url),
    hasSecret: secretCiphertext !== null,
    state: stateWord({ ...row, offeredHostKey }),
    isWaitingForKey: isWaitingForKey(row),
    hostKeyFingerprint: hostKey === null ? null : hostKeyFingerprint(hostKey),
    offeredFingerprint: offeredHostKey === null ? null : hostKeyFingerprint(offeredHostKey),
    progress: progress.get(row.repositoryId) ?? null,
    isRunning: lockedUntil > clock.now(),
  };
}

/** Host and port of a stored address: the whole of it may be private. */
export function hostOf(url: string): string {
  return parseRemoteAddress(url).origin.replace(/^[a-z]+:\/\//, '');
}
