import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { notFound } from '../kernel/index.ts';

/** One file of a backup: size, modification time (epoch milliseconds), SHA-256 in hex. */
export type FileEntry = readonly [bytes: number, modifiedAt: number, sha256: string];

/** A repository in a backup. */
export interface BackedUpRepository {
  id: string;
  /** Path in the backup, with forward slashes: `repositories/<owner>/<id>.git` or `trash/<id>.git`. */
  folder: string;
  refs: number;
  /** Digest of the sorted lines `<object id> <ref>`. */
  refsSha256: string;
}

/** `manifest.json` of a backup: its content, with hashes to verify it. */
export interface Manifest {
  format: 1;
  /** Version of the program that created it. */
  hearth: string;
  /** ISO 8601; the time before the database was copied. */
  startedAt: string;
  finishedAt: string;
  /** Schema version. */
  schema: number;
  /** Whether private keys are included: those of actors and of CI secrets. */
  withKeys: boolean;
  repositories: BackedUpRepository[];
  /** Repositories with a row but no folder: an error of the instance, not of the backup. */
  missing: string[];
  /** Row counts by table. */
  rows: Record<string, number>;
  files: Record<string, FileEntry>;
  /** Objects in a bucket that the backup does not contain; absent if objects are files of the backup. */
  objects?: ExternalObjects;
}

/** Objects that rows of a backup reference, and their location. */
export interface ExternalObjects {
  /** `https://s3.example.org/bucket/prefix`. */
  at: string;
  count: number;
  /** Sum of the sizes in rows; images have none. */
  bytes: number;
}

export const manifestName = 'manifest.json';
/** Written next to the manifest by a restore test; not one of the manifest's files. */
export const restoreTestFileName = 'proof.json';
/** The same for `backup verify`. */
export const verifiedName = 'verified.json';

/** Throws `no_backup`. */
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
