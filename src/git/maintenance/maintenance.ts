import { statfs } from 'node:fs/promises';
import { createKeyedMutex, waitAtMost } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { findNeeds, hasCommitGraph, needsPacking } from './find-needs.ts';

/**
 * The maintenance queue of all repositories: packed refs, commit-graph, packs with a bitmap, and in the nightly window
 * a complete repack. It maintains one repository at a time, at background priority, and never during a push to it: a
 * push aborts running maintenance there, which is retried later. A repository without pushes costs nothing.
 */
interface Maintenance {
  /** Records a push. */
  recordPush(repository: string): void;
  /** Records a history walk; queues the repository if it lacks a commit-graph. */
  recordHistoryRead(repository: string): void;
  /** Pauses maintenance of a repository while `push` runs there. */
  aroundPush<T>(repository: string, push: () => Promise<T>): Promise<T>;
  /**
   * Maintains the recorded repositories that have been quiet for a while, or had very many pushes.
   * @param shouldContinue checked before each: a running backup must not lose files to it
   * @returns the number of changed repositories
   */
  run(shouldContinue?: () => Promise<boolean>): Promise<number>;
  /**
   * Repacks one completely, with one pack for all reachable objects. Unreachable objects stay for thirty days. Throws
   * the errors of `git gc`.
   * @returns false while a push to it runs
   */
  pack(repository: string): Promise<boolean>;
  /**
   * Repacks the repositories that need it.
   * @param shouldContinue checked before each: the window may be over, or a backup running
   * @returns the number of repacked repositories
   */
  packAll(repositories: Iterable<string>, shouldContinue: () => Promise<boolean>): Promise<number>;
  /** Aborts maintenance of a repository that is removed or moved, and forgets it. */
  leave(repository: string): Promise<void>;
}

interface MaintenanceDeps {
  runner: GitRunner;
  /** Repacks a repository completely; the signal aborts it. */
  packAnew(repository: string, signal: AbortSignal): Promise<void>;
  logger: Logger;
  lowDiskFloorBytes: number;
  /** Whether only derived data of a repository may be written to its folder. */
  isCache?: (repository: string) => boolean;
  /** Quiet time since the last push, in milliseconds. */
  quietMs: number;
  now(): number;
}

const limitMs = 60 * 60_000;
/** A repository that is never quiet is maintained after this multiple of the quiet time since its first push. */
const maxQuietPeriods = 10;
/**
 * Number of pushes after which maintenance does not wait: git opens every pack at each start, so each push would be
 * slower than the last.
 */
const manyPushes = 200;
/** Number of aborted runs after which pushes wait for maintenance, and the limit of that wait. */
const maxAborts = 3;
const pushWaitsMs = 20_000;
/** Limit of new filters per run: the first computation for a large repository is spread over several runs. */
const newFilters = 20_000;

/**
 * Geometric repack: combines small packs and loose objects into packs of at least twice the next one's size, with a
 * bitmap over all. It drops no object, so a push that relies on an unreachable object still finds it.
 */
export const geometricRepack = ['repack', '--quiet', '--geometric=2', '-d', '--write-midx', '--write-bitmap-index'];
/** Each push leaves loose refs; thousands of them are slow to list. */
export const packRefs = ['pack-refs', '--all'];
/** Changed-path Bloom filters make walks several times faster. */
const commitGraph = [
  'commit-graph',
  'write',
  '--reachable',
  '--split',
  '--changed-paths',
  `--max-new-filters=${newFilters}`,
];

interface PendingWork {
  /** Times of the first push since the last maintenance, and of the last push. */
  first: number;
  last: number;
  pushes: number;
  aborts: number;
}

type Outcome = 'changed' | 'fine' | 'given up';

const disappears = new Error('the repository goes away');

