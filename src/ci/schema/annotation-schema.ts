import { EntitySchema } from 'typeorm';
import type { AnnotationLevel } from '../log-command.ts';

/** A row of `ci_annotations`: a message of a job about the tested commit, optionally about lines of a file. */
export interface AnnotationRow {
  taskId: number;
  /** Row of the log that contains it, from 0. */
  row: number;
  runId: number;
  repositoryId: string;
  /** The commit that shows it: the tested commit, or the head of the pull request. */
  commitId: string;
  level: AnnotationLevel;
  /** Path from the root of the repository; null if it concerns no file. */
  path: string | null;
  /** First line in the file, from 1; null if it concerns the whole file. */
  firstLine: number | null;
  lastLine: number | null;
  title: string | null;
  message: string;
}

/** A row of `ci_summaries`: the Markdown that a step wrote to `$GITHUB_STEP_SUMMARY`. */
export interface SummaryRow {
  taskId: number;
  /** Position of the step in the job, from 0. */
  step: number;
  content: string;
}

export const annotationSchema = new EntitySchema<AnnotationRow>({
  name: 'ciAnnotation',
  tableName: 'ci_annotations',
  columns: {
    taskId: { name: 'task_id', type: 'integer', primary: true },
    row: { name: 'row_number', type: 'integer', primary: true },
    runId: { name: 'run_id', type: 'integer' },
    repositoryId: { name: 'repository_id', type: 'text' },
    commitId: { name: 'commit_id', type: 'text' },
    level: { type: 'text' },
    path: { type: 'text', nullable: true },
    firstLine: { name: 'first_line', type: 'integer', nullable: true },
    lastLine: { name: 'last_line', type: 'integer', nullable: true },
    title: { type: 'text', nullable: true },
    message: { type: 'text' },
  },
});

export const summarySchema = new EntitySchema<SummaryRow>({
  name: 'ciSummary',
  tableName: 'ci_summaries',
  columns: {
    taskId: { name: 'task_id', type: 'integer', primary: true },
    step: { type: 'integer', primary: true },
    content: { type: 'text' },
  },
});
