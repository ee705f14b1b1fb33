import { syncPath } from '../files/index.ts';
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { askDatabaseFile, checkDatabaseFile } from '../db/index.ts';
import type { ThreadStatement } from '../db/index.ts';
import { unavailable } from '../kernel/index.ts';
import { createCopier, whenGone } from './file-copier.ts';
import type { Copier } from './file-copier.ts';
import { wikiPathOf } from '../repositories/index.ts';
import { hashFile } from './copy-file.ts';
import { copyRepository } from './copy-repository.ts';
import { newestBackup } from './list-backups.ts';
import { createFolder } from './create-folder.ts';
import { manifestName, totalBytes } from './manifest.ts';
import type { BackedUpRepository, Manifest, ExternalObjects } from './manifest.ts';
import { countObjects } from './external-objects.ts';
import { databaseName, isKeyFile, dataFolders, instanceKeyName } from './deps.ts';
import type { BackupDeps, OnProgress } from './deps.ts';
import { withBackupLock } from './backup-lock.ts';

export interface CreateOptions {
  /** The folder of backups; by default that of the settings. */
  to?: string;
  /** Includes private keys. Without them a restore creates new ones. */
  withKeys?: boolean;
  onProgress?: OnProgress;
}

export interface CreatedBackup {
  name: string;
  /** Absolute path. */
  folder: string;
  bytes: number;
  repositories: number;
  tookMs: number;
  /** Ids of repositories without a folder. */
  missing: string[];
  /** Repositories whose packs on this server have changed since they were written. */
  damaged: DamagedRepository[];
  /** Objects in a bucket that the backup does not contain; null if objects are files of the backup. */
  objects: ExternalObjects | null;
}

interface DamagedRepository {
  id: string;
  /** Absolute path. */
  folder: string;
  problem: string;
}

/** Retries for a repository that is moved while it is copied: to the trash, or to another owner. */
const maxTries = 5;
const unfinished = '.unfinished-';

/**
 * Creates a backup of the running instance: first a consistent copy of the database, then the repositories that it
 * references. Those can only be newer than their rows, never missing. The folder gets its final name once it is
 * complete. Throws `backup_under_way`, `backup_folder_unusable`, `low_disk_space`.
 */
export function createBackup(
  deps: BackupDeps,
  { to = deps.config.backup.folder, ...options }: CreateOptions = {},
): Promise<CreatedBackup> {
  return withBackupLock(deps, async () => {
    await createFolder(to);
    await refuseLowDisk(deps, to);
    const earlier = await newestBackup(to);
    for (const name of await readdir(to)) {
      if (name.startsWith(unfinished)) await rm(path.join(to, name), { recursive: true, force: true });
    }
    const startedAt = deps.clock.now();
    const name = await freeName(to, startedAt);
    const target = path.join(to, unfinished + name);
    await mkdir(target, { mode: 0o700 });
    try {
      const { manifest, damaged } = await fill(deps, target, createCopier(target, earlier), { startedAt, ...options });
      await rename(target, path.join(to, name));
      await syncPath(to);
      const { repositories, missing } = manifest;
      const made = {
        name,
        folder: path.join(to, name),
        bytes: totalBytes(manifest),
        repositories: repositories.length,
        tookMs: Math.round(deps.clock.now() - startedAt),
        missing,
        damaged,
        objects: manifest.objects ?? null,
      };
      deps.logger.info('backup.created', made);
      for (const each of damaged) deps.logger.error('backup.damaged_repository', { ...each });
      return made;
    } catch (error) {
      await rm(target, { recursive: true, force: true });
      throw error;
    }
  });
}

/** `2026-11-20T12-43-56Z`: sorts by time and is a valid file name everywhere. */
async function freeName(folder: string, at: number): Promise<string> {
  const taken = new Set(await readdir(folder));
  for (let second = Math.floor(at / 1000); ; second += 1) {
    const name = new Date(second * 1000)
      .toISOString()
      .replace(/\.000Z$/, 'Z')
      .replaceAll(':', '-');
    if (!taken.has(name)) return name;
  }
}

const storedTables = ['git_refs', 'git_packs', 'stored_repositories'];

