import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { notFound } from '../kernel/index.ts';
import { whenGone } from './file-copier.ts';
import type { EarlierBackup } from './file-copier.ts';
import { restoreTestFileName, readManifest, totalBytes, verifiedName } from './manifest.ts';
import type { Manifest } from './manifest.ts';

/** The result of a restore test. */
export interface RestoreTest {
  /** ISO 8601. */
  at: string;
  /** Number of undamaged repositories, and of all. */
  proven: number;
  total: number;
  problems: string[];
}

/** The result of the last verification of a backup. */
export interface Verification {
  /** ISO 8601. */
  at: string;
  /** Whether every repository was checked instead of a sample. */
  isWhole: boolean;
  problems: string[];
}

export interface ListedBackup {
  name: string;
  folder: string;
  /** Epoch milliseconds. */
  madeAt: number;
  version: string;
  schema: number;
  bytes: number;
  repositories: number;
  withKeys: boolean;
  verified: Verification | null;
  proof: RestoreTest | null;
}

const nameShape = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/;

/** The complete backups in a folder, newest first. */
export async function listBackups(folder: string): Promise<ListedBackup[]> {
  const listed: ListedBackup[] = [];
  for (const name of await backupNames(folder)) {
    const at = path.join(folder, name);
    const manifest = await readManifest(at).catch(() => null);
    if (manifest !== null) listed.push(await describe(name, at, manifest));
  }
  return listed;
}

/** Throws `no_backup`. */
export async function findBackup(folder: string, name: string): Promise<string> {
  if (!nameShape.test(name)) throw notFound('no_backup', `There is no backup ${name}.`);
  const at = path.join(folder, name);
  await readManifest(at);
  return at;
}

/** Throws `no_backup` if there is none. */
export async function newestOf(folder: string): Promise<string> {
  const newest = await newestBackup(folder);
  if (newest === null) throw notFound('no_backup', `There is no backup in ${folder}.`);
  return newest.folder;
}

export async function newestBackup(folder: string): Promise<EarlierBackup | null> {
  for (const name of await backupNames(folder)) {
    const at = path.join(folder, name);
    const manifest = await readManifest(at).catch(() => null);
    if (manifest !== null) return { folder: at, manifest };
  }
  return null;
}

/** Newest first. */
async function backupNames(folder: string): Promise<string[]> {
  return ((await readdir(folder).catch(whenGone)) ?? [])
    .filter((name) => nameShape.test(name))
    .sort()
    .reverse();
}

async function describe(name: string, folder: string, manifest: Manifest): Promise<ListedBackup> {
  const readJson = async <Content>(file: string): Promise<Content | null> => {
    const text = await readFile(path.join(folder, file), 'utf8').catch(() => null);
    return text === null ? null : (JSON.parse(text) as Content);
  };
  return {
    name,
    folder,
    madeAt: Date.parse(manifest.startedAt),
    version: manifest.hearth,
    schema: manifest.schema,
    bytes: totalBytes(manifest),
    repositories: manifest.repositories.length,
    withKeys: manifest.withKeys,
    verified: await readJson<Verification>(verifiedName),
    proof: await readJson<RestoreTest>(restoreTestFileName),
  };
}
