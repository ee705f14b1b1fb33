import { explainFullDisk, isDomainError, internal, unauthenticated } from '../kernel/index.ts';
import type { DomainError, Logger } from '../kernel/index.ts';
import type { Viewer } from '../access/index.ts';
import type { GitExchange } from './git-exchange.ts';
import { drainRequest, httpStatusOf, retryAfter } from '../http/index.ts';

// Maps domain errors to responses of git over HTTP.

/** Reasons with an HTTP status of their own. */
const statusOfReason = new Map([
  ['unsupported_type', 415],
  ['unsupported_encoding', 415],
  ['body_too_large', 413],
  ['push_head_too_large', 413],
  ['method_not_taken', 405],
]);

/** Headers that prevent every cache on the way from responding instead of us. */
export const uncached = {
  'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  Pragma: 'no-cache',
  Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
} as const;

/**
 * The response to a refused repository for this viewer. An anonymous client always gets a challenge for credentials:
 * the same bytes for private, absent and read-only repositories.
 */
export function challengeAnonymous(viewer: Viewer): (error: unknown) => never {
  return (error) => {
    const isRefusal = isDomainError(error) && ['not_found', 'forbidden', 'unauthenticated'].includes(error.code);
    if (viewer.kind === 'anonymous' && isRefusal)
      throw unauthenticated('credentials_needed', 'Authentication required.');
    throw error;
  };
}

/** Responds with a refusal or an internal error; if a response has already begun, aborts it. */
export async function sendError(
  { req, res, state, headers, challenge }: GitExchange,
  fault: unknown,
  logger: Logger,
): Promise<void> {
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  const thrown = explainFullDisk(fault);
  const error = isDomainError(thrown) ? thrown : internal('unexpected', { cause: thrown });
  const status = statusOfReason.get(error.reason) ?? httpStatusOf(error);
  if (status === 500) logger.error('git.http_fault', { id: state.requestId, error: error.cause ?? error });
  else if (error.cause !== undefined)
    logger.info('git.http_refused', { id: state.requestId, reason: error.reason, cause: error.cause });
  const message = status === 500 ? `internal error (${state.requestId})` : error.message;
  await refuseBody({ req, res, headers }, status, {
    headers: { ...uncached, ...extraHeaders(status, error, challenge), 'Content-Type': 'text/plain; charset=utf-8' },
    body: Buffer.from(`${message}\n`),
  });
}

/** Sends a refusal so that a client that is still sending much data can read it. */
export async function refuseBody(
  { req, res, headers }: Pick<GitExchange, 'req' | 'res' | 'headers'>,
  status: number,
  response: { headers: Readonly<Record<string, string>>; body: Buffer },
): Promise<void> {
  // Headers set for another result.
  for (const name of ['Content-Type', 'Content-Length', 'Content-Encoding']) res.removeHeader(name);
  const isSent = req.complete || Number(req.headers['content-length'] ?? Infinity) <= briefBytes;
  const more = {
    ...response.headers,
    'Content-Length': String(response.body.length),
    ...(isSent ? {} : { Connection: 'close' }),
  };
  res.writeHead(status, [...headers, ...Object.entries(more).flat()]);
  if (isSent) {
    res.end(response.body);
    return;
  }
  res.write(response.body);
  await drainRequest(req, drained);
  res.end();
}

function extraHeaders(status: number, error: DomainError, challenge: string): Record<string, string> {
  if (status === 401) return { 'WWW-Authenticate': challenge };
  return retryAfter(status, error);
}

/** Remaining body size in bytes up to which the connection is kept. */
const briefBytes = 64 * 1024;
/** Limits for draining a longer rest while the client reads its refusal. */
const drained = { maxMs: 5_000, maxBytes: 32 * 1024 * 1024 };
