import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { rows } from '../db/index.ts';
import { nullIfAbsent } from '../files/index.ts';
import { collectDue } from './collect-stored.ts';
import type { StoreDeps } from './deps.ts';
import { evictFolders } from './evict-folders.ts';
import type { CacheFolders } from './follow-folder.ts';
import type { Journal } from './journal.ts';
import { movedFile } from './move-to-store.ts';
import { packStoredRepositories } from './pack-stored.ts';
import { sweepPacks } from './sweep-packs.ts';

type Deps = StoreDeps & { folders: CacheFolders; journal: Journal };

const evictEveryMs = 10 * 60_000;
/** Number of changes after which the journal stores the whole repository again and removes earlier objects. */
const changesOfJournal = 100;
const snapshotsAtOnce = 20;
/** For clones that began earlier. */
const movedForMs = 24 * 60 * 60_000;
/** Time for which deletions of refs are remembered. */
const deletedForMs = 7 * 24 * 60 * 60_000;

/** Periodic maintenance of the store. */
interface StoreMaintenance {
  /**
   * Every minute: repacks repositories with many packs, and removes packs replaced a day ago. Returns how many were
   * repacked.
   */
  often(shouldContinue?: () => Promise<boolean>): Promise<number>;
  /** Nightly: drops unreachable objects, and removes objects without a row. Returns how many were repacked. */
  nightly(shouldContinue: () => Promise<boolean>): Promise<number>;
}

/** @param cacheBytes null: a share of the disk */
export function createStoreMaintenance(deps: Deps, cacheBytes: number | null): StoreMaintenance {
  const { db, clock, journal, local, logger, roots } = deps;
  let evictedAt = -Infinity;

  async function evict(): Promise<void> {
    evictedAt = performance.now();
    await evictFolders(deps, { maxBytes: cacheBytes });
  }

  async function shortenJournals(): Promise<void> {
    const due = await rows<{ id: string }>(
      db.read,
      `SELECT id FROM stored_repositories WHERE generation - snapshot_generation >= ${changesOfJournal}
        ORDER BY id LIMIT ${snapshotsAtOnce}`,
    );
    for (const { id } of due)
      await journal.snapshot(id).catch((error: unknown) => {
        logger.warn('repository_store.not_journalled', { repository: id, error });
      });
  }

  const movedAt = async (folder: string): Promise<number | null> =>
    (await stat(path.join(folder, movedFile)).catch(() => null))?.mtimeMs ?? null;

  /** Folders whose repositories moved to the store a day ago, including wikis. */
  async function removeMoved(): Promise<void> {
    for (const root of roots)
      for (const owner of (await readdir(root).catch(nullIfAbsent)) ?? [])
        for (const name of (await readdir(path.join(root, owner)).catch(() => null)) ?? []) {
          const folder = path.join(root, owner, name);
          const at = name.endsWith('.git') ? await movedAt(folder) : null;
          if (at === null || clock.now() - at < movedForMs) continue;
          const wiki = path.join(folder, 'wiki.git');
          if ((await local.storage.exists(wiki)) && (await movedAt(wiki)) === null) continue;
          await local.storage.remove(folder);
        }
  }

  /** Runs once the journal has a repository without them. */
  async function forgetDeletedRefs(): Promise<void> {
    await db.write(
      ({ manager }) =>
        manager.query(
          `DELETE FROM git_refs WHERE oid IS NULL AND changed_at < ? AND generation <= (SELECT snapshot_generation
            FROM stored_repositories WHERE id = git_refs.repository)`,
          [clock.now() - deletedForMs],
        ),
      { durable: 'with-the-next' },
    );
  }

  return {
    async often(shouldContinue) {
      const isDue = performance.now() - evictedAt > evictEveryMs;
      if (isDue) await evict();
      const packed = await packStoredRepositories(deps, shouldContinue);
      if (isDue) await shortenJournals();
      return packed;
    },
    async nightly(shouldContinue) {
      await evict();
      await shortenJournals();
      await removeMoved();
      const collected = await collectDue(deps, shouldContinue);
      if (await shouldContinue()) await sweepPacks(deps, shouldContinue);
      if (await shouldContinue()) await forgetDeletedRefs();
      return collected;
    },
  };
}
