import { In } from 'typeorm';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';

/**
 * The newest job of each status of a commit, by name of the status; includes runs of pull requests, which test another
 * commit. A commit has at most some hundreds. The caller checks access.
 */
export async function jobsOfCommit(
  { db, repositories }: Pick<CiDeps, 'db' | 'repositories'>,
  { repository }: Pick<Found, 'repository'>,
  sha: string,
): Promise<{ run: RunRow; job: JobRow }[]> {
  const combined = (await repositories.statuses.ofCommits(repository.id, [sha])).get(sha);
  // Statuses reported by other systems have absolute URLs.
  const ids = (combined?.statuses ?? []).flatMap(({ targetUrl }) => {
    const id = /^runs\/\d+\/jobs\/(\d+)$/.exec(targetUrl ?? '')?.[1];
    return id === undefined ? [] : [Number(id)];
  });
  if (ids.length === 0) return [];
  const jobs = await db.read.findBy(jobSchema, { id: In(ids), repositoryId: repository.id });
  const runs = await db.read.findBy(runSchema, { id: In([...new Set(jobs.map(({ runId }) => runId))]) });
  const runOf = new Map(runs.map((run) => [run.id, run]));
  const placeOf = new Map(ids.map((id, place) => [id, place]));
  return jobs
    .sort((a, b) => placeOf.get(a.id)! - placeOf.get(b.id)!)
    .flatMap((job) => {
      const run = runOf.get(job.runId);
      return run === undefined ? [] : [{ run, job }];
    });
}
