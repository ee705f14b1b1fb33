import { statfs } from 'node:fs/promises';
import { createKeyedMutex, waitAtMost } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { findNeeds, hasCommitGraph, needsPacking } from './find-needs.ts';

/**
 * The one queue of everything that tidies up in repositories: refs into one file, the commit-graph,
 * packs with a bitmap, and in the nightly window packing anew. One repository at a time, behind
 * everything else, and never beside a push to the same one: a push ends what is under way there, and
 * it comes back later. One that nobody pushes to costs nothing.
 */
export interface Maintenance {
  /** Something was pushed. */
  note(repository: string): void;
  /** Somebody reads history: it should have a commit-graph. */
  noteIfMissing(repository: string): void;
  /** Keeps upkeep away from a repository while `push` runs there. */
  aroundPush<T>(repository: string, push: () => Promise<T>): Promise<T>;
  /**
   * Looks after what was noted and has been quiet for a while, or was pushed to very often.
   * @param mayGoOn asked before each: a backup may be under way, which it would pull files from under
   * @returns how many repositories it changed
   */
  run(mayGoOn?: () => Promise<boolean>): Promise<number>;
  /**
   * Packs one anew, with a pack for everything that refs lead to. What nothing leads to stays for thirty days.
   * Refuses as `git gc` fails.
   * @returns false while somebody pushes to it
   */
  pack(repository: string): Promise<boolean>;
  /**
   * Packs those anew that need it.
   * @param mayGoOn asked before each: the window may be over, or a backup under way
   * @returns how many
   */
  packAll(repositories: Iterable<string>, mayGoOn: () => Promise<boolean>): Promise<number>;
  /** Ends what is under way in a repository that goes away or moves, and forgets it. */
  leave(repository: string): Promise<void>;
}

interface MaintenanceDeps {
  door: GitRunner;
  /** Packs a repository anew; ends early with the signal. */
  packAnew(repository: string, signal: AbortSignal): Promise<void>;
  logger: Logger;
  lowDiskFloorBytes: number;
  /** Since the last push, in milliseconds. */
  quietMs: number;
  now(): number;
}

const limitMs = 60 * 60_000;
/** So many times the quiet time after the first push, one that is never quiet gets its turn all the same. */
const restlessTimes = 10;
/** After so many pushes nothing is waited for: git opens every pack at every start, and the next push would be slower yet. */
const manyPushes = 200;
/** After so many times given up for a push, the next pushes wait for it, at most so long. */
const givenUpOften = 3;
const pushWaitsMs = 20_000;
/** Filters of one run: the first of a large repository is spread over several. */
const newFilters = 20_000;

/**
 * Rolls small packs and single objects into larger ones, each at least twice the next, and
 * writes a bitmap over all. No object is ever dropped, so a push that counts on one that
 * nothing reaches any more finds it.
 */
const repack = ['repack', '--quiet', '--geometric=2', '-d', '--write-midx', '--write-bitmap-index'];
/** Each push leaves its refs in files of their own; thousands of them are slow to list. */
const packRefs = ['pack-refs', '--all'];
/** With filters of changed paths: walks are several times faster. */
const commitGraph = [
  'commit-graph',
  'write',
  '--reachable',
  '--split',
  '--changed-paths',
  `--max-new-filters=${newFilters}`,
];

interface Note {
  /** When the first push since it was looked after came, and the last one. */
  first: number;
  last: number;
  pushes: number;
  givenUp: number;
}

type Outcome = 'changed' | 'fine' | 'given up';

const disappears = new Error('the repository goes away');

