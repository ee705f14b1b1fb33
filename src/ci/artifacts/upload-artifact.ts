import { statfs } from 'node:fs/promises';
import { In } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { conflict, invalid, notFound, unavailable } from '../../kernel/index.ts';
import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import { runTopic } from '../notifier-topics.ts';
import { artifactSchema } from '../schema/artifact-schema.ts';
import type { ArtifactRow } from '../schema/artifact-schema.ts';
import { placeOf } from '../artifact-storage/artifact-store.ts';
import type { Allowance, AllowanceBy, Part } from '../artifact-storage/uploads.ts';
import { runningTask } from './authorise-task.ts';
import type { RunningTask } from './authorise-task.ts';
import { parseArtifactName, parseMediaType } from './name-rules.ts';
import { artifactTtlMs } from '../retention/repository-retention.ts';
import { verifyUrl, signUrl } from './signed-url.ts';

/** Limit of artifacts per run, so that an endless upload loop cannot fill the disk. */
const maxPerRun = 1_000;
const uploadMs = 6 * 3_600_000;

export const artifactNotFound = () => notFound('artifact_not_found', 'There is no such artifact.');

interface NewArtifact {
  name: unknown;
  /** Media type of the upload; everything except a zip is stored as a single file. */
  mediaType?: unknown;
  /** Expiry that the workflow requests, in epoch milliseconds; capped by the settings. */
  expiresAt: number | null;
}

/**
 * Creates an artifact in the run of a task. A name is unique within an attempt; an aborted upload is replaced. Throws
 * `invalid_artifact_name`, `artifact_exists`, `too_many_artifacts`.
 * @returns the query of a signed URL for one upload
 */
export async function createArtifact(deps: CiDeps, task: RunningTask, input: NewArtifact): Promise<URLSearchParams> {
  const name = parseArtifactName(input.name);
  const { row, abandoned } = await deps.db.write(async (tx) => {
    const same = await tx.manager.findBy(artifactSchema, {
      runId: task.run.id,
      attempt: task.run.attempt,
      name,
      state: In(['uploading', 'ready']),
    });
    if (same.some(({ state }) => state === 'ready'))
      throw conflict('artifact_exists', 'An artifact with this name already exists on the workflow run.');
    await tx.manager.delete(artifactSchema, { id: In(same.map(({ id }) => id)) });
    return {
      row: await insertArtifact(deps, tx, task, {
        name,
        form: 'zip',
        mediaType: parseMediaType(input.mediaType),
        expiresAt: input.expiresAt,
      }),
      abandoned: same,
    };
  });
  for (const old of abandoned) {
    await deps.artifacts.uploads.abandon(old.id);
    await deps.artifacts.remove(old.file);
  }
  const expiresAt = deps.clock.now() + uploadMs;
  return signUrl(deps.key, {
    method: 'PUT',
    repositoryId: task.run.repositoryId,
    artifactId: row.id,
    taskId: task.taskId,
    expiresAt,
  });
}

/** Throws `too_many_artifacts`. */
export async function insertArtifact(
  deps: Pick<CiDeps, 'settings'>,
  { manager, now }: Tx,
  { taskId, run }: RunningTask,
  { name, form, mediaType, expiresAt }: Pick<ArtifactRow, 'name' | 'form' | 'mediaType'> & { expiresAt: number | null },
): Promise<ArtifactRow> {
  if ((await manager.countBy(artifactSchema, { runId: run.id })) >= maxPerRun) {
    throw conflict('too_many_artifacts', `A run can have at most ${maxPerRun} artifacts.`);
  }
  const latest = now + (await artifactTtlMs(deps, manager, run.repositoryId));
  const row: Omit<ArtifactRow, 'id'> = {
    runId: run.id,
    repositoryId: run.repositoryId,
    attempt: run.attempt,
    taskId,
    name,
    form,
    mediaType,
    file: '',
    state: 'uploading',
    sizeBytes: 0,
    digest: null,
    createdAt: now,
    expiresAt: expiresAt !== null && expiresAt > now ? Math.min(expiresAt, latest) : latest,
  };
  const { identifiers } = await manager.insert(artifactSchema, row);
  const id = identifiers[0]!.id as number;
  const file = placeOf(id, form);
  await manager.update(artifactSchema, { id }, { file });
  return { ...row, id, file };
}

/**
 * Receives bytes through a signed URL, in blocks or all at once. They become part of the artifact when its upload is
 * finished. Throws `bad_artifact_link`, `bad_runtime_token` once the task has ended, `artifact_not_found`,
 * `artifact_too_large`, `run_too_large`, `low_disk_space`, `too_many_blocks`.
 */
export async function receiveArtifact(
  deps: CiDeps,
  query: URLSearchParams,
  part: Part,
  body: AsyncIterable<Buffer>,
): Promise<void> {
  const artifact = await openUpload(deps, query);
  await refuseLowDisk(deps);
  const allowance: AllowanceBy = async (manager) => {
    const stagedOf = await deps.artifacts.uploads.staged(manager, [artifact.id]);
    const mayTake = await allowanceOf(deps, manager, artifact.runId);
    return (bytes) => {
      if (stagedOf(artifact.id) + bytes > deps.settings.maxArtifactBytes) throw artifactTooLarge();
      mayTake(bytes);
    };
  };
  await deps.artifacts.uploads.receive(artifact.id, part, body, allowance);
}