async function fill(
  deps: BackupDeps,
  target: string,
  copier: Copier,
  { startedAt, withKeys = false, onProgress = () => {} }: CreateOptions & { startedAt: number },
): Promise<{ manifest: Manifest; damaged: DamagedRepository[] }> {
  const database = path.join(target, databaseName);
  await deps.db.exportTo(database);
  if (!withKeys) await stripKeys(database);
  // Repositories of the store are copied as folders, so that a restored instance needs no store.
  await askDatabaseFile(
    database,
    storedTables.map((table) => plain(`DELETE FROM ${table}`)),
    { setUp: [] },
  );
  const [rows = [], steps = []] = await askDatabaseFile(database, [
    plain('SELECT id, coalesce(owner_user_id, owner_org_id) AS owner, deleted_at FROM repositories ORDER BY owner, id'),
    plain('SELECT name FROM migrations'),
  ]);

  const repositories: BackedUpRepository[] = [];
  const missing: string[] = [];
  const damaged: DamagedRepository[] = [];
  for (const [done, { id, owner, deleted_at: deletedAt }] of rows.entries()) {
    const row = { id: String(id), owner: String(owner), isDeleted: deletedAt !== null };
    onProgress({ done, total: rows.length, item: row.id });
    if (done % 64 === 63) await refuseLowDisk(deps, target);
    const copied = await copyOne(deps, target, copier, row, damaged);
    if (copied !== null) repositories.push(copied);
    else if (await isKnown(deps, row.id)) missing.push(row.id);
    // It was permanently removed after the database was copied; the copy would reference a missing repository.
    else
      await askDatabaseFile(database, [{ sql: 'DELETE FROM repositories WHERE id = ?', parameters: [row.id] }], {
        setUp: [],
      });
  }
  for (const { relativePath, at } of dataFolders(deps.config)) {
    onProgress({ done: rows.length, total: rows.length, item: relativePath });
    await copier.folder(
      at,
      relativePath,
      (name) =>
        name.startsWith('.') ||
        `${relativePath}/${name}` === instanceKeyName ||
        (!withKeys && isKeyFile(`${relativePath}/${name}`)),
    );
  }
  if (withKeys) {
    await copier.folder(path.join(deps.config.dataDir, 'secrets'), 'secrets');
    await copier.file(deps.config.instanceKeyFile, instanceKeyName).catch(whenGone);
  }
  await copier.file(path.join(deps.config.dataDir, 'README'), 'README').catch(whenGone);

  const { bytes, sha256 } = await hashFile(database);
  copier.files.set(databaseName, [bytes, startedAt, sha256]);
  const { rows: counts } = await checkDatabaseFile(database);
  const objects = await countObjects(deps, database);
  const manifest: Manifest = {
    format: 1,
    hearth: deps.version,
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: new Date(deps.clock.now()).toISOString(),
    schema: Math.max(0, ...steps.map(({ name }) => Number(/^V(\d+)/.exec(String(name))?.[1] ?? 0))),
    withKeys,
    repositories,
    missing,
    rows: counts,
    ...(objects === null ? {} : { objects }),
    files: Object.fromEntries([...copier.files].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  await writeDurably(path.join(target, manifestName), `${JSON.stringify(manifest)}\n`);
  return { manifest, damaged };
}

interface Row {
  id: string;
  owner: string;
  isDeleted: boolean;
}

/** Copies a repository from its current folder to the one in the copied database; null if it does not exist. */
async function copyOne(
  deps: BackupDeps,
  target: string,
  copier: Copier,
  row: Row,
  damaged: DamagedRepository[],
): Promise<BackedUpRepository | null> {
  const folder = row.isDeleted ? `trash/${row.id}.git` : `repositories/${row.owner}/${row.id}.git`;
  for (let turn = 1; ; turn += 1) {
    const from = await findFolder(deps, row);
    if (from === null) return null;
    try {
      await copyRepository(copier, from, target, folder);
      const wiki = await storedFolder(deps, wikiPathOf(deps.git.storage.pathOf(row.owner, row.id)));
      if (wiki !== null) await copyRepository(copier, wiki, target, wikiPathOf(folder));
      // Files contained in an earlier backup are not read for the copy, so corruption of the source would go unnoticed.
      const [problem] = await deps.git.maintenance.checkRepositoryFiles(from);
      if (problem !== undefined) damaged.push({ id: row.id, folder: from, problem });
      return { id: row.id, folder, ...(await describeRefs(deps, path.join(target, folder))) };
    } catch (error) {
      if (turn === maxTries || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      copier.forget(folder);
      await rm(path.join(target, folder), { recursive: true, force: true });
    }
  }
}

/** The current folder of a repository of the store; null for every other. */
async function storedFolder({ git }: BackupDeps, place: string): Promise<string | null> {
  const folder = await git.storage.folderOf(place);
  return folder === place ? null : folder;
}

async function findFolder(deps: BackupDeps, { id, owner }: Row): Promise<string | null> {
  const { config } = deps;
  const stored = await storedFolder(deps, deps.git.storage.pathOf(owner, id));
  if (stored !== null) return stored;
  const { root } = config.storage;
  const candidates = [path.join(root, owner, `${id}.git`), path.join(config.dataDir, 'trash', `${id}.git`)];
  const others = ((await readdir(root).catch(whenGone)) ?? []).map((name) => path.join(root, name, `${id}.git`));
  for (const folder of [...candidates, ...others, ...candidates])
    if ((await readdir(folder).catch(whenGone)) !== null) return folder;
  return null;
}

/** A digest of a repository's refs, for comparison after a restore. */
export async function describeRefs(
  { git }: Pick<BackupDeps, 'git'>,
  folder: string,
): Promise<{ refs: number; refsSha256: string }> {
  const refs = await git.refs.list(folder);
  const lines = [...refs].map(([ref, id]) => `${id} ${ref}\n`).join('');
  return { refs: refs.size, refsSha256: createHash('sha256').update(lines).digest('hex') };
}

/**
 * Deletes private keys of actors and those that servers share from the copy, and overwrites free pages (security K03).
 */
async function stripKeys(database: string): Promise<void> {
  await askDatabaseFile(
    database,
    [plain("UPDATE federation_keys SET private_key_pem = ''"), plain('DELETE FROM shared_keys')],
    {
      setUp: ['PRAGMA secure_delete = ON'],
    },
  );
}

async function isKnown({ db }: BackupDeps, id: string): Promise<boolean> {
  return ((await db.read.query('SELECT 1 FROM repositories WHERE id = ?', [id])) as unknown[]).length > 0;
}

async function refuseLowDisk({ config }: BackupDeps, folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < config.storage.lowDiskFloorBytes) {
    throw unavailable('low_disk_space', 'The server is low on disk space; no backup was made.');
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600, flush: true });
  await syncPath(path.dirname(file));
}

const plain = (sql: string): ThreadStatement => ({ sql, parameters: [] });
