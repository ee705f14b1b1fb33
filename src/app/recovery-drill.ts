import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config/index.ts';
import { checkDatabaseFile, copyDatabase, databaseFileIn, rows } from '../db/index.ts';
import type { Database } from '../db/index.ts';
import { internal } from '../kernel/index.ts';
import { openStoreAs } from '../objects/index.ts';
import { provePacks, replayJournal } from '../repository-store/index.ts';
import { storeOptions } from './data-folders.ts';
import { openDatabase } from './database.ts';
import type { Storage } from './open-storage.ts';

/** What a trial of a recovery has shown. */
interface DrillResult {
  /** Epoch milliseconds. */
  at: number;
  /** Packs that were read from the store. */
  packs: number;
  bytes: number;
  /** Sentences; none when a recovery would have succeeded. */
  faults: string[];
}

export interface RecoveryDrill {
  /**
   * Recovers into a temporary folder: rows from a copy, what the journal has beyond that, and packs as the store has
   * them. Nothing in the store changes. The result is kept. Throws `object_store_unavailable`.
   */
  run(options?: {
    /** A file with the rows; those of this database when absent. */
    database?: string;
    /** Whether all packs are read; otherwise a seventh of them, and those of the last day. */
    isWhole?: boolean;
    shouldContinue?(): Promise<boolean>;
  }): Promise<DrillResult>;
  /** The newest trial, and the time of the newest without a fault. */
  state(): Promise<{ newest: DrillResult | null; succeededAt: number | null }>;
}

const dayMs = 86_400_000;
const keptDrills = 30;
const nights = 7;

type Deps = Pick<Storage, 'config' | 'db' | 'clock' | 'random' | 'logger'>;

export function createRecoveryDrill(deps: Deps): RecoveryDrill {
  const { config, db, clock, random, logger } = deps;

  async function keep({ at, packs, bytes, faults }: DrillResult): Promise<void> {
    await db.write(async ({ manager }) => {
      await rows(manager, 'INSERT INTO recovery_drills (at, packs, bytes, faults) VALUES (?, ?, ?, ?)', [
        at,
        packs,
        bytes,
        JSON.stringify(faults),
      ]);
      await rows(
        manager,
        `DELETE FROM recovery_drills WHERE at NOT IN (SELECT at FROM recovery_drills ORDER BY at DESC LIMIT ${keptDrills})`,
      );
    });
  }

  /** A pack may have been replaced, or its repository deleted, since the rows were copied. */
  async function isWanted({ repository, key }: { repository: string; key: string }): Promise<boolean> {
    const found = await rows(
      db.read,
      'SELECT key FROM git_packs WHERE repository = ? AND key = ? AND replaced_at IS NULL',
      [repository, key],
    );
    return found.length > 0;
  }

  return {
    async run({ database, isWhole = false, shouldContinue } = {}) {
      const at = clock.now();
      const folder = path.join(config.dataDir, 'tmp', `recovery-${random.uuid()}`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { store: objects, close } = await openStoreAs(storeOptions(config, deps), config.objects.store);
      let copy: Database | null = null;
      try {
        const faults: string[] = [];
        const own = { ...config, dataDir: folder, database: { ...config.database, url: null } } satisfies Config;
        if (database !== undefined || db.dialect === 'sqlite') {
          const file = databaseFileIn(folder);
          if (database === undefined) await db.exportTo(file);
          else await copyDatabase(database, file);
          const { damage, orphans } = await checkDatabaseFile(file);
          faults.push(...damage.map((text) => `the copy of the rows is damaged: ${text}`));
          faults.push(...Object.keys(orphans).map((table) => `rows of ${table} refer to missing ones`));
          copy = await openDatabase(own, { logger, clock, random }, 'always');
        }
        const tools = { db: copy ?? db, objects, clock, random, logger };
        const replay = await replayJournal(tools, { isDry: copy === null, isTrial: true, onMoved: async () => {} });
        faults.push(...replay.broken.map((repository) => `the journal of ${repository} has a gap, or cannot be read`));
        faults.push(...replay.missingPacks.map((name) => `the store does not have ${name}`));
        const night = Math.floor(at / dayMs) % nights;
        const proof = await provePacks(tools, {
          isDue: ({ key, createdAt }) => isWhole || at - Number(createdAt) < dayMs || nightOf(key) === night,
          isWanted,
          ...(shouldContinue === undefined ? {} : { shouldContinue }),
        });
        const result = { at, packs: proof.packs, bytes: proof.bytes, faults: [...faults, ...proof.faults] };
        await keep(result);
        if (result.faults.length === 0) logger.info('recovery.proven', { packs: result.packs, bytes: result.bytes });
        else logger.error('recovery.not_proven', { faults: result.faults });
        return result;
      } finally {
        close();
        await copy?.close();
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      }
    },

    async state() {
      const found = await rows<Omit<DrillResult, 'faults'> & { faults: string }>(
        db.read,
        `SELECT at, packs, bytes, faults FROM recovery_drills ORDER BY at DESC LIMIT ${keptDrills}`,
      );
      const all = found.map(({ at, packs, bytes, faults }) => ({
        at: Number(at),
        packs: Number(packs),
        bytes: Number(bytes),
        faults: JSON.parse(faults) as string[],
      }));
      return { newest: all[0] ?? null, succeededAt: all.find(({ faults }) => faults.length === 0)?.at ?? null };
    },
  };
}

/** `packs/<repository>/<uuid>`: the night of the week in which a pack is read. */
function nightOf(key: string): number {
  const digits = /([0-9a-f]{8})[0-9a-f-]*$/.exec(key.split('/').at(-1) ?? '')?.[1];
  if (digits === undefined) throw internal(`not the key of a pack: ${key}`);
  return Number.parseInt(digits, 16) % nights;
}
