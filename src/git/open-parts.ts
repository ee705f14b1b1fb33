import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/index.ts';
import type { Logger } from '../kernel/index.ts';
import { createListings } from './fetches/advertise-refs.ts';
import { createFetchCache } from './fetches/fetch-cache.ts';
import { defaultLimits, limitsOf } from './limits.ts';
import type { GitLimits } from './limits.ts';
import { packRepository } from './maintenance/check-and-pack.ts';
import { createObjectReaders } from './objects/object-readers.ts';
import { createReachability } from './fetches/reachability.ts';
import { createGitQueries } from './queries/queries.ts';
import { recoverRepository } from './maintenance/recover.ts';
import { createRefQuota } from './pushes/ref-quota.ts';
import { createRefCache } from './ref-cache/ref-cache.ts';
import { timeOfFileSystem } from './processes/settings.ts';
import { createMaintenance } from './maintenance/maintenance.ts';
import { openProgram } from './open-program.ts';
import { createSlots } from './slots.ts';

export interface GitOptions {
  config: Pick<Config, 'dataDir' | 'storage'> & { git: Omit<Config['git'], 'storage' | 'cacheBytes'> };
  logger: Logger;
  /** Overrides of `defaultLimits`; tests use shorter waits. */
  limits?: Partial<GitLimits>;
  /** Whether the source of truth of a repository is elsewhere, so that nothing in its folder is packed or removed. */
  isCache?: (repository: string) => boolean;
  /** Folders in which a program without a path is looked up, separated by colons. */
  searchPath?: string;
}

/** Shared parts of the git services: processes and their slots, caches, object readers, maintenance. */
export async function openParts({ config, logger, ...options }: GitOptions) {
  const limits: GitLimits = { ...defaultLimits, ...limitsOf(config.git), ...options.limits };
  const searchPath = options.searchPath ?? process.env.PATH ?? '/usr/bin:/bin';
  const opened = await openProgram({ config, logger, limits, searchPath });
  const { folder, pipes, runner } = opened;
  const { lowDiskFloorBytes } = config.storage;
  const slots = createSlots(limits);
  const readers = createObjectReaders(runner, limits);
  const refCache = createRefCache(readers, logger);
  const reading = { runner, readers, shortSlots: slots.short, limits };
  const listings = createListings({ ...reading, refCache, logger });
  const fetchCache = await createFetchCache({
    runner,
    slots: slots.reads,
    refCache,
    limits,
    folder: path.join(config.dataDir, 'cache', 'answers'),
    lowDiskFloorBytes,
    versions: `${opened.version.text} ${opened.settings.digest}`,
  });
  const reachability = createReachability({ ...reading, refCache, slots: slots.reads });
  const browsing = { ...reading, reachability };
  const maintenance = createMaintenance({
    runner,
    async packAnew(target, signal) {
      await packRepository(runner, target, signal);
      // Object readers may still hold removed packs open.
      await readers.close(target);
    },
    logger,
    lowDiskFloorBytes,
    isCache: options.isCache ?? (() => false),
    quietMs: limits.maintenanceQuietMs,
    now: Date.now,
  });
  const queries = createGitQueries(
    { ...browsing, slots: slots.reads },
    { dataDir: config.dataDir, lowDiskFloorBytes, logger, refCache, onHistoryRead: maintenance.recordHistoryRead },
  );
  return {
    ...opened,
    config,
    logger,
    limits,
    slots,
    readers,
    refCache,
    listings,
    browsing,
    maintenance,
    queries,
    remotes: { runner, ssh: { folder, searchPath } },
    upload: { ...reading, pipes, slots: slots.reads, fetchCache, reachability, ...listings },
    receiving: {
      runner,
      readers,
      slots: slots.writes,
      limits,
      logger,
      grantRefs: createRefQuota(limits.maxRefs),
      async removeLeftovers(target: string) {
        // File times advance in steps of some milliseconds: wait until the step of the killed process's last write has
        // passed.
        await sleep(20);
        return recoverRepository(target, timeOfFileSystem(folder));
      },
      needsCleanup: new Set<string>(),
    },
    async forget(repository: string) {
      refCache.forget(repository);
      fetchCache.forget(repository);
      await maintenance.leave(repository);
    },
    async stop(graceMs = 30_000) {
      opened.halt();
      await Promise.all([readers.close(), runner.close(graceMs)]);
      fetchCache.close();
      opened.close();
    },
  };
}

export type GitParts = Awaited<ReturnType<typeof openParts>>;
