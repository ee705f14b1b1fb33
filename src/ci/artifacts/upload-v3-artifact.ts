import type { Readable } from 'node:stream';
import { In } from 'typeorm';
import { conflict, invalid } from '../../kernel/index.ts';
import { runTopic } from '../notifier-topics.ts';
import type { CiDeps } from '../deps.ts';
import { artifactFileSchema, artifactSchema } from '../schema/artifact-schema.ts';
import type { ArtifactFileRow, ArtifactRow } from '../schema/artifact-schema.ts';
import type { RunningTask } from './authorise-task.ts';
import { parseArtifactName, parseItemPath } from './name-rules.ts';
import { allowanceOf, artifactNotFound, artifactTooLarge, insertArtifact, refuseLowDisk } from './upload-artifact.ts';

const maxFiles = 20_000;

/**
 * Opens an artifact of the older protocol: files are uploaded one by one under its name, possibly by several jobs.
 * Throws `invalid_artifact_name`, `artifact_exists` if it was uploaded as a zip, `too_many_artifacts`.
 */
export async function openFileArtifact(
  deps: CiDeps,
  task: RunningTask,
  input: { name: unknown; ttlMs: number | null },
): Promise<ArtifactRow> {
  const name = parseArtifactName(input.name);
  return deps.db.write(async (tx) => {
    const [present] = await tx.manager.findBy(artifactSchema, {
      runId: task.run.id,
      attempt: task.run.attempt,
      name,
      state: In(['uploading', 'ready']),
    });
    if (present?.form === 'files') return present;
    if (present !== undefined)
      throw conflict('artifact_exists', 'An artifact with this name already exists on the workflow run.');
    return insertArtifact(deps, tx, task, {
      name,
      form: 'files',
      mediaType: null,
      expiresAt: input.ttlMs === null ? null : tx.now + input.ttlMs,
    });
  });
}

/** A part of one file. */
export interface FileChunk {
  /** Path as the client sends it, including the name of the artifact. */
  itemPath: string;
  /** Start, end and total size of the sent bytes. */
  start: number;
  end: number;
  total: number;
  isGzipped: boolean;
  /** Size of the unpacked content; equal to the sent size without compression. */
  sizeBytes: number;
  body: AsyncIterable<Buffer>;
}

/**
 * Receives a part of a file. Parts come in order and may be repeated until the file is complete. Throws
 * `artifact_not_found`, `invalid_artifact_path`, `invalid_range` also for a gap, `too_many_artifact_files`,
 * `artifact_too_large`, `run_too_large`, `low_disk_space`, `artifact_incomplete`.
 */
export async function receiveFile(
  deps: CiDeps,
  task: RunningTask,
  artifactId: number,
  chunk: FileChunk,
): Promise<void> {
  const { start, end, total, isGzipped, sizeBytes } = chunk;
  const artifact = await fileArtifactOf(deps, task, artifactId);
  const path = parseItemPath(chunk.itemPath, artifact.name);
  const length = end - start;
  if (
    !(start >= 0 && length > 0 && end <= total) ||
    !Number.isSafeInteger(total) ||
    !Number.isSafeInteger(sizeBytes) ||
    sizeBytes < 0
  )
    throw badRange();
  await refuseLowDisk(deps);
  const { row, old } = await deps.db.write(async ({ manager }) => {
    const before = await manager.findOneBy(artifactFileSchema, { artifactId, path });
    if (start > 0) {
      if (
        before === null ||
        start > before.receivedBytes ||
        before.storedBytes !== total ||
        before.isGzipped !== isGzipped
      )
        throw badRange();
      return { row: before, old: null };
    }
    // Counts the larger of stored and unpacked size, because a download unpacks the file.
    const size = Math.max(total, sizeBytes);
    const files = await manager.countBy(artifactFileSchema, { artifactId });
    if (before === null && files >= maxFiles)
      throw conflict('too_many_artifact_files', `An artifact can have at most ${maxFiles} files.`);
    const present = (await manager.sum(artifactFileSchema, 'sizeBytes', { artifactId })) ?? 0;
    const sum = present - (before?.sizeBytes ?? 0) + size;
    if (sum > deps.settings.maxArtifactBytes) throw artifactTooLarge();
    (await allowanceOf(deps, manager, artifact.runId))(sum - present);
    // Each upload has its own file: two jobs may send the same path concurrently.
    const fresh: ArtifactFileRow = {
      artifactId,
      path,
      file: deps.random.uuid(),
      isGzipped,
      storedBytes: total,
      receivedBytes: 0,
      sizeBytes: size,
    };
    await manager.upsert(artifactFileSchema, fresh, ['artifactId', 'path']);
    await manager.update(artifactSchema, { id: artifactId }, { sizeBytes: sum });
    return { row: fresh, old: before?.file ?? null };
  });
  // The file is complete, but the response to the client was lost.
  if (start > 0 && isWhole(row)) return drain(chunk.body);
  if (old !== null) await deps.artifacts.removeFile(artifact, old);
  const written = await deps.artifacts.write(artifact, row.file, start, chunk.body, length);
  if (written !== length) throw conflict('artifact_incomplete', `${written} bytes came instead of ${length}.`);
  if (Math.max(end, row.receivedBytes) === total) await deps.artifacts.complete(artifact, row.file);
  await deps.db.write(({ manager }) =>
    manager.update(
      artifactFileSchema,
      { artifactId, path, file: row.file },
      { receivedBytes: Math.max(end, row.receivedBytes) },
    ),
  );
}

