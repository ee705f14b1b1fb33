import { explainFullDisk, isRefusal } from '../kernel/index.ts';
import type { DomainError, Logger } from '../kernel/index.ts';
import type { Context } from '../http/index.ts';
import { discardBody, HttpError, httpStatusOf, retryAfter } from '../http/index.ts';

// Maps errors to responses that the artifact actions understand.

/** Error reasons of exceeded limits: clients must not retry, and show the message to the user. */
const overLimit = new Set([
  'artifact_too_large',
  'run_too_large',
  'too_many_artifacts',
  'too_many_artifact_files',
  'too_many_blocks',
]);

/** Error codes of Twirp by HTTP status. */
const twirpCodes: Record<number, string> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  405: 'bad_route',
  409: 'already_exists',
  412: 'failed_precondition',
  413: 'invalid_argument',
  415: 'malformed',
  500: 'internal',
  503: 'unavailable',
};

type Words = Pick<DomainError, 'reason' | 'message'>;

/** Error format of the clients of one protocol. */
interface ErrorFormat {
  /** Statuses of an exceeded limit, and of a conflict with the current state. */
  status: { overLimit: number; conflict: number };
  write(status: number, words: Words): { type: string; body: string };
}

const json = (value: unknown): { type: string; body: string } => ({
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
});
const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const twirp: ErrorFormat = {
  status: { overLimit: 403, conflict: 412 },
  write: (status, { reason, message }) =>
    json({
      code: reason === 'artifact_exists' ? 'already_exists' : (twirpCodes[status] ?? 'unknown'),
      msg: message,
      meta: { reason },
    }),
};

/** Format of Azure's blob storage, to which stock clients believe they upload. */
export const blobStorage: ErrorFormat = {
  status: { overLimit: 413, conflict: 409 },
  write: (_status, { reason, message }) => ({
    type: 'application/xml; charset=utf-8',
    body: `<?xml version="1.0" encoding="utf-8"?><Error><Code>${reason}</Code><Message>${escape(message)}</Message></Error>`,
  }),
};

/** Older clients retry after 413, and treat 403 as an exceeded quota. */
export const pipelines: ErrorFormat = {
  status: { overLimit: 403, conflict: 400 },
  write: (_status, { reason, message }) => json({ code: reason, message }),
};

/** Runs a handler and sends its errors in the error format of its clients. */
export async function withErrorFormat(
  ctx: Context,
  logger: Logger,
  format: ErrorFormat,
  handle: () => Promise<void>,
): Promise<void> {
  try {
    ctx.set('Cache-Control', 'no-store');
    await handle();
  } catch (error) {
    if (ctx.res.headersSent || ctx.res.destroyed) throw error;
    const { status, words, headers } = readError(error, format, ctx.state.requestId);
    if (status === 500) logger.error('artifacts.fault', { id: ctx.state.requestId, error });
    discardBody(ctx.req);
    const { type, body } = format.write(status, words);
    ctx.status = status;
    ctx.set({ ...headers, 'Content-Type': type });
    ctx.body = body;
  }
}

function readError(
  thrown: unknown,
  format: ErrorFormat,
  requestId: string,
): { status: number; words: Words; headers: Readonly<Record<string, string>> } {
  const error = explainFullDisk(thrown);
  if (error instanceof HttpError)
    return { status: error.status, words: { reason: 'refused', message: error.message }, headers: error.headers };
  if (!isRefusal(error)) {
    return {
      status: 500,
      words: { reason: 'internal', message: `The server made a mistake (${requestId}).` },
      headers: {},
    };
  }
  const status = overLimit.has(error.reason)
    ? format.status.overLimit
    : error.code === 'conflict' && error.reason !== 'artifact_exists'
      ? format.status.conflict
      : httpStatusOf(error);
  return {
    status,
    words: error,
    headers: retryAfter(status, error),
  };
}
