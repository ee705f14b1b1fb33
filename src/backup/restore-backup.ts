import { generateKeyPair } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../config/index.ts';
import { askDatabaseFile } from '../db/index.ts';
import { readRefs } from '../git/index.ts';
import { conflict, unavailable } from '../kernel/index.ts';
import type { Logger, Random } from '../kernel/index.ts';
import { copyFiles } from './restore-files.ts';
import { whenGone } from './file-copier.ts';
import { reconcileJournal } from './reconcile-journal.ts';
import type { RefsOnDisk } from './reconcile-journal.ts';
import { readManifest, totalBytes } from './manifest.ts';
import type { Manifest } from './manifest.ts';
import { databaseName } from './deps.ts';
import type { OnProgress } from './deps.ts';

interface RestoreOptions {
  /** The folder of one backup. */
  from: string;
  config: Pick<Config, 'dataDir' | 'storage' | 'repositories'>;
  /** Version of the schema that this program supports. */
  schema: number;
  /** Whether existing data may be moved aside. */
  replace: boolean;
  random: Random;
  /** Epoch milliseconds. */
  now: number;
  logger: Logger;
  onProgress?: OnProgress;
}

export interface Restored {
  repositories: number;
  files: number;
  madeAt: string;
  /** New location of the previous data; null if there was none. */
  movedAside: string | null;
  /** Number of actors with new keys, because the backup had none. */
  newKeys: number;
  /** Number of repositories that got a journal entry, because they were pushed to during the backup. */
  pushedLater: number;
  missing: string[];
}

/**
 * Restores a backup as the data folder. Copies everything next to it and verifies the copy first; nothing changes until
 * that succeeded. Moves previous data aside without removing it. Ends all sessions. The caller holds the instance lock
 * and migrates the schema afterwards. Throws `no_backup`, `schema_newer`, `data_dir_not_empty`, `backup_damaged`.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { from, config, random, logger, onProgress = () => {} } = options;
  const { manifest, present } = await judge(options);
  const staging = path.join(config.dataDir, `.restoring-${random.uuid()}`);
  await mkdir(staging, { recursive: true, mode: 0o700 });
  try {
    const problems = await copyFiles(from, manifest, staging, onProgress);
    if (problems.length > 0)
      throw unavailable('backup_damaged', `The backup is damaged: ${problems[0]}. Nothing was changed.`);
    const newKeys = await freshen(path.join(staging, databaseName));
    // Repositories are copied after the database: clients may have pushed to some in between.
    const pushedLater = await reconcileJournal(path.join(staging, databaseName), refsIn(staging, manifest), {
      random,
      now: options.now,
    });
    const movedAside = present.length === 0 ? null : await moveAside(config, present, manifest);
    const names = (await readdir(staging)).sort((a, b) => Number(a === databaseName) - Number(b === databaseName));
    for (const name of names) await moveInto(path.join(staging, name), homeOf(config, name));
    logger.info('backup.restored', { from, repositories: manifest.repositories.length, movedAside });
    return {
      repositories: manifest.repositories.length,
      files: Object.keys(manifest.files).length,
      madeAt: manifest.startedAt,
      movedAside,
      newKeys,
      pushedLater,
      missing: manifest.missing,
    };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function* refsIn(staging: string, { repositories }: Manifest): AsyncGenerator<RefsOnDisk> {
  for (const { id, folder } of repositories) yield { id, refs: await readRefs(path.join(staging, folder)) };
}

/** The effects of a restore. */
export interface RestorePlan {
  madeAt: string;
  /** Version of the program that created the backup. */
  hearth: string;
  schema: number;
  repositories: number;
  files: number;
  bytes: number;
  withKeys: boolean;
  /** Names of existing data that would be moved aside. */
  movesAside: string[];
}

/** Checks without changes. Refuses as `restoreBackup` does, but reads only the manifest of the backup. */
export async function planRestore(options: Judged): Promise<RestorePlan> {
  const { manifest, present } = await judge(options);
  return {
    madeAt: manifest.startedAt,
    hearth: manifest.hearth,
    schema: manifest.schema,
    repositories: manifest.repositories.length,
    files: Object.keys(manifest.files).length,
    bytes: totalBytes(manifest),
    withKeys: manifest.withKeys,
    movesAside: present,
  };
}

