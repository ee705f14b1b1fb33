/** The status of a runner, derived from its calls (SPEC §3). */
export type RunnerStatus = 'unspecified' | 'idle' | 'active' | 'offline';

export const offlineAfterMs = 60_000;
const idleAfterMs = 10_000;

/** `unspecified` before its first call; afterwards by the time since it was last seen. */
export function runnerStatus(
  lastSeen: { lastSeenAt: number | null; lastActiveAt: number | null },
  now: number,
): RunnerStatus {
  if (lastSeen.lastSeenAt === null) return 'unspecified';
  if (now - lastSeen.lastSeenAt > offlineAfterMs) return 'offline';
  return lastSeen.lastActiveAt !== null && now - lastSeen.lastActiveAt <= idleAfterMs ? 'active' : 'idle';
}
