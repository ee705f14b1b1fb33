import type { CiDeps } from '../deps.ts';
import { annotationLevels } from '../log-command.ts';
import type { AnnotationLevel } from '../log-command.ts';
import type { LogFile } from '../log-storage/log-file.ts';
import { readRow } from '../log-storage/row-buffer.ts';
import { statusCommitOf } from '../runs/job-commit-status.ts';
import { annotationSchema } from '../schema/annotation-schema.ts';
import type { AnnotationRow } from '../schema/annotation-schema.ts';
import { jobSchema } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import { taskSchema } from '../schema/task-schema.ts';
import type { TaskRow } from '../schema/task-schema.ts';
import { parseAnnotation } from './parse-annotation.ts';

/** Limit of annotations per task and level, as GitHub limits those of a job. The log shows all. */
const maxOfLevel = 50;

/**
 * Stores the annotations among the durable rows of a log, before these rows are acknowledged. The position up to which
 * the log was read is stored in the same write, so a repeated call after a crash finds them again.
 * @returns the new position
 */
export async function collectAnnotations(deps: CiDeps, task: TaskRow, log: LogFile): Promise<number> {
  const { db } = deps;
  if ((await log.findAnnotation(annotationLevels, task.annotatedRows)) === null) return task.annotatedRows;
  const counts = new Map<AnnotationLevel, number>();
  for (const level of annotationLevels)
    counts.set(level, await db.read.countBy(annotationSchema, { taskId: task.id, level }));
  const open = (): AnnotationLevel[] => annotationLevels.filter((level) => counts.get(level)! < maxOfLevel);
  const job = await db.read.findOneByOrFail(jobSchema, { id: task.jobId });
  const run = await db.read.findOneByOrFail(runSchema, { id: job.runId });
  const found: AnnotationRow[] = [];
  let row = await log.findAnnotation(open(), task.annotatedRows);
  while (row !== null) {
    const annotation = parseAnnotation(readRow((await log.read(row, 1))[0]!).content);
    if (annotation !== null) {
      counts.set(annotation.level, counts.get(annotation.level)! + 1);
      found.push({
        ...annotation,
        taskId: task.id,
        row,
        runId: run.id,
        repositoryId: run.repositoryId,
        commitId: statusCommitOf(run),
      });
    }
    row = await log.findAnnotation(open(), row + 1);
  }
  // A full level causes no further writes.
  if (found.length === 0) return task.annotatedRows;
  const annotatedRows = log.rows;
  await db.write(async ({ manager }) => {
    await manager.insert(annotationSchema, found);
    await manager.update(taskSchema, { id: task.id }, { annotatedRows });
  });
  return annotatedRows;
}
