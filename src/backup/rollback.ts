import { syncPath } from '../files/index.ts';
import { copyFile, link, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { entryAfter } from '../audit/index.ts';
import type { Config } from '../config/index.ts';
import { askDatabaseFile, removeUnfinishedUpgrade } from '../db/index.ts';
import { readRefs, repositoryPath } from '../git/index.ts';
import type { Logger, Random } from '../kernel/index.ts';
import { mergePushJournal } from './merge-push-journal.ts';
import type { MergedJournal } from './merge-push-journal.ts';
import { reconcileJournal } from './reconcile-journal.ts';
import type { RefsOnDisk } from './reconcile-journal.ts';
import { databasePath } from './deps.ts';

interface RollbackOptions {
  config: Pick<Config, 'dataDir' | 'storage'>;
  /** A copy of the database from before a migration. */
  snapshot: string;
  /** New location of the newer database. */
  keep: string;
  random: Random;
  /** Epoch milliseconds. */
  now: number;
  logger: Logger;
}

interface RolledBack extends MergedJournal {
  /** Repositories whose refs had moved without an entry in either database. */
  settledByRefs: number;
  /** Whether the newer database could be read. */
  isNewerReadable: boolean;
}

/**
 * Replaces the newer database with an older copy plus all later pushes: journal entries come from the newer database,
 * otherwise from the refs on disk. The caller holds the instance lock. After a crash one of the two databases is
 * complete and in place.
 */
export async function rollback({ config, snapshot, keep, random, now, logger }: RollbackOptions): Promise<RolledBack> {
  const current = databasePath(config);
  const prepared = `${current}.new`;
  for (const ending of ['', '-wal', '-shm']) await rm(`${prepared}${ending}`, { force: true });
  await copyFile(snapshot, prepared);
  let carried: MergedJournal = { pushes: [], left: [] };
  let isNewerReadable = true;
  try {
    carried = await mergePushJournal(prepared, current);
  } catch (error) {
    // A corrupt database may be the reason for the rollback; nothing is merged from it.
    isNewerReadable = false;
    logger.warn('rollback.newer_unreadable', { error });
  }
  const settledByRefs = await reconcileJournal(prepared, refsOnDisk(config, prepared), { random, now });
  await recordInAudit(prepared, now, {
    snapshot: path.basename(snapshot),
    kept: path.basename(keep),
    pushes: carried.pushes.length,
  });
  await askDatabaseFile(prepared, [], { setUp: ['PRAGMA wal_checkpoint(TRUNCATE)', 'PRAGMA journal_mode = DELETE'] });
  await syncPath(prepared);
  // A database is in place at every moment: a start without one would create a new instance.
  await link(current, keep).catch(() => copyFile(current, keep));
  // Empty, unless the database was corrupt.
  await rename(`${current}-wal`, `${keep}-wal`).catch(() => {});
  await rm(`${current}-shm`, { force: true });
  await rename(prepared, current);
  await syncPath(path.dirname(current));
  // Undoes what was begun: the next upgrade starts with its own copy.
  removeUnfinishedUpgrade(path.dirname(snapshot));
  return { ...carried, settledByRefs, isNewerReadable };
}

/** Appends to the audit log; an older schema may have none. */
async function recordInAudit(file: string, at: number, details: object): Promise<void> {
  const [tables = []] = await askDatabaseFile(file, [
    { sql: "SELECT name FROM sqlite_master WHERE name = 'audit_log'", parameters: [] },
  ]);
  if (tables.length === 0) return;
  const [[last] = []] = await askDatabaseFile(file, [
    { sql: 'SELECT id, hash FROM audit_log ORDER BY id DESC LIMIT 1', parameters: [] },
  ]);
  const row = entryAfter(last === undefined ? null : { id: Number(last['id']), hash: String(last['hash']) }, {
    at,
    actor: 'local',
    address: null,
    event: 'backup.rolled_back',
    details: JSON.stringify(details),
  });
  await askDatabaseFile(
    file,
    [
      {
        sql: 'INSERT INTO audit_log (id, at, actor, address, event, details, hash) VALUES (:id, :at, :actor, :address, :event, :details, :hash)',
        parameters: { ...row },
      },
    ],
    { setUp: [] },
  );
}

async function* refsOnDisk({ dataDir, storage }: RollbackOptions['config'], file: string): AsyncGenerator<RefsOnDisk> {
  const [rows = []] = await askDatabaseFile(file, [{ sql: 'SELECT * FROM repositories', parameters: [] }]);
  for (const { id, owner_user_id: user, owner_org_id: organisation, deleted_at: deletedAt } of rows) {
    const folder =
      deletedAt === null
        ? repositoryPath(storage.root, String(user ?? organisation), String(id))
        : path.join(dataDir, 'trash', `${id}.git`);
    // A repository without its folder is skipped: its refs were not deleted on purpose, and the doctor reports it.
    if ((await stat(folder).catch(() => null)) !== null) yield { id: String(id), refs: await readRefs(folder) };
  }
}
