import { parseRemoteAddress } from './remote-address.ts';
import type { MirrorRow } from './mirror-schema.ts';
import { isWaitingForKey, stateWord } from './mirror-state.ts';
import type { MirrorDeps } from './deps.ts';
import { hostKeyFingerprint } from './ssh-key.ts';

type Hidden = 'secretCiphertext' | 'sshKeyCiphertext' | 'lockedUntil' | 'hostKey' | 'offeredHostKey';

/** The visible part of a mirror, without its secrets. */
export interface Mirror extends Omit<MirrorRow, Hidden> {
  hasSecret: boolean;
  /** Host and port of the URL. */
  host: string;
  /** `ok`, `failing 3`, `paused`, `new`, `waiting for key`, `host key changed`. */
  state: string;
  /** Whether `sshPublicKey` must be added at the remote before the first transfer. */
  isWaitingForKey: boolean;
  /** `ED25519 SHA256:…` of the trusted host key; null for a mirror without ssh. */
  hostKeyFingerprint: string | null;
  /** Fingerprint of a different host key that the host now presents; the mirror waits until a user accepts it. */
  offeredFingerprint: string | null;
  /** git's progress line while this process runs the transfer; else null. */
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

/** Host and port of a stored URL, whose path may be private. */
export function hostOf(url: string): string {
  return parseRemoteAddress(url).origin.replace(/^[a-z]+:\/\//, '');
}