export const artifactTooLarge = () =>
  conflict('artifact_too_large', 'The artifact exceeds the size limit of this server.');

/** Concatenates the blocks of an artifact. Throws the errors of `receiveArtifact` and `missing_block`. */
export async function assembleArtifact(
  deps: CiDeps,
  query: URLSearchParams,
  blockIds: readonly string[],
): Promise<void> {
  const artifact = await openUpload(deps, query);
  await deps.artifacts.uploads.assemble(artifact.id, blockIds);
}

async function openUpload(deps: CiDeps, query: URLSearchParams): Promise<ArtifactRow> {
  const link = verifyUrl(deps.key, 'PUT', query, deps.clock.now());
  const { run } = await runningTask(deps, link.taskId);
  const artifact = await deps.db.read.findOneBy(artifactSchema, {
    id: link.artifactId,
    runId: run.id,
    taskId: link.taskId,
    state: 'uploading',
  });
  if (artifact === null || run.repositoryId !== link.repositoryId) throw artifactNotFound();
  return artifact;
}

/** Throws `low_disk_space`. */
export async function refuseLowDisk({ settings }: Pick<CiDeps, 'settings'>): Promise<void> {
  const space = await statfs(settings.folder).catch(() => null);
  if (space !== null && space.bavail * space.bsize < settings.lowDiskFloorBytes) {
    throw unavailable('low_disk_space', 'The server is low on disk space. Nothing was stored.', {
      retryAfterSeconds: 60,
    });
  }
}

/**
 * Returns a function that checks the remaining quota of a run, so that it cannot fill the disk. It is called for every
 * part, possibly concurrently, and throws `run_too_large`.
 */
export async function allowanceOf(
  { settings, artifacts }: Pick<CiDeps, 'settings' | 'artifacts'>,
  manager: EntityManager,
  runId: number,
): Promise<Allowance> {
  const rows = await manager.findBy(artifactSchema, { runId, state: In(['uploading', 'ready']) });
  const isStaged = ({ state, form }: ArtifactRow): boolean => state === 'uploading' && form === 'zip';
  const stored = rows.reduce((sum, row) => sum + (isStaged(row) ? 0 : row.sizeBytes), 0);
  const uploads = rows.filter(isStaged).map(({ id }) => id);
  const stagedOf = await artifacts.uploads.staged(manager, uploads);
  return (bytes) => {
    const used = uploads.reduce((sum, id) => sum + stagedOf(id), stored);
    if (used + bytes > settings.maxRunArtifactBytes)
      throw conflict('run_too_large', 'The artifacts of this run exceed the size limit of this server.');
  };
}

interface FinishedUpload {
  name: unknown;
  /** Number of bytes that the client claims to have sent. */
  sizeBytes: number | null;
  /** SHA-256 in hex. */
  digest: string | null;
}

/**
 * Finishes an upload: from now on the artifact is available, complete and durable. Idempotent. Throws
 * `artifact_not_found`, `artifact_incomplete`, `artifact_size_differs`, `artifact_digest_differs`.
 */
export async function finishArtifact(
  deps: CiDeps,
  task: RunningTask,
  { name, sizeBytes, digest }: FinishedUpload,
): Promise<ArtifactRow> {
  const { run } = task;
  const artifact = await deps.db.read.findOne(artifactSchema, {
    where: {
      runId: run.id,
      attempt: run.attempt,
      taskId: task.taskId,
      form: 'zip',
      name: parseArtifactName(name),
      state: In(['uploading', 'ready']),
    },
    order: { id: 'DESC' },
  });
  if (artifact === null) throw artifactNotFound();
  if (artifact.state === 'ready') return artifact;
  const gathered = await deps.artifacts.uploads.gather(artifact.id);
  if (gathered === null) throw conflict('artifact_incomplete', 'No data was uploaded for this artifact.');
  const { bytes } = gathered;
  const ready = { state: 'ready', sizeBytes: bytes, digest: gathered.digest } as const;
  try {
    if (sizeBytes !== null && sizeBytes !== bytes)
      throw invalid('artifact_size_differs', `${bytes} bytes were uploaded instead of ${sizeBytes}.`);
    if (digest !== null && digest !== gathered.digest)
      throw invalid('artifact_digest_differs', 'The uploaded data has a different SHA-256 digest.');
    await deps.artifacts.publish(artifact.file, gathered);
  } finally {
    await deps.artifacts.uploads.discard(gathered);
  }
  await deps.db.write(({ manager }) => manager.update(artifactSchema, { id: artifact.id }, ready));
  await deps.artifacts.uploads.abandon(artifact.id);
  deps.notifier.notify(runTopic(run.id));
  deps.logger.info('ci.artifact_kept', { artifact: artifact.id, run: run.id, bytes });
  return { ...artifact, ...ready };
}
