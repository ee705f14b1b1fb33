import { statfs } from 'node:fs/promises';
import type { Logger } from '../../kernel/index.ts';
import type { GitDoor } from '../process.ts';
import type { Slots } from '../slots.ts';
import { findNeeds } from './find-needs.ts';

/**
 * Keeps busy repositories fast: packs with a bitmap, refs in one file. Repositories are
 * noted when they are pushed to; a job looks after them one by one, behind everything
 * else. One that nobody pushes to costs nothing.
 */
export interface Upkeep {
  /** Something was pushed. */
  note(repository: string): void;
  /** Looks after what was noted and has been quiet for a while. Answers how many repositories it changed. */
  run(): Promise<number>;
  /** Ends what is under way in a repository that goes away or moves, and forgets it. */
  leave(repository: string): Promise<void>;
}

interface UpkeepDeps {
  door: GitDoor;
  /** Of pushes: who holds one keeps others from tidying up beneath it. */
  slots: Slots;
  logger: Logger;
  lowDiskFloorBytes: number;
  /** Since the last push, in milliseconds. */
  quietMs: number;
  now(): number;
}

const limitMs = 60 * 60_000;
const restlessTimes = 10;

/**
 * Rolls small packs and single objects into larger ones, each at least twice the next, and
 * writes a bitmap over all. No object is ever dropped, so a push that counts on one that
 * nothing reaches any more finds it.
 */
const repack = ['repack', '--quiet', '--geometric=2', '-d', '--write-midx', '--write-bitmap-index'];
const packRefs = ['pack-refs', '--all'];

export function createUpkeep({ door, slots, logger, lowDiskFloorBytes, quietMs, now }: UpkeepDeps): Upkeep {
  /** When the first push since it was looked after came, and the last one, by repository. */
  const noted = new Map<string, { first: number; last: number }>();
  let atWork: { repository: string; stop: AbortController; done: Promise<unknown> } | null = null;

  async function lookAfter(repository: string, signal: AbortSignal): Promise<boolean> {
    const needs = await findNeeds(repository);
    const { bavail, bsize } = await statfs(repository);
    const commands = [...(needs.packRefs ? [packRefs] : []), ...(needs.repack && bavail * bsize > lowDiskFloorBytes ? [repack] : [])];
    if (commands.length === 0) return false;
    const release = await slots.take({ repository }, signal);
    try {
      for (const command of commands) {
        const argv = [`--git-dir=${repository}`, ...command];
        const { code, complaint } = await door.run({ argv, signal, timeLimitMs: limitMs, yields: true }, 1024 * 1024);
        // It works as before, only slower than it could.
        if (code !== 0) logger.warn('git.upkeep_failed', { repository, command: command[0], complaint });
      }
    } finally {
      release();
    }
    return true;
  }

  async function one(repository: string): Promise<boolean> {
    const stop = new AbortController();
    const done = lookAfter(repository, stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) logger.warn('git.upkeep_failed', { repository, error });
      return false;
    });
    atWork = { repository, stop, done };
    try {
      return await done;
    } finally {
      atWork = null;
    }
  }

  return {
    note: (repository) => void noted.set(repository, { first: noted.get(repository)?.first ?? now(), last: now() }),
    async run() {
      let changed = 0;
      for (const [repository, { first, last }] of [...noted]) {
        // One that is never quiet needs it most.
        const isDue = now() - last >= quietMs || now() - first >= restlessTimes * quietMs;
        if (!isDue || !noted.delete(repository)) continue;
        if (await one(repository)) changed += 1;
      }
      return changed;
    },
    async leave(repository) {
      noted.delete(repository);
      if (atWork?.repository !== repository) return;
      atWork.stop.abort(new Error('the repository goes away'));
      await atWork.done;
    },
  };
}
