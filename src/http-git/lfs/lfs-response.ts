import { uncached } from '../errors.ts';
import type { GitExchange } from '../git-exchange.ts';
import { lfsType } from './lfs-errors.ts';

/** Sends an API message. */
export function sendLfsJson({ res, headers }: GitExchange, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  const more = { ...uncached, 'Content-Type': lfsType, 'Content-Length': String(body.length) };
  res.writeHead(status, [...headers, ...Object.entries(more).flat()]).end(body);
}
