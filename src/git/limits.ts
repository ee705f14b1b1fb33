import type { Config } from '../config/index.ts';

/**
 * Resource limits of git. The figures fit the reference load (2 cores, 4 GiB); the configuration overrides those that
 * an operator would change.
 */
export interface GitLimits {
  /** Concurrent clones and fetches: in total, per repository, per client. */
  readSlots: number;
  readsPerRepository: number;
  readsPerClient: number;
  /** Concurrent pushes: in total, per repository. */
  writeSlots: number;
  writesPerRepository: number;
  /** Concurrent short commands (ref advertisement, log): in total, per repository. */
  shortSlots: number;
  shortPerRepository: number;
  /** Queue length per kind of slot, time limit in the queue, and the Retry-After of a refused request. */
  queue: number;
  queueWaitMs: number;
  retryAfterSeconds: number;

  /** Time limit of one clone, fetch or push. */
  transferMs: number;
  /** Time limit of one short command, including object reads. */
  shortMs: number;
  /** Output limit of a short command in bytes. */
  shortOutputBytes: number;
  /** Memory limit of git for one page, archive or patch, in bytes. */
  readMemoryBytes: number;
  /** Time that a client may stall a transfer while almost no bytes move. */
  stallMs: number;

  /** Size limit of the pack of one push; 0 for none. */
  maxPushBytes: number;
  /** Object limit of one push. */
  maxPushObjects: number;
  /** Limit of a single allocation of git during a push, in bytes; raised only for the table of its objects. */
  maxPushMemoryBytes: number;
  /** CPU time limit of one push, in milliseconds: a base, and more per MiB received. */
  pushCpuMs: number;
  pushCpuMsPerMiB: number;
  /** Limits of ref updates per push, and of refs per repository. */
  maxUpdatesPerPush: number;
  maxRefs: number;
  /** Size limit of the part of a push before its pack: commands and push options. */
  maxPushHeadBytes: number;
  maxPushOptions: number;
  /** Limits in bytes and milliseconds for draining the rest of a refused push, so that its client sees the reason. */
  maxDrainBytes: number;
  maxDrainMs: number;

  /** Limits of the fetch-pack cache: total bytes, number of entries, and time after the last use, in milliseconds. */
  fetchCacheBytes: number;
  fetchCacheEntries: number;
  fetchCacheTtlMs: number;

  /** Quiet time after the last push before maintenance starts, in milliseconds. */
  maintenanceQuietMs: number;

  /**
   * Whether to read the commit-graph file, whose format is internal to git; without it `git rev-list` lists commits.
   */
  readCommitGraph: boolean;

  /** Number of long-lived object readers, one per active repository, and the time after which an idle one stops. */
  objectReaders: number;
  objectReaderIdleMs: number;
}

export const defaultLimits: Readonly<GitLimits> = {
  readSlots: 4,
  readsPerRepository: 2,
  readsPerClient: 3,
  writeSlots: 4,
  writesPerRepository: 2,
  shortSlots: 8,
  shortPerRepository: 4,
  queue: 64,
  queueWaitMs: 30_000,
  retryAfterSeconds: 5,

  transferMs: 6 * 3_600_000,
  shortMs: 30_000,
  shortOutputBytes: 256 * 1024 * 1024,
  readMemoryBytes: 512 * 1024 * 1024,
  stallMs: 600_000,

  maxPushBytes: 4 * 1024 ** 3,
  maxPushObjects: 10_000_000,
  maxPushMemoryBytes: 128 * 1024 ** 2,
  pushCpuMs: 60_000,
  pushCpuMsPerMiB: 10_000,
  // A mirror of a large project has some thousand branches and tags, one of a large Gerrit a hundred thousand changes.
  maxUpdatesPerPush: 100_000,
  // With this number, the advertisement before protocol version 2, which lists every ref, takes 16 MB.
  maxRefs: 250_000,
  // Enough for a hundred thousand commands with names of 250 bytes.
  maxPushHeadBytes: 32 * 1024 * 1024,
  maxPushOptions: 100,
  maxDrainBytes: 512 * 1024 * 1024,
  // Time for `maxDrainBytes` over a connection of 5 Mbit/s.
  maxDrainMs: 15 * 60_000,

  fetchCacheBytes: 1024 ** 3,
  fetchCacheEntries: 200,
  fetchCacheTtlMs: 300_000,

  maintenanceQuietMs: 60_000,

  readCommitGraph: true,

  objectReaders: 8,
  objectReaderIdleMs: 30_000,
};

/** One repository gets at most half of the slots, so that it cannot starve the others. */
export function limitsOf(config: Omit<Config['git'], 'storage' | 'cacheBytes'>): Partial<GitLimits> {
  const half = (places: number) => Math.ceil(places / 2);
  return {
    readSlots: config.readSlots,
    readsPerRepository: half(config.readSlots),
    writeSlots: config.writeSlots,
    writesPerRepository: half(config.writeSlots),
    queue: config.queue,
    queueWaitMs: config.queueWaitMs,
    maxPushBytes: config.maxPushSizeBytes,
    maxPushObjects: config.maxPushObjects,
    maxPushMemoryBytes: config.maxPushMemoryBytes,
    pushCpuMs: config.maxPushCpuMs,
    readCommitGraph: config.readCommitGraph,
  };
}
