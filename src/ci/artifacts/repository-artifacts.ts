import { In } from 'typeorm';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { artifactSchema } from '../schema/artifact-schema.ts';
import type { ArtifactRow } from '../schema/artifact-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { artifactNotFound } from './upload-artifact.ts';

/** An artifact with its run. */
export interface ArtifactOfRun {
  artifact: ArtifactRow;
  run: RunRow;
}

type Deps = Pick<CiDeps, 'db'>;
const shown = In(['ready', 'removed']);

/** Returns the artifacts of a repository or of one run, newest first, including expired ones, and their number. */
export async function artifactsOfRepository(
  { db }: Deps,
  { repository }: Pick<Found, 'repository'>,
  { name, runId, limit, skip }: { name?: string | undefined; runId?: number; limit: number; skip: number },
): Promise<{ rows: ArtifactOfRun[]; total: number }> {
  const query = db.read
    .createQueryBuilder(artifactSchema, 'a')
    .where({
      ...(runId === undefined ? { repositoryId: repository.id } : { runId }),
      ...(name === undefined ? {} : { name }),
      state: shown,
    })
    // Omits artifacts that were replaced within their attempt.
    .andWhere(
      `(a.state = 'ready' OR NOT EXISTS (SELECT 1 FROM ci_artifacts n WHERE n.run_id = a.run_id
         AND n.attempt = a.attempt AND n.name = a.name AND n.id > a.id))`,
    );
  const total = await query.getCount();
  const artifacts = await query.orderBy('a.id', 'DESC').limit(limit).offset(skip).getMany();
  const ids = [...new Set(artifacts.map((artifact) => artifact.runId))];
  const runs = new Map((await db.read.findBy(runSchema, { id: In(ids) })).map((run) => [run.id, run]));
  return { rows: artifacts.map((artifact) => ({ artifact, run: runs.get(artifact.runId)! })), total };
}

/** One artifact of a repository by its id. Throws `artifact_not_found`. */
export async function artifactById(
  { db }: Deps,
  { repository }: Pick<Found, 'repository'>,
  id: number,
): Promise<ArtifactOfRun> {
  const artifact = await db.read.findOneBy(artifactSchema, { id, repositoryId: repository.id, state: shown });
  const run = artifact === null ? null : await db.read.findOneBy(runSchema, { id: artifact.runId });
  if (artifact === null || run === null) throw artifactNotFound();
  return { artifact, run };
}
