import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { askDatabaseFile, checkDatabaseFile } from '../db/index.ts';
import { lfsKey } from '../lfs/index.ts';
import { attachmentKey } from '../issues/index.ts';
import { releaseFileKey } from '../releases/index.ts';
import { eachLimit } from '../kernel/index.ts';
import { whenGone } from './file-copier.ts';
import { hashFile } from './copy-file.ts';
import { describeRefs } from './create-backup.ts';
import { manifestName, restoreTestFileName, readManifest, verifiedName } from './manifest.ts';
import type { Manifest } from './manifest.ts';
import type { VerificationResult } from './verification-result.ts';
import { databaseName } from './deps.ts';
import { checkExternalObjects } from './external-objects.ts';
import type { BackupDeps, OnProgress } from './deps.ts';

const enough = 20;
const filesAtOnce = 4;

/**
 * Verifies that a folder contains what its manifest lists: every hash, the database's integrity check, and that all
 * objects reachable from refs exist. Throws `no_backup`.
 * @param sample maximum number of repositories; all if omitted
 * @param hashes whether to hash files; unnecessary if that was just done
 */
export async function verifyBackup(
  deps: BackupDeps,
  folder: string,
  {
    sample = Infinity,
    hashes = true,
    onProgress = () => {},
  }: { sample?: number; hashes?: boolean; onProgress?: OnProgress } = {},
): Promise<VerificationResult[]> {
  const manifest = await readManifest(folder);
  const files = hashes ? [await checkFiles(folder, manifest, onProgress)] : [];
  // For a corrupt file, further messages of SQLite and git add nothing.
  const database = await checkDatabase(path.join(folder, databaseName), manifest);
  return [
    ...files,
    database,
    await checkRepositories(deps, folder, manifest, sample, onProgress),
    ...(await checkExternalObjects(deps, path.join(folder, databaseName), manifest)),
  ];
}

async function checkFiles(folder: string, { files }: Manifest, onProgress: OnProgress): Promise<VerificationResult> {
  const problems: string[] = [];
  const relativePaths = Object.keys(files);
  let done = 0;
  await eachLimit(relativePaths, filesAtOnce, async (relativePath) => {
    const found = await hashFile(path.join(folder, relativePath)).catch(whenGone);
    const [bytes, , sha256] = files[relativePath]!;
    if (found === null) problems.push(`${relativePath} is missing`);
    else if (found.bytes !== bytes || found.sha256 !== sha256) problems.push(`${relativePath} has changed`);
    done += 1;
    if (done % 100 === 0) onProgress({ done, total: relativePaths.length, item: relativePath });
  });
  for (const relativePath of await filesBelow(folder)) {
    if (
      !Object.hasOwn(files, relativePath) &&
      ![manifestName, restoreTestFileName, verifiedName].includes(relativePath)
    )
      problems.push(`${relativePath} is not in the manifest`);
  }
  return { part: 'files', looked: relativePaths.length, problems: problems.slice(0, enough) };
}

async function checkDatabase(file: string, { rows, files, objects }: Manifest): Promise<VerificationResult> {
  const looked = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const isElsewhere = objects !== undefined;
  try {
    const health = await checkDatabaseFile(file);
    const lost = Object.keys(rows).filter((table) => health.rows[table] !== rows[table]);
    return {
      part: 'database',
      looked,
      problems: [
        ...health.damage,
        ...Object.entries(health.orphans).map(
          ([table, count]) => `${count} rows of ${table} have lost what they belong to`,
        ),
        ...(isElsewhere ? [] : await checkFilesOfRows(file, rows, files)),
        ...lost.map((table) => `${table} has ${health.rows[table] ?? 'no'} rows instead of ${rows[table]}`),
      ].slice(0, enough),
    };
  } catch (error) {
    return { part: 'database', looked, problems: [error instanceof Error ? error.message : String(error)] };
  }
}

/** A table of uploaded files. */
interface SentFiles {
  table: string;
  /** Name of one such file. */
  called: string;
  keyOf(id: string): string;
}

const attachments: SentFiles = { table: 'attachments', called: 'attachment', keyOf: attachmentKey };
const releaseFiles: SentFiles = { table: 'release_files', called: 'release file', keyOf: releaseFileKey };

/** Checks that every row has its file, with the digest in the row. */
async function checkSentFiles(
  database: string,
  files: Manifest['files'],
  { table, called, keyOf }: SentFiles,
): Promise<string[]> {
  const [rows = []] = await askDatabaseFile(database, [
    { sql: `SELECT id, name, sha256 FROM ${table}`, parameters: [] },
  ]);
  return rows.flatMap(({ id, name, sha256 }) => {
    const found = files[`objects/${keyOf(String(id))}`];
    if (found === undefined) return [`the ${called} ${String(name)} (${String(id)}) has no file`];
    return found[2] === sha256 ? [] : [`the ${called} ${String(name)} (${String(id)}) has another content`];
  });
}

/** Objects whose files are in the backup. */
async function checkFilesOfRows(file: string, rows: Manifest['rows'], files: Manifest['files']): Promise<string[]> {
  const has = (table: string): boolean => (rows[table] ?? 0) > 0;
  return [
    ...(has('attachments') ? await checkSentFiles(file, files, attachments) : []),
    ...(has('release_files') ? await checkSentFiles(file, files, releaseFiles) : []),
    ...(has('lfs_objects') ? await checkLfsObjects(file, files) : []),
  ];
}

/** Checks that every Git LFS object has its file, whose name is its digest. */
async function checkLfsObjects(database: string, files: Manifest['files']): Promise<string[]> {
  const [objects = []] = await askDatabaseFile(database, [
    { sql: 'SELECT repository_id, oid FROM lfs_objects WHERE removing_at IS NULL', parameters: [] },
  ]);
  return objects.flatMap(({ repository_id: repositoryId, oid }) => {
    const found = files[`objects/${lfsKey(String(repositoryId), String(oid))}`];
    if (found?.[2] === oid) return [];
    return [`the LFS object ${String(oid)} has ${found === undefined ? 'no file' : 'another content'}`];
  });
}

async function checkRepositories(
  deps: BackupDeps,
  folder: string,
  { repositories }: Manifest,
  sample: number,
  onProgress: OnProgress,
): Promise<VerificationResult> {
  // Spread over the list, so that a sample covers many owners.
  const step = Math.max(1, Math.ceil(repositories.length / sample));
  const chosen = repositories.filter((_, at) => at % step === 0);
  const problems: string[] = [];
  for (const [done, { id, folder: relativePath, refsSha256 }] of chosen.entries()) {
    onProgress({ done, total: chosen.length, item: id });
    const at = path.join(folder, relativePath);
    const found = await deps.git.maintenance.check(at).catch((error: Error) => [error.message]);
    if (found.length > 0) problems.push(`${relativePath}: ${found[0]}`);
    else if ((await describeRefs(deps, at)).refsSha256 !== refsSha256)
      problems.push(`${relativePath}: its refs differ from the manifest`);
  }
  return { part: 'repositories', looked: chosen.length, problems };
}

async function filesBelow(folder: string, relativePath = ''): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(path.join(folder, relativePath), { withFileTypes: true })) {
    const at = relativePath === '' ? entry.name : `${relativePath}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await filesBelow(folder, at)));
    else found.push(at);
  }
  return found;
}