export function createMaintenance({
  runner,
  packAnew,
  logger,
  lowDiskFloorBytes,
  isCache = () => false,
  quietMs,
  now,
}: MaintenanceDeps): Maintenance {
  const pending = new Map<string, PendingWork>();
  const checkedForGraph = new Set<string>();
  /** Running pushes per repository. */
  const pushes = new Map<string, number>();
  let running: { repository: string; stop: AbortController; isPatient: boolean; done: Promise<unknown> } | null = null;
  const mutex = createKeyedMutex<'all'>();

  /** Runs one task at a time, in order. No task starts during a push to its repository. */
  function enqueue(
    repository: string,
    work: (signal: AbortSignal) => Promise<boolean>,
    isPatient = false,
  ): Promise<Outcome> {
    return mutex('all', async (): Promise<Outcome> => {
      if (pushes.has(repository)) return 'given up';
      const stop = new AbortController();
      const done = work(stop.signal);
      running = { repository, stop, isPatient, done: done.catch(() => {}) };
      try {
        const hasChanged = await done;
        return endOf(stop.signal) ?? (hasChanged ? 'changed' : 'fine');
      } catch (error) {
        const end = endOf(stop.signal);
        if (end === null) throw error;
        return end;
      } finally {
        running = null;
      }
    });
  }

  async function maintain(repository: string, signal: AbortSignal): Promise<boolean> {
    const needs = await findNeeds(repository);
    const { bavail, bsize } = await statfs(repository);
    const isOwn = !isCache(repository);
    const mayRepack = isOwn && needs.repack && bavail * bsize > lowDiskFloorBytes;
    for (const command of [
      ...(isOwn && needs.hasLooseRefs ? [packRefs] : []),
      ...(mayRepack ? [geometricRepack] : []),
      ...(needs.hasCommits ? [commitGraph] : []),
    ]) {
      signal.throwIfAborted();
      const argv = [`--git-dir=${repository}`, ...command];
      const { code, errorText } = await runner.run({ argv, signal, timeLimitMs: limitMs, yields: true }, 1024 * 1024);
      // The repository only gets slower. Grafts and shallow histories make a commit-graph impossible.
      if (code !== 0 && !signal.aborted)
        logger.warn('git.upkeep_failed', { repository, command: command[0], errorText: errorText });
    }
    return (isOwn && (needs.hasLooseRefs || needs.repack)) || needs.hasCommits;
  }

  function recordPush(repository: string): void {
    const known = pending.get(repository);
    pending.set(repository, {
      first: known?.first ?? now(),
      last: now(),
      pushes: (known?.pushes ?? 0) + 1,
      aborts: known?.aborts ?? 0,
    });
  }

  /** Aborts the maintenance of a repository; if it was aborted too often, waits for it for a short while instead. */
  async function abortOrWait(repository: string): Promise<void> {
    if (running?.repository !== repository) return;
    const { stop, isPatient, done } = running;
    if (isPatient) await waitAtMost(done, pushWaitsMs);
    stop.abort(new Error('a push arrived'));
    await done;
  }

  return {
    recordPush,
    recordHistoryRead(repository) {
      if (checkedForGraph.has(repository)) return;
      checkedForGraph.add(repository);
      void hasCommitGraph(repository).then((has) => {
        if (!has && !pending.has(repository))
          pending.set(repository, { first: -Infinity, last: -Infinity, pushes: 0, aborts: 0 });
      });
    },

    async aroundPush(repository, push) {
      pushes.set(repository, (pushes.get(repository) ?? 0) + 1);
      try {
        await abortOrWait(repository);
        return await push();
      } finally {
        const left = (pushes.get(repository) ?? 1) - 1;
        if (left === 0) pushes.delete(repository);
        else pushes.set(repository, left);
      }
    },

    async run(shouldContinue = async () => true) {
      let changed = 0;
      for (const [repository, { first, last, pushes: count, aborts }] of [...pending]) {
        const isDue = now() - last >= quietMs || now() - first >= quietMs * maxQuietPeriods || count >= manyPushes;
        if (!isDue || pushes.has(repository)) continue;
        if (!(await shouldContinue())) break;
        if (!pending.delete(repository)) continue;
        const outcome = await enqueue(repository, (signal) => maintain(repository, signal), aborts >= maxAborts).catch(
          (error: NodeJS.ErrnoException): Outcome => {
            // The repository has been removed meanwhile.
            if (error.code !== 'ENOENT') logger.warn('git.upkeep_failed', { repository, error });
            return 'fine';
          },
        );
        if (outcome === 'changed') changed += 1;
        if (outcome === 'given up')
          pending.set(repository, {
            first,
            last: pending.get(repository)?.last ?? last,
            pushes: count,
            aborts: aborts + 1,
          });
      }
      return changed;
    },

    async pack(repository) {
      return (await enqueue(repository, async (signal) => packAnew(repository, signal).then(() => true))) === 'changed';
    },

    async packAll(repositories, shouldContinue) {
      let packed = 0;
      for (const repository of repositories) {
        if (!(await shouldContinue())) break;
        if (!(await needsPacking(repository))) continue;
        const outcome = await enqueue(repository, async (signal) =>
          packAnew(repository, signal).then(() => true),
        ).catch((error: unknown): Outcome => {
          // A corrupt repository must not block the others.
          logger.error('git.pack_failed', { repository, error });
          return 'fine';
        });
        if (outcome === 'changed') packed += 1;
        logger.info(outcome === 'changed' ? 'git.packed' : 'git.pack_put_off', { repository });
      }
      return packed;
    },

    async leave(repository) {
      pending.delete(repository);
      checkedForGraph.delete(repository);
      if (running?.repository !== repository) return;
      const { stop, done } = running;
      stop.abort(disappears);
      await done;
    },
  };
}

/** The outcome of aborted work: a removed repository is not retried. Null if the work was not aborted. */
function endOf(signal: AbortSignal): Outcome | null {
  if (!signal.aborted) return null;
  return signal.reason === disappears ? 'fine' : 'given up';
}
