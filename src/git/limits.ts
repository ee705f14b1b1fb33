import type { Config } from '../config/index.ts';

/**
 * Bounds on what git may cost. The figures are those of the reference load
 * (2 cores, 4 GiB); the configuration overrides the ones an operator would turn.
 */
export interface GitLimits {
  /** Clones and fetches at the same time: in total, of one repository, for one client. */
  readSlots: number;
  readsPerRepository: number;
  readsPerClient: number;
  /** Pushes at the same time: in total, to one repository. */
  writeSlots: number;
  writesPerRepository: number;
  /** Short questions (ref advertisement, log) at the same time: in total, of one repository. */
  shortSlots: number;
  shortPerRepository: number;
  /** Requests that may wait for a slot of one kind, how long, and what the refused are told. */
  queue: number;
  queueWaitMs: number;
  retryAfterSeconds: number;

  /** Longest life of one clone, fetch or push. */
  transferMs: number;
  /** Longest life of one short question, object reads included. */
  shortMs: number;
  /** Most bytes that a short question may answer. */
  shortOutputBytes: number;
  /** Most memory that git may hold for one page, archive or patch, in bytes. */
  readMemoryBytes: number;
  /** How long a client may hold a transfer up while nearly no bytes move. */
  stallMs: number;

  /** Largest pack of one push; 0 for no bound. */
  maxPushBytes: number;
  /** Objects that one push may bring. */
  maxPushObjects: number;
  /** Largest piece of memory that git may take for a push, in bytes; more only for the table of its objects. */
  maxPushMemoryBytes: number;
  /** Processor time of one push, in milliseconds: at first, and more for each MiB that came. */
  pushCpuMs: number;
  pushCpuMsPerMiB: number;
  /** Ref updates of one push, refs of one repository. */
  maxUpdatesPerPush: number;
  maxRefs: number;
  /** Bytes of a push before its pack: commands and push options. */
  maxPushHeadBytes: number;
  maxPushOptions: number;
  /** Of a refused push, what is read and thrown away so that its client sees the reason: bytes, milliseconds. */
  maxDrainBytes: number;
  maxDrainMs: number;

  /** Answers to fetches that are kept: bytes and number in all, and how long after their last use, in milliseconds. */
  answerCacheBytes: number;
  answerCacheEntries: number;
  answerKeptMs: number;

  /** How long after its last push a repository is looked after, in milliseconds. */
  upkeepQuietMs: number;

  /** Whether the commit-graph file is read, whose format is git's own; without it `git rev-list` lists commits. */
  readCommitGraph: boolean;

  /** Long-lived object readers, one per active repository, and when an idle one ends. */
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
  // Every advertisement of a listing without protocol version 2 has them all: 16 MB.
  maxRefs: 250_000,
  // A hundred thousand commands with names of 250 bytes.
  maxPushHeadBytes: 32 * 1024 * 1024,
  maxPushOptions: 100,
  maxDrainBytes: 512 * 1024 * 1024,
  // The bytes above over a line of 5 Mbit/s.
  maxDrainMs: 15 * 60_000,

  answerCacheBytes: 1024 ** 3,
  answerCacheEntries: 200,
  answerKeptMs: 300_000,

  upkeepQuietMs: 60_000,

  readCommitGraph: true,

  objectReaders: 8,
  objectReaderIdleMs: 30_000,
};

/** One repository gets at most half of the places, so that it cannot shut the others out. */
export function limitsOf(config: Config['git']): Partial<GitLimits> {
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
