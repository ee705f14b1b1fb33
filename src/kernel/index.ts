export { diskFull, explainFullDisk, isDamagedDatabase, isDiskFull, saysDiskFull } from './disk-faults.ts';
export { bindDeps } from './bind-deps.ts';
export {
  conflict,
  DomainError,
  forbidden,
  internal,
  invalid,
  isDomainError,
  isRefusal,
  notFound,
  nullIfNotFound,
  onReason,
  rateLimited,
  unauthenticated,
  unavailable,
} from './errors.ts';
export type { ErrorCode } from './errors.ts';
export { chargeCpuTime, chargeForAnswer, currentCharge } from './cpu-time.ts';
export { systemClock } from './clock.ts';
export type { Clock } from './clock.ts';
export { systemRandom } from './random.ts';
export type { Random } from './random.ts';
export { createHistogram } from './histogram.ts';
export type { Histogram } from './histogram.ts';
export { silentLogger } from './logger.ts';
export type { Logger, LogFields } from './logger.ts';
export {
  cachedBytes,
  cachedBytesLimit,
  cacheStatistics,
  deleteExpiredEntries,
  limitCachedBytes,
} from './cache-registry.ts';
export { copyAndFree, startFlow } from './copy-stream.ts';
export type { Flow } from './copy-stream.ts';
export { freeMemory } from './free-memory.ts';
export { currentWindow } from './fixed-window.ts';
export type { FixedWindow } from './fixed-window.ts';
export { formatDuration } from './format-duration.ts';
export { createTokenBuckets } from './token-buckets.ts';
export type { BucketRate } from './token-buckets.ts';
export { createLru } from './lru.ts';
export type { Lru } from './lru.ts';
export { createKeyedMutex } from './keyed-mutex.ts';
export type { KeyedMutex } from './keyed-mutex.ts';
export { busy, createSemaphore } from './semaphore.ts';
export type { Semaphore } from './semaphore.ts';
export { createNotifier } from './notifier.ts';
export type { Notifier } from './notifier.ts';
export { eachLimit } from './each-limit.ts';
export { readableSize } from './readable-size.ts';
export { yieldToEventLoop } from './yield-to-event-loop.ts';
export { mapAll, visitAll } from './visit-all.ts';
export { waitAtMost, withTimeout } from './with-timeout.ts';
export { networkPrefix } from './network-prefix.ts';
export { isProcessAlive } from './process-alive.ts';
export { branchOf, isBranchOrTag, noRef, shortRef, tagOf } from './ref-names.ts';
