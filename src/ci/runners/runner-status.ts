/** The status of a runner (SPEC §3). */
export type RunnerStatus = 'unspecified' | 'idle' | 'active' | 'offline';

export const offlineAfterMs = 60_000;

/**
 * `unspecified` before its first call, `offline` when the last one was a minute ago; otherwise `active` as long as it
 * has a task. The time of its last report does not count: a long step reports rarely, and no report is known after a
 * restart.
 */
export function runnerStatus(lastSeenAt: number | null, isBusy: boolean, now: number): RunnerStatus {
  if (lastSeenAt === null) return 'unspecified';
  if (now - lastSeenAt > offlineAfterMs) return 'offline';
  return isBusy ? 'active' : 'idle';
}
