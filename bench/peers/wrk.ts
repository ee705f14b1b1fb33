// Requests one URL repeatedly over a few connections with wrk, at low cost: a client in JavaScript would be the
// bottleneck.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { requirePrograms } from './require-programs.ts';

const script = fileURLToPath(new URL('wrk.lua', import.meta.url));

export interface LoadResult {
  perSecond: number;
  p50Ms: number;
  p95Ms: number;
  /** Size of a response with its headers. */
  bytes: number;
}

interface LoadOptions {
  seconds: number;
  connections: number;
  headers?: Record<string, string>;
  /** With one, the request is a POST. */
  body?: string | undefined;
}

export async function runLoad(
  url: string,
  { seconds, connections, headers = {}, body }: LoadOptions,
): Promise<LoadResult> {
  requirePrograms({ wrk: 'wrk' });
  const more = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const { stdout } = await promisify(execFile)('wrk', [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '-s',
    script,
    ...more,
    url,
    ...(body === undefined ? [] : ['--', Buffer.from(body).toString('hex')]),
  ]);
  const result = JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<
    'requests' | 'us' | 'bytes' | 'failed' | 'p50Us' | 'p95Us',
    number
  >;
  if (result.failed > 0) throw new Error(`${url}: ${result.failed} of ${result.requests} requests failed`);
  return {
    perSecond: result.requests / (result.us / 1e6),
    p50Ms: result.p50Us / 1000,
    p95Ms: result.p95Us / 1000,
    bytes: Math.round(result.bytes / result.requests),
  };
}