export function createMaintenance({
  door,
  packAnew,
  logger,
  lowDiskFloorBytes,
  quietMs,
  now,
}: MaintenanceDeps): Maintenance {
  const noted = new Map<string, Note>();
  const looked = new Set<string>();
  /** Pushes under way, by repository. */
  const pushes = new Map<string, number>();
  let atWork: { repository: string; stop: AbortController; isPatient: boolean; done: Promise<unknown> } | null = null;
  const mutex = createKeyedMutex<'all'>();

  /** One at a time, in the order of asking. Nothing begins while somebody pushes there. */
  function inTurn(
    repository: string,
    work: (signal: AbortSignal) => Promise<boolean>,
    isPatient = false,
  ): Promise<Outcome> {
    return mutex('all', async (): Promise<Outcome> => {
      if (pushes.has(repository)) return 'given up';
      const stop = new AbortController();
      const done = work(stop.signal);
      atWork = { repository, stop, isPatient, done: done.catch(() => {}) };
      try {
        const hasChanged = await done;
        return endOf(stop.signal) ?? (hasChanged ? 'changed' : 'fine');
      } catch (error) {
        const end = endOf(stop.signal);
        if (end === null) throw error;
        return end;
      } finally {
        atWork = null;
      }
    });
  }

  async function tidy(repository: string, signal: AbortSignal): Promise<boolean> {
    const needs = await findNeeds(repository);
    const { bavail, bsize } = await statfs(repository);
    const mayRepack = needs.repack && bavail * bsize > lowDiskFloorBytes;
    for (const command of [
      ...(needs.hasLooseRefs ? [packRefs] : []),
      ...(mayRepack ? [repack] : []),
      ...(needs.hasCommits ? [commitGraph] : []),
    ]) {
      signal.throwIfAborted();
      const argv = [`--git-dir=${repository}`, ...command];
      const { code, complaint } = await door.run({ argv, signal, timeLimitMs: limitMs, yields: true }, 1024 * 1024);
      // It works as before, only slower than it could. Grafts and shallow histories make a graph impossible.
      if (code !== 0 && !signal.aborted)
        logger.warn('git.upkeep_failed', { repository, command: command[0], complaint });
    }
    return needs.hasLooseRefs || needs.repack || needs.hasCommits;
  }

  function note(repository: string): void {
    const known = noted.get(repository);
    noted.set(repository, {
      first: known?.first ?? now(),
      last: now(),
      pushes: (known?.pushes ?? 0) + 1,
      givenUp: known?.givenUp ?? 0,
    });
  }

  /** Ends what is under way in a repository; waits for the little that is left of it where pushes came too often. */
  async function makeWay(repository: string): Promise<void> {
    if (atWork?.repository !== repository) return;
    const { stop, isPatient, done } = atWork;
    if (isPatient) await waitAtMost(done, pushWaitsMs);
    stop.abort(new Error('somebody pushes'));
    await done;
  }

  return {
    note,
    noteIfMissing(repository) {
      if (looked.has(repository)) return;
      looked.add(repository);
      void hasCommitGraph(repository).then((has) => {
        if (!has && !noted.has(repository))
          noted.set(repository, { first: -Infinity, last: -Infinity, pushes: 0, givenUp: 0 });
      });
    },

    async aroundPush(repository, push) {
      pushes.set(repository, (pushes.get(repository) ?? 0) + 1);
      try {
        await makeWay(repository);
        return await push();
      } finally {
        const left = (pushes.get(repository) ?? 1) - 1;
        if (left === 0) pushes.delete(repository);
        else pushes.set(repository, left);
      }
    },

    async run(mayGoOn = async () => true) {
      let changed = 0;
      for (const [repository, { first, last, pushes: count, givenUp }] of [...noted]) {
        const isDue = now() - last >= quietMs || now() - first >= quietMs * restlessTimes || count >= manyPushes;
        if (!isDue || pushes.has(repository)) continue;
        if (!(await mayGoOn())) break;
        if (!noted.delete(repository)) continue;
        const outcome = await inTurn(repository, (signal) => tidy(repository, signal), givenUp >= givenUpOften).catch(
          (error: NodeJS.ErrnoException): Outcome => {
            // It has gone away meanwhile.
            if (error.code !== 'ENOENT') logger.warn('git.upkeep_failed', { repository, error });
            return 'fine';
          },
        );
        if (outcome === 'changed') changed += 1;
        if (outcome === 'given up')
          noted.set(repository, {
            first,
            last: noted.get(repository)?.last ?? last,
            pushes: count,
            givenUp: givenUp + 1,
          });
      }
      return changed;
    },

    async pack(repository) {
      return (await inTurn(repository, async (signal) => packAnew(repository, signal).then(() => true))) === 'changed';
    },

    async packAll(repositories, mayGoOn) {
      let packed = 0;
      for (const repository of repositories) {
        if (!(await mayGoOn())) break;
        if (!(await needsPacking(repository))) continue;
        const outcome = await inTurn(repository, async (signal) => packAnew(repository, signal).then(() => true)).catch(
          (error: unknown): Outcome => {
            // A damaged one must not keep the others from their turn.
            logger.error('git.pack_failed', { repository, error });
            return 'fine';
          },
        );
        if (outcome === 'changed') packed += 1;
        logger.info(outcome === 'changed' ? 'git.packed' : 'git.pack_put_off', { repository });
      }
      return packed;
    },

    async leave(repository) {
      noted.delete(repository);
      looked.delete(repository);
      if (atWork?.repository !== repository) return;
      const { stop, done } = atWork;
      stop.abort(disappears);
      await done;
    },
  };
}

/** How work that was ended counts: what went away does not come back. Null for work that ended by itself. */
function endOf(signal: AbortSignal): Outcome | null {
  if (!signal.aborted) return null;
  return signal.reason === disappears ? 'fine' : 'given up';
}
