import { explainFullDisk, isDomainError, internal } from '../../kernel/index.ts';
import type { DomainError, Logger } from '../../kernel/index.ts';
import { httpStatusOf, retryAfter } from '../../http/index.ts';
import { refuseBody, uncached } from '../errors.ts';
import type { GitExchange } from '../git-exchange.ts';

/** Content type of all API messages (Git LFS Batch API). */
export const lfsType = 'application/vnd.git-lfs+json';

/** Statuses that LFS clients know: 409 another hash, 413 too many objects, 422 an invalid object, 507 no space. */
const statusOfReason = new Map([
  ['lfs_off', 501],
  ['lfs_off_here', 501],
  ['lfs_no_such_address', 404],
  ['method_not_taken', 405],
  ['body_too_large', 413],
  ['too_many_objects', 413],
  ['lfs_hash_algorithm', 409],
  ['lfs_object_too_large', 413],
  ['lfs_verify_failed', 422],
  ['lfs_object_damaged', 422],
  ['range_not_satisfiable', 416],
  ['lfs_quota', 507],
  ['disk_full', 507],
  ['low_disk_space', 507],
]);

/**
 * Responds with a refusal or an internal error in the format of LFS clients; if a response has already begun, aborts
 * it.
 */
export async function sendLfsError(exchange: GitExchange, fault: unknown, logger: Logger): Promise<void> {
  const { res, state } = exchange;
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  const thrown = explainFullDisk(fault);
  const error = isDomainError(thrown) ? thrown : internal('unexpected', { cause: thrown });
  const status = statusOfReason.get(error.reason) ?? (error.code === 'invalid' ? 422 : httpStatusOf(error));
  if (status === 500) logger.error('lfs.http_fault', { id: state.requestId, error: error.cause ?? error });
  const message = status === 500 ? `internal error (${state.requestId})` : error.message;
  await refuseBody(exchange, status, {
    headers: { ...uncached, ...extraHeaders(status, error, exchange.challenge), 'Content-Type': lfsType },
    body: Buffer.from(JSON.stringify({ message, request_id: state.requestId })),
  });
}

function extraHeaders(status: number, error: DomainError, challenge: string): Record<string, string> {
  // The second name is for clients other than git-lfs; for the first one, git-lfs gets the credentials from git.
  if (status === 401) return { 'LFS-Authenticate': challenge, 'WWW-Authenticate': challenge };
  return retryAfter(status, error);
}
