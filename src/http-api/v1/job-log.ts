import { Readable } from 'node:stream';
import type { WebDeps } from '../../http/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { ApiResponse } from '../responses.ts';

type LoggedTask = { id: number; logRemovedAt: number | null };

/**
 * The log of a job as text. Refuses `log_not_found`.
 * @param from the first row; @param tail only so many rows at the end, which goes before `from`
 */
export async function logResponse(
  { logs }: Pick<WebDeps['ci'], 'logs'>,
  task: LoggedTask | null,
  { from = 0, tail }: { from?: number | undefined; tail?: number | undefined },
): Promise<ApiResponse<never>> {
  if (task === null || task.logRemovedAt !== null) throw notFound('log_not_found', 'There is no log.');
  const { total } = await logs.read(task.id, 0, 0);
  const body = Readable.from(logs.raw(task.id, tail === undefined ? from : Math.max(0, total - tail)));
  // A browser that opens the log must not execute what a job has printed.
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
