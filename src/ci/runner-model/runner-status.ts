/** The status of a runner (SPEC §3). */
export type RunnerStatus = 'unspecified' | 'idle' | 'active' | 'offline';

export const offlineAfterMs = 60_000;

/**
 * `unspecified` before its first call, `offline` a minute after its last one; otherwise `active` while it has a task,
 * and `idle`. Reports do not count: a long step reports rarely, and reports are unknown after a restart.
 */
export function runnerStatus(lastSeenAt: number | null, isBusy: boolean, now: number): RunnerStatus {
  if (lastSeenAt === null) return 'unspecified';
  if (now - lastSeenAt > offlineAfterMs) return 'offline';
  return isBusy ? 'active' : 'idle';
}
