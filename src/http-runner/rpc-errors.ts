import { explainFullDisk, internal, isDomainError } from '../kernel/index.ts';
import type { DomainError, ErrorCode, Logger } from '../kernel/index.ts';

/** An error code of gRPC and Connect: its name, number and HTTP status in Connect. */
interface RpcCode {
  name: string;
  number: number;
  http: number;
}

const code = (name: string, number: number, http: number): RpcCode => ({ name, number, http });

const codes: Record<ErrorCode, RpcCode> = {
  invalid: code('invalid_argument', 3, 400),
  unauthenticated: code('unauthenticated', 16, 401),
  forbidden: code('permission_denied', 7, 403),
  not_found: code('not_found', 5, 404),
  conflict: code('failed_precondition', 9, 400),
  unavailable: code('unavailable', 14, 503),
  internal: code('internal', 13, 500),
};

/** Reasons for which the protocol has its own code. */
const codesOfReasons = new Map<string, RpcCode>([
  ['message_too_large', code('resource_exhausted', 8, 429)],
  ['log_sealed', code('already_exists', 6, 409)],
  ['request_key_locked', code('aborted', 10, 409)],
  ['unknown_compression', code('unimplemented', 12, 501)],
  ['message_too_slow', code('deadline_exceeded', 4, 504)],
]);

/** An error as sent to a runner. */
interface RpcError {
  code: RpcCode;
  message: string;
}

/** Maps domain errors to codes of gRPC and Connect. Logs internal errors. */
export function toRpcError(fault: unknown, logger: Logger, procedure: string): RpcError {
  const thrown = explainFullDisk(fault);
  const error: DomainError = isDomainError(thrown) ? thrown : internal('unexpected', { cause: thrown });
  if (error.code === 'internal') logger.error('rpc.fault', { procedure, error: error.cause ?? error });
  const message = error.code === 'internal' ? 'internal error' : error.message;
  const byCode = error.isRateLimit ? code('resource_exhausted', 8, 429) : codes[error.code];
  return { code: codesOfReasons.get(error.reason) ?? byCode, message };
}
