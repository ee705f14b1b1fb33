import { backoffMs } from '../outbox/index.ts';
import type { MirrorRow } from './mirror-schema.ts';

/** Number of consecutive failures after which the mirror is paused until a user resumes it. */
const maxFailures = 10;

/** The state of a mirror without any transfer yet, due at once. */
export const newMirrorState = (now: number) => ({
  isPaused: false,
  failures: 0,
  lastError: null,
  failingSince: null,
  completeTo: null,
  isCopy: false,
  lastStartedAt: null,
  lastOkAt: null,
  nextAt: now,
  lockedUntil: 0,
  createdAt: now,
  updatedAt: now,
});

/**
 * Changes to a row after a transfer.
 * @param error null on success
 * @param isLasting whether a retry is useless because a user has to act
 */
export function nextMirrorState(
  {
    failures,
    intervalMs,
    failingSince,
    isCopy,
  }: Pick<MirrorRow, 'failures' | 'intervalMs' | 'failingSince' | 'isCopy'>,
  error: string | null,
  now: number,
  isLasting = false,
): Partial<MirrorRow> {
  if (error === null)
    return {
      failures: 0,
      lastError: null,
      failingSince: null,
      lastOkAt: now,
      nextAt: now + (intervalMs ?? 0),
      lockedUntil: 0,
    };
  const failed = failures + 1;
  // Omitted below that: a user may have paused it meanwhile.
  return {
    failures: failed,
    lastError: error,
    failingSince: failingSince ?? now,
    nextAt: now + backoffMs(failed),
    lockedUntil: 0,
    // The origin of a copy may come back after years.
    ...(isLasting || (!isCopy && failed >= maxFailures) ? { isPaused: true } : {}),
  };
}

/** A new mirror over ssh starts when a user confirms that the remote has its key. */
export const isWaitingForKey = ({
  isPaused,
  sshPublicKey,
  lastStartedAt,
}: Pick<MirrorRow, 'isPaused' | 'sshPublicKey' | 'lastStartedAt'>): boolean =>
  isPaused && sshPublicKey !== null && lastStartedAt === null;

/** `ok`, `failing 3`, `paused`, `new`, `waiting for key`, `host key changed`. */
export function stateWord(
  row: Pick<MirrorRow, 'isPaused' | 'failures' | 'lastOkAt' | 'sshPublicKey' | 'lastStartedAt' | 'offeredHostKey'>,
): string {
  const { isPaused, failures, lastOkAt, offeredHostKey } = row;
  if (offeredHostKey !== null) return 'host key changed';
  if (isWaitingForKey(row)) return 'waiting for key';
  if (isPaused) return 'paused';
  if (failures > 0) return `failing ${failures}`;
  return lastOkAt === null ? 'new' : 'ok';
}
