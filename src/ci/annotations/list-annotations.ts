import { In } from 'typeorm';
import { selectRows } from '../../db/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { annotationSchema } from '../schema/annotation-schema.ts';
import type { AnnotationRow } from '../schema/annotation-schema.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';

/** An annotation with the job that created it. */
export interface Annotation extends AnnotationRow {
  job: Pick<JobRow, 'id' | 'name'>;
  run: Pick<RunRow, 'number' | 'workflowName'>;
}

type Deps = Pick<CiDeps, 'db'>;

/** Limit of annotations on one page; several jobs can create more. */
const maxListed = 300;

/** Returns the annotations of these jobs of one run: errors first, then by job and row of the log. */
export async function annotationsOfJobs(
  { db }: Deps,
  run: Pick<RunRow, 'number' | 'workflowName'>,
  jobs: readonly JobRow[],
): Promise<Annotation[]> {
  const byTask = new Map(jobs.flatMap((job) => (job.taskId === null ? [] : [[job.taskId, job] as const])));
  if (byTask.size === 0) return [];
  const rows = await db.read.find(annotationSchema, {
    where: { taskId: In([...byTask.keys()]) },
    order: { taskId: 'ASC', row: 'ASC' },
    take: maxListed,
  });
  return sort(rows.map((row) => annotationOf(row, byTask.get(row.taskId)!, run)));
}

/**
 * Returns the annotations of a commit from the newest attempts of all runs. Annotations that several jobs of a matrix
 * repeat are listed once.
 */
export async function annotationsOfCommit(
  { db }: Deps,
  { repository }: Pick<Found, 'repository'>,
  commitId: string,
): Promise<Annotation[]> {
  const rows = await selectRows(
    db.read,
    annotationSchema,
    `SELECT a.* FROM ci_annotations a WHERE a.repository_id = :repositoryId AND a.commit_id = :commitId
     ORDER BY a.task_id DESC, a.row_number DESC LIMIT ${maxListed}`,
    { repositoryId: repository.id, commitId },
  );
  if (rows.length === 0) return [];
  const runs = await db.read.findBy(runSchema, { id: In([...new Set(rows.map(({ runId }) => runId))]) });
  const jobs = await db.read.find(jobSchema, { where: runs.map(({ id, attempt }) => ({ runId: id, attempt })) });
  const byTask = new Map(jobs.flatMap((job) => (job.taskId === null ? [] : [[job.taskId, job] as const])));
  const byRun = new Map(runs.map((run) => [run.id, run]));
  const annotations = rows.flatMap((row): Annotation[] => {
    const [job, run] = [byTask.get(row.taskId), byRun.get(row.runId)];
    return job === undefined || run === undefined ? [] : [annotationOf(row, job, run)];
  });
  const firsts = new Map(
    annotations.map((one) => [[one.level, one.path, one.firstLine, one.title, one.message].join('\n'), one]),
  );
  return sort([...firsts.values()]);
}

/** Drops the other columns of job and run: the page cache compares every field. */
const annotationOf = (
  row: AnnotationRow,
  { id, name }: Annotation['job'],
  { number, workflowName }: Annotation['run'],
): Annotation => ({ ...row, job: { id, name }, run: { number, workflowName } });

const ranks = { error: 0, warning: 1, notice: 2 } as const;

const sort = (annotations: Annotation[]): Annotation[] =>
  annotations.sort((a, b) => ranks[a.level] - ranks[b.level] || a.job.id - b.job.id || a.row - b.row);
