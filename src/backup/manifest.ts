import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { notFound } from '../kernel/index.ts';

/** One file of a backup: size, time of its last change (epoch milliseconds), SHA-256 in hex. */
export type FileEntry = readonly [bytes: number, modifiedAt: number, sha256: string];

/** One repository as the backup has it. */
export interface BackedUpRepository {
  id: string;
  /** Below the backup, with forward slashes: `repositories/<owner>/<id>.git` or `trash/<id>.git`. */
  folder: string;
  refs: number;
  /** Over the sorted lines `<object id> <ref>`. */
  refsSha256: string;
}

/** `manifest.json` of a backup: what it holds, and how to tell that it still does. */
export interface Manifest {
  format: 1;
  /** Version of the program that made it. */
  hearth: string;
  /** ISO 8601, of the moment before the database was copied. */
  startedAt: string;
  finishedAt: string;
  /** Number of the newest step of the schema. */
  schema: number;
  /** Whether keys that others trust are in it: those of actors and of CI secrets. */
  withKeys: boolean;
  repositories: BackedUpRepository[];
  /** Repositories that have a row but no folder anywhere: a fault of the instance, not of the backup. */
  missing: string[];
  /** Rows by table. */
  rows: Record<string, number>;
  files: Record<string, FileEntry>;
}

export const manifestName = 'manifest.json';
/** Written beside the manifest by a drill; not one of the manifest's files. */
export const restoreTestFileName = 'proof.json';
/** The same of `backup verify`. */
export const verifiedName = 'verified.json';

/** Refuses `no_backup`. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(path.join(folder, manifestName), 'utf8').catch(() => null);
  const manifest = text === null ? null : parse(text);
  if (manifest?.format !== 1) throw notFound('no_backup', `There is no backup in ${folder}.`);
  return manifest;
}

function parse(text: string): Manifest | null {
  try {
    return JSON.parse(text) as Manifest;
  } catch {
    return null;
  }
}

export const totalBytes = ({ files }: Manifest): number =>
  Object.values(files).reduce((sum, [bytes]) => sum + bytes, 0);
