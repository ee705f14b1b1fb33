import { STATUS_CODES } from 'node:http';
import { discardBody, HttpError, httpStatusOf, retryAfter } from '../http/index.ts';
import type { Context } from '../http/index.ts';
import { explainFullDisk, internal, isDomainError } from '../kernel/index.ts';
import type { DomainError, Logger } from '../kernel/index.ts';

/** Reasons with a specific status, in every format. */
const statusOfReason = new Map([
  ['package_file_too_large', 413],
  ['package_body_too_large', 413],
  ['package_manifest_too_large', 413],
  ['package_quota', 413],
  ['packages_off', 404],
  ['package_chunk_range', 416],
  ['package_chunk_range_form', 416],
  ['package_blob_used', 405],
  ['package_unsupported', 405],
  ['disk_full', 507],
  ['low_disk_space', 507],
  ['storage_read_only', 507],
]);

/** Error format for the clients of one package format. */
export interface PackageErrorFormat {
  body(error: Pick<DomainError, 'reason' | 'message' | 'code'>, status: number): { type: string; text: string };
  headers?(ctx: Context, error: DomainError, status: number): Record<string, string>;
  /** Statuses of this format for other reasons. */
  status?: ReadonlyMap<string, number>;
}

const basic = 'Basic realm="Hearth", charset="UTF-8"';

/**
 * Runs a handler and sends its errors in the form that the clients of the format read. The message is also in the
 * reason phrase, which is all that several clients show.
 */
export async function withPackageErrors(
  ctx: Context,
  logger: Logger,
  format: PackageErrorFormat,
  handle: () => Promise<void>,
): Promise<void> {
  try {
    await handle();
  } catch (thrown) {
    if (ctx.res.headersSent || ctx.res.destroyed) throw thrown;
    const { error, status: known, headers } = readThrown(explainFullDisk(thrown));
    const status = known ?? format.status?.get(error.reason) ?? statusOfReason.get(error.reason) ?? httpStatusOf(error);
    if (status === 500) logger.error('packages.fault', { id: ctx.state.requestId, error: error.cause ?? error });
    const message = status === 500 ? `The server made a mistake (${ctx.state.requestId}).` : error.message;
    discardBody(ctx.req);
    const { type, text } = format.body({ reason: error.reason, code: error.code, message }, status);
    ctx.status = status;
    ctx.message = phraseOf(message);
    ctx.set({
      ...headers,
      ...retryAfter(status, error),
      ...(status === 401 ? { 'WWW-Authenticate': basic } : {}),
      ...format.headers?.(ctx, error, status),
      'Cache-Control': 'no-store',
      'Content-Type': type,
    });
    ctx.body = text;
  }
}

function readThrown(thrown: unknown): {
  error: DomainError;
  status: number | null;
  headers: Readonly<Record<string, string>>;
} {
  if (thrown instanceof HttpError) {
    const error = internal(thrown.message);
    return { error: Object.assign(error, { reason: 'refused' }), status: thrown.status, headers: thrown.headers };
  }
  return {
    error: isDomainError(thrown) ? thrown : internal('unexpected', { cause: thrown }),
    status: null,
    headers: {},
  };
}

/** One line of ASCII text. */
const phraseOf = (message: string): string => message.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 300);

/** Problem details (RFC 9457), for clients that show neither text nor the reason phrase. */
export const problemErrors: PackageErrorFormat = {
  body: ({ message, reason }, status) => ({
    type: 'application/problem+json',
    text: JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail: message, reason }),
  }),
};

/** For clients that show text. */
export const plainErrors: PackageErrorFormat = {
  body: ({ message }) => ({ type: 'text/plain; charset=utf-8', text: `${message}\n` }),
};