async function drain(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of body);
}

const badRange = () => invalid('invalid_range', 'The range does not continue the upload.');

/**
 * Publishes the files uploaded under a name so far; parts that another job is still sending are added later. Throws
 * `artifact_not_found`, `artifact_incomplete` if no file is complete.
 */
export async function finishFileArtifact(deps: CiDeps, task: RunningTask, name: unknown): Promise<ArtifactRow> {
  const wanted = parseArtifactName(name);
  const artifact = await deps.db.write(async ({ manager }) => {
    const row = await manager.findOneBy(artifactSchema, {
      runId: task.run.id,
      attempt: task.run.attempt,
      name: wanted,
      form: 'files',
      state: In(['uploading', 'ready']),
    });
    if (row === null) throw artifactNotFound();
    const files = await manager.findBy(artifactFileSchema, { artifactId: row.id });
    if (!files.some(isWhole)) throw conflict('artifact_incomplete', 'No file was received completely.');
    await manager.update(artifactSchema, { id: row.id }, { state: 'ready' });
    return row;
  });
  deps.notifier.notify(runTopic(task.run.id));
  return artifact;
}

export const isWhole = ({ receivedBytes, storedBytes }: ArtifactFileRow): boolean => receivedBytes === storedBytes;

/** Throws `artifact_not_found`, also for an artifact of another run. */
async function fileArtifactOf(
  { db }: Pick<CiDeps, 'db'>,
  { run }: RunningTask,
  artifactId: number,
): Promise<ArtifactRow> {
  const artifact = await db.read.findOneBy(artifactSchema, {
    id: artifactId,
    runId: run.id,
    form: 'files',
    state: In(['uploading', 'ready']),
  });
  if (artifact === null) throw artifactNotFound();
  return artifact;
}

/** The files of an artifact, by path. Throws `artifact_not_found`. */
export async function filesOfArtifact(
  deps: Pick<CiDeps, 'db'>,
  task: RunningTask,
  artifactId: number,
): Promise<{ name: string; files: ArtifactFileRow[] }> {
  const { name } = await fileArtifactOf(deps, task, artifactId);
  const files = await deps.db.read.find(artifactFileSchema, { where: { artifactId }, order: { path: 'ASC' } });
  return { name, files: files.filter(isWhole) };
}

/** Opens one file as stored, possibly compressed. Throws `artifact_not_found`. */
export async function openArtifactFile(
  deps: CiDeps,
  task: RunningTask,
  artifactId: number,
  itemPath: string,
): Promise<{ content: Readable; bytes: number; isGzipped: boolean }> {
  const artifact = await fileArtifactOf(deps, task, artifactId);
  const row = await deps.db.read.findOneBy(artifactFileSchema, {
    artifactId,
    path: parseItemPath(itemPath, artifact.name),
  });
  if (row === null || !isWhole(row)) throw artifactNotFound();
  return {
    content: await deps.artifacts.read(`${artifact.file}/${row.file}`),
    bytes: row.storedBytes,
    isGzipped: row.isGzipped,
  };
}
