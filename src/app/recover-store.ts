import { rm } from 'node:fs/promises';
import { recordRestoredMoves } from '../backup/index.ts';
import type { Config } from '../config/index.ts';
import { rows } from '../db/index.ts';
import { systemClock, systemRandom } from '../kernel/index.ts';
import { openStoreAs } from '../objects/index.ts';
import { replayJournal, takeBucket } from '../repository-store/index.ts';
import type { Replay } from '../repository-store/index.ts';
import type { AppOptions } from './app-options.ts';
import { storeOptions } from './data-folders.ts';
import { openDatabase } from './database.ts';
import { cacheFolder } from './open-git.ts';

interface Recovered extends Replay {
  /** Time of the newest push row: later changes by users are missing. Null if there is none. */
  rowsUpTo: number | null;
  /** `owner/name` of repositories, by id. */
  names: ReadonlyMap<string, string>;
}

/**
 * Updates a database that is an older copy from the journal in the store, and takes over the bucket: the server that
 * wrote to it before stops. The caller holds the instance lock. Throws `object_store_unavailable`, `bucket_taken`.
 */
export async function recoverFromStore(config: Config, options: AppOptions, isDry: boolean): Promise<Recovered> {
  const { logger, clock = systemClock, random = systemRandom } = options;
  const tools = { clock, random, logger };
  const db = await openDatabase(config, options, isDry ? 'never' : 'always');
  const { store: objects, close } = await openStoreAs(storeOptions(config, tools), config.objects.store);
  try {
    const [newest] = await rows<{ at: number }>(
      db.read,
      'SELECT created_at AS at FROM pushes WHERE settled_at IS NOT NULL AND created_at > 0 ORDER BY created_at DESC LIMIT 1',
    );
    const deps = { ...tools, db, objects };
    if (!isDry) await takeBucket(deps);
    const replay = await replayJournal(deps, {
      isDry,
      onMoved: (tx, repository, moves) => recordRestoredMoves(tx, random, repository, moves),
    });
    // A folder may contain changes that are missing in the rows and that no client was notified of.
    if (!isDry) await rm(cacheFolder(config), { recursive: true, force: true });
    const names = new Map<string, string>();
    const found = [...replay.replayed.map(({ repository }) => repository), ...replay.broken, ...replay.ended];
    for (const id of new Set(found.map((repository) => repository.replace(/\.wiki$/, '')))) {
      const [row] = await rows<{ name: string }>(
        db.read,
        `SELECT h.display || '/' || r.name AS name FROM repositories r
          JOIN handles h ON h.owner_id = coalesce(r.owner_user_id, r.owner_org_id) AND h.released_at IS NULL
          WHERE r.id = ?`,
        [id],
      );
      if (row !== undefined) names.set(id, row.name);
    }
    return { ...replay, names, rowsUpTo: newest === undefined ? null : Number(newest.at) };
  } finally {
    close();
    await db.close();
  }
}
