import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { openZipEntry, readZipDirectory } from '../../files/index.ts';
import type { ReadPart, ZipDirectory } from '../../files/index.ts';
import { conflict, createLru } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { findRunRow } from '../runs/find-run.ts';
import { artifactFileSchema, artifactSchema } from '../schema/artifact-schema.ts';
import type { ArtifactRow } from '../schema/artifact-schema.ts';
import { isWhole } from './upload-v3-artifact.ts';
import { artifactNotFound } from './upload-artifact.ts';

export interface ArtifactFile {
  path: string;
  bytes: number;
}

interface ArtifactFiles {
  artifact: ArtifactRow;
  /** Sorted by path. */
  files: ArtifactFile[];
  /** Number of archive entries that are not shown because their paths leave the folder or they cannot be unpacked. */
  refused: number;
}

interface OpenedFile extends ArtifactFile {
  content: Readable;
}

/** The older protocol accepts as many files; their directory takes about 2 MiB. */
const limits = { maxDirectoryBytes: 8 * 1024 * 1024, maxEntries: 20_000 };
/** Larger files are not unpacked; the whole archive can still be downloaded. */
const maxUnpackedBytes = 4 * 1024 ** 3;
/** Limit on the compression ratio. Deflate stays below it for ordinary content; zeros reach 1,000. */
const maxRatio = 200;
const smallBytes = 16 * 1024 * 1024;

/** Directories of archives by content; an archive never changes. */
const directories = createLru<string, ZipDirectory>({
  name: 'archive directories',
  maxWeight: 32 * 1024 * 1024,
  unit: 'bytes',
  weigh: ({ entries }) => 300 + 400 * entries.length,
});

/** Throws `run_not_found`; `artifact_not_found` also for an artifact of another run. */
export async function readyArtifact(
  deps: Pick<CiDeps, 'db'>,
  found: Pick<Found, 'repository'>,
  number: number,
  artifactId: number,
): Promise<ArtifactRow> {
  const run = await findRunRow(deps, found, number);
  const artifact = await deps.db.read.findOneBy(artifactSchema, { id: artifactId, runId: run.id, state: 'ready' });
  if (artifact === null) throw artifactNotFound();
  return artifact;
}

/** The files of an artifact. Throws the errors of `readyArtifact` and `unreadable_archive`. */
export async function artifactFiles(
  deps: CiDeps,
  found: Pick<Found, 'repository'>,
  number: number,
  artifactId: number,
): Promise<ArtifactFiles> {
  const artifact = await readyArtifact(deps, found, number, artifactId);
  return { artifact, ...(await filesIn(deps, artifact)) };
}

/** The files of an artifact of either protocol. Throws `unreadable_archive`. */
export async function filesIn(deps: CiDeps, artifact: ArtifactRow): Promise<Omit<ArtifactFiles, 'artifact'>> {
  if (artifact.form === 'files') {
    const rows = await deps.db.read.find(artifactFileSchema, {
      where: { artifactId: artifact.id },
      order: { path: 'ASC' },
    });
    return { files: rows.filter(isWhole).map(({ path, sizeBytes }) => ({ path, bytes: sizeBytes })), refused: 0 };
  }
  if (artifact.mediaType !== null) return { files: [{ path: artifact.name, bytes: artifact.sizeBytes }], refused: 0 };
  const { entries, refused } = await directoryOf(deps, artifact);
  return {
    files: entries.map(({ path, bytes }) => ({ path, bytes })).sort((a, b) => (a.path < b.path ? -1 : 1)),
    refused,
  };
}

const partsOf =
  ({ artifacts }: CiDeps, { file }: ArtifactRow): ReadPart =>
  (at, bytes) =>
    artifacts.read(file, { first: at, last: at + bytes - 1 });

async function directoryOf(deps: CiDeps, artifact: ArtifactRow): Promise<ZipDirectory> {
  // The id is not unique: a test server has several databases.
  const key = `${artifact.digest} ${artifact.sizeBytes}`;
  const known = directories.get(key);
  if (known !== undefined) return known;
  const directory = await readZipDirectory(artifact.sizeBytes, partsOf(deps, artifact), limits);
  directories.set(key, directory);
  return directory;
}

/**
 * Opens one file of an artifact, unpacking it as it is read. Throws the errors of `artifactFiles`, `artifact_not_found`
 * if it has no such path, and `file_too_large` for files above 4 GiB or with a compression ratio above 200.
 */
export async function openFileOfArtifact(
  deps: CiDeps,
  found: Pick<Found, 'repository'>,
  number: number,
  artifactId: number,
  path: string,
): Promise<OpenedFile> {
  return openFileIn(deps, await readyArtifact(deps, found, number, artifactId), path);
}

export async function openFileIn(deps: CiDeps, artifact: ArtifactRow, path: string): Promise<OpenedFile> {
  if (artifact.form === 'files') {
    const row = await deps.db.read.findOneBy(artifactFileSchema, { artifactId: artifact.id, path });
    if (row === null || !isWhole(row)) throw artifactNotFound();
    refuseBomb(row.sizeBytes, row.storedBytes);
    const stored = await deps.artifacts.read(`${artifact.file}/${row.file}`);
    if (!row.isGzipped) return { path, bytes: row.sizeBytes, content: stored };
    const content = createGunzip();
    pipeline(stored, content).catch((error: unknown) => content.destroy(error as Error));
    return { path, bytes: row.sizeBytes, content };
  }
  if (artifact.mediaType !== null) {
    if (path !== artifact.name) throw artifactNotFound();
    return { path, bytes: artifact.sizeBytes, content: await deps.artifacts.read(artifact.file) };
  }
  const entry = (await directoryOf(deps, artifact)).entries.find((one) => one.path === path);
  if (entry === undefined) throw artifactNotFound();
  refuseBomb(entry.bytes, entry.packedBytes);
  return { path, bytes: entry.bytes, content: await openZipEntry(entry, partsOf(deps, artifact)) };
}

function refuseBomb(bytes: number, packedBytes: number): void {
  if (bytes > maxUnpackedBytes || (bytes > smallBytes && bytes > packedBytes * maxRatio))
    throw conflict('file_too_large', 'This file is too large to unpack here. Download the whole artifact.');
}
