import type { Readable } from 'node:stream';
import { In } from 'typeorm';
import { viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Found } from '../../repositories/index.ts';
import { requireLevel } from '../require-level.ts';
import type { CiDeps } from '../deps.ts';
import { findRunRow } from '../runs/find-run.ts';
import { runTopic } from '../notifier-topics.ts';
import { artifactFileSchema, artifactSchema } from '../schema/artifact-schema.ts';
import type { ArtifactRow } from '../schema/artifact-schema.ts';
import { isWhole } from './upload-v3-artifact.ts';
import { readyArtifact } from './browse-artifact.ts';
import type { RunningTask } from './authorise-task.ts';
import { fileNameOf, parseArtifactName } from './name-rules.ts';
import { verifyUrl, signUrl } from './signed-url.ts';
import { artifactNotFound } from './upload-artifact.ts';
import { writeZip } from '../../files/index.ts';

const downloadMs = 3_600_000;

/**
 * Returns the artifacts of a run as its jobs see them: the newest of each name, possibly from an earlier attempt whose
 * job was not re-run.
 */
export async function artifactsOfTask(
  { db }: Pick<CiDeps, 'db'>,
  { run }: Pick<RunningTask, 'run'>,
): Promise<ArtifactRow[]> {
  const rows = await db.read.find(artifactSchema, {
    where: { runId: run.id, state: 'ready' },
    order: { attempt: 'ASC', id: 'ASC' },
  });
  return [...new Map(rows.map((row) => [row.name, row])).values()];
}

/** Throws `artifact_not_found`. */
async function artifactOfTask(
  deps: Pick<CiDeps, 'db'>,
  task: Pick<RunningTask, 'run'>,
  name: unknown,
): Promise<ArtifactRow> {
  const wanted = parseArtifactName(name);
  const artifact = (await artifactsOfTask(deps, task)).find((one) => one.name === wanted);
  if (artifact === undefined) throw artifactNotFound();
  return artifact;
}

/**
 * Returns the query of a signed URL that lets anyone download an artifact for one hour. Throws `artifact_not_found`.
 */
export async function signedUrlOfArtifact(deps: CiDeps, task: RunningTask, name: unknown): Promise<URLSearchParams> {
  const { id } = await artifactOfTask(deps, task, name);
  const expiresAt = deps.clock.now() + downloadMs;
  return signUrl(deps.key, {
    method: 'GET',
    repositoryId: task.run.repositoryId,
    artifactId: id,
    taskId: task.taskId,
    expiresAt,
  });
}

/** An artifact for download: one zip, or the single file that was uploaded as it is. */
export interface OpenedArtifact {
  fileName: string;
  mediaType: string;
  /** Null if the size is not known in advance. */
  bytes: number | null;
  content: Readable;
}

/** Opens the artifact of a signed URL. Throws `bad_artifact_link`, `artifact_not_found`. */
export async function openBySignedUrl(deps: CiDeps, query: URLSearchParams): Promise<OpenedArtifact> {
  const link = verifyUrl(deps.key, 'GET', query, deps.clock.now());
  const artifact = await deps.db.read.findOneBy(artifactSchema, { id: link.artifactId, state: 'ready' });
  if (artifact === null) throw artifactNotFound();
  return open(deps, artifact);
}

/** All artifacts of a run, including removed ones, in order of creation. Throws `run_not_found`. */
export async function listArtifacts(
  deps: Pick<CiDeps, 'db'>,
  found: Pick<Found, 'repository'>,
  number: number,
): Promise<ArtifactRow[]> {
  const { id } = await findRunRow(deps, found, number);
  return deps.db.read.find(artifactSchema, {
    where: { runId: id, state: In(['ready', 'removed']) },
    order: { id: 'ASC' },
  });
}

/** Throws `run_not_found`; `artifact_not_found` also for an artifact of another run. */
export async function openArtifact(
  deps: CiDeps,
  found: Pick<Found, 'repository'>,
  number: number,
  artifactId: number,
): Promise<OpenedArtifact> {
  return open(deps, await readyArtifact(deps, found, number, artifactId));
}

async function open(
  { artifacts, db }: CiDeps,
  { id, name, form, mediaType, file, sizeBytes }: ArtifactRow,
): Promise<OpenedArtifact> {
  const about = { fileName: fileNameOf({ name, mediaType }), mediaType: mediaType ?? 'application/zip' };
  if (form === 'zip') return { ...about, bytes: sizeBytes, content: await artifacts.read(file) };
  const files = await db.read.find(artifactFileSchema, { where: { artifactId: id }, order: { path: 'ASC' } });
  return {
    ...about,
    bytes: null,
    content: writeZip(
      files.filter(isWhole).map((one) => ({
        path: one.path,
        bytes: one.sizeBytes,
        isGzipped: one.isGzipped,
        open: () => artifacts.read(`${file}/${one.file}`),
      })),
    ),
  };
}

/** Removes an artifact for a job that replaces its earlier upload. Throws `artifact_not_found`. */
export async function removeArtifactOfTask(deps: CiDeps, task: RunningTask, name: unknown): Promise<ArtifactRow> {
  const artifact = await artifactOfTask(deps, task, name);
  await remove(deps, artifact);
  return artifact;
}

/** Throws `repository_not_found`, `run_not_found`, `artifact_not_found`. */
export async function removeArtifact(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  number: number,
  artifactId: number,
): Promise<void> {
  requireLevel(found, 'write');
  const run = await findRunRow(deps, found, number);
  const artifact = await deps.db.read.findOneBy(artifactSchema, { id: artifactId, runId: run.id, state: 'ready' });
  if (artifact === null) throw artifactNotFound();
  await remove(deps, artifact);
  deps.logger.info('ci.artifact_removed', { artifact: artifact.name, run: run.id, by: viewerForLog(viewer) });
}

/** Keeps the row as a record of the artifact. */
async function remove({ db, artifacts, notifier }: CiDeps, { id, file, runId }: ArtifactRow): Promise<void> {
  await db.write(async ({ manager }) => {
    await manager.update(artifactSchema, { id }, { state: 'removed' });
    await manager.delete(artifactFileSchema, { artifactId: id });
  });
  await artifacts.remove(file);
  notifier.notify(runTopic(runId));
}