type Judged = Pick<RestoreOptions, 'from' | 'config' | 'schema' | 'replace'>;

async function judge({ from, config, schema, replace }: Judged): Promise<{ manifest: Manifest; present: string[] }> {
  const manifest = await readManifest(from);
  if (manifest.schema > schema) {
    throw unavailable(
      'schema_newer',
      `The backup was made by a newer Hearth (${manifest.hearth}, V${manifest.schema}). Nothing was changed.`,
    );
  }
  const present = await dataIn(config);
  if (present.length > 0 && !replace) {
    throw conflict('data_dir_not_empty', `${config.dataDir} already contains data.`);
  }
  return { manifest, present };
}

/** The target of a backup's top folder in the data folder. */
function homeOf({ dataDir, storage, repositories }: RestoreOptions['config'], name: string): string {
  if (name === 'repositories') return storage.root;
  if (name === 'repo-images') return repositories.imageRoot;
  return path.join(dataDir, name);
}

const brought = [
  databaseName,
  `${databaseName}-wal`,
  `${databaseName}-shm`,
  'repositories',
  'repo-images',
  'avatars',
  'ssh',
  'lfs',
  'objects',
  'ci',
  'trash',
  'secrets',
  'README',
];

async function dataIn(config: RestoreOptions['config']): Promise<string[]> {
  const found: string[] = [];
  for (const name of brought) {
    const home = homeOf(config, name);
    const isThere = (await readdir(path.dirname(home)).catch(whenGone))?.includes(path.basename(home)) ?? false;
    if (isThere && name !== 'README') found.push(name);
  }
  return found;
}

async function moveAside(
  config: RestoreOptions['config'],
  names: readonly string[],
  { startedAt }: Manifest,
): Promise<string> {
  const aside = await freeFolder(
    path.join(config.dataDir, `replaced-by-${startedAt.slice(0, 19).replaceAll(':', '-')}Z`),
  );
  await mkdir(aside, { mode: 0o700 });
  // The database is moved away first and into place last: in between, `serve` finds none and does not mistake the
  // folder for a new instance.
  for (const name of names) await moveInto(homeOf(config, name), path.join(aside, name));
  return aside;
}

async function freeFolder(wanted: string): Promise<string> {
  const names = (await readdir(path.dirname(wanted))) ?? [];
  for (let turn = 1; ; turn += 1) {
    const folder = turn === 1 ? wanted : `${wanted}-${turn}`;
    if (!names.includes(path.basename(folder))) return folder;
  }
}

/** Moves by renaming. Images and repositories may be configured to other folders, where renaming must also work. */
async function moveInto(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
  if (path.basename(to) === 'README') await rm(to, { force: true });
  await rename(from, to);
}

/**
 * Ends sessions, and creates new keys for actors whose keys were not in the backup, because actor ids are permanent.
 * @returns number of actors with new keys
 */
async function freshen(database: string): Promise<number> {
  const sql = (text: string, parameters: unknown[] = []) => ({ sql: text, parameters });
  const [keyless = []] = await askDatabaseFile(database, [
    sql("SELECT ap_path FROM federation_keys WHERE private_key_pem = ''"),
  ]);
  const pairs = [];
  for (const { ap_path: actor } of keyless) pairs.push({ actor: String(actor), ...(await makePair()) });
  await askDatabaseFile(
    database,
    [
      sql('DELETE FROM sessions'),
      ...pairs.map(({ actor, publicKey, privateKey }) =>
        sql('UPDATE federation_keys SET public_key_pem = ?, private_key_pem = ? WHERE ap_path = ?', [
          publicKey,
          privateKey,
          actor,
        ]),
      ),
    ],
    { setUp: [] },
  );
  return pairs.length;
}

const makeKeyPair = promisify(generateKeyPair);

const makePair = () =>
  makeKeyPair('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
