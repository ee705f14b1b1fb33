/** SPEC §3: what a runner is doing, as far as its calls tell. */
export type RunnerStatus = 'unspecified' | 'idle' | 'active' | 'offline';

export const offlineAfterMs = 60_000;
const idleAfterMs = 10_000;

/** `unspecified` before its first call; then by how long ago it was heard of. */
export function runnerStatus(
  heard: { lastSeenAt: number | null; lastActiveAt: number | null },
  now: number,
): RunnerStatus {
  if (heard.lastSeenAt === null) return 'unspecified';
  if (now - heard.lastSeenAt > offlineAfterMs) return 'offline';
  return heard.lastActiveAt !== null && now - heard.lastActiveAt <= idleAfterMs ? 'active' : 'idle';
}
