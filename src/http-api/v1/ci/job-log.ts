import { Readable } from 'node:stream';
import type { JobRow } from '../../../ci/index.ts';
import { writeZip } from '../../../files/index.ts';
import { attachmentDisposition } from '../../../http/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { notFound } from '../../../kernel/index.ts';
import type { ApiResponse } from '../../responses.ts';

type LoggedTask = { id: number; logRemovedAt: number | null };

/**
 * The log of a job as text. Throws `log_not_found`.
 * @param from the first row; @param tail only this many rows at the end; takes precedence over `from`
 */
export async function logResponse(
  { logs }: Pick<WebDeps['ci'], 'logs'>,
  task: LoggedTask | null,
  { from = 0, tail }: { from?: number | undefined; tail?: number | undefined },
): Promise<ApiResponse<never>> {
  if (task === null || task.logRemovedAt !== null) throw notFound('log_not_found', 'There is no log.');
  const { total } = await logs.read(task.id, 0, 0);
  const body = Readable.from(logs.raw(task.id, tail === undefined ? from : Math.max(0, total - tail)));
  // A browser that opens the log must not execute a job's output.
  return {
    kind: 'bytes',
    type: 'text/plain; charset=utf-8',
    body,
    headers: {
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Content-Disposition': 'attachment',
      'X-Log-Rows': String(total),
    },
  };
}

/** Above the size limit of a job log. */
const mostBytes = 4_000_000_000;

/** A name that is valid on every file system. */
const fileName = ({ name }: Pick<JobRow, 'name'>, index: number): string => {
  const plain = name.replace(/[^\p{L}\p{N}._ (),+-]/gu, '-').slice(0, 100);
  return `${index}_${plain.trim()}.txt`;
};

/** A zip of the current logs of some jobs of one run. Throws `log_not_found` if none of them has one. */
export async function logsResponse(
  { logs, runs }: Pick<WebDeps['ci'], 'logs' | 'runs'>,
  jobs: readonly JobRow[],
  name: string,
): Promise<ApiResponse<never>> {
  const tasks = await runs.tasksOf(jobs);
  const files = jobs.flatMap((job, index) => {
    const task = job.taskId === null ? undefined : tasks.get(job.taskId)?.task;
    if (task === undefined || task.logRemovedAt !== null) return [];
    const open = () => Promise.resolve(Readable.from(logs.raw(task.id, 0)));
    return [{ path: fileName(job, index), bytes: mostBytes, isGzipped: false, open }];
  });
  if (files.length === 0) throw notFound('log_not_found', 'There is no log.');
  return {
    kind: 'bytes',
    type: 'application/zip',
    body: writeZip(files),
    headers: { 'Content-Disposition': attachmentDisposition(name) },
  };
}
