import { explainFullDisk, isRefusal } from '../kernel/index.ts';
import type { ErrorCode, Logger } from '../kernel/index.ts';
import type { Context, Middleware } from '../http/index.ts';
import { discardBody, HttpError, httpStatusByErrorCode, httpStatusOf, retryAfter } from '../http/index.ts';

/** Conflicts for which Gitea returns 422. */
export class AsUnprocessable extends Error {
  readonly refusal: unknown;
  constructor(refusal: unknown) {
    super('a conflict', { cause: refusal });
    this.refusal = refusal;
  }
}

/** Status of each error code in JSON responses: `invalid` is 422 here. */
const apiStatusOf: Record<ErrorCode, number> = { ...httpStatusByErrorCode, invalid: 422 };

/** Reasons with a specific HTTP status: an absent user in a path is "not found". */
const statusOfReason = new Map([
  ['no_such_person', 404],
  ['wrong_credentials', 401],
]);

/** Gitea's messages that clients compare literally. */
const sentenceOfReason = new Map([['revision_not_found', 'not found']]);

/** Codes of `Refusal`s, which are thrown before a use-case is called and have only a status. */
const codeOfStatus: Record<number, string> = {
  400: 'malformed_request',
  405: 'method_not_allowed',
  412: 'revision_mismatch',
  413: 'body_too_large',
  414: 'address_too_long',
  415: 'unsupported_type',
  421: 'wrong_host',
};

/** The form of every error. `code` is stable, `message` is for users. */
interface ErrorBody {
  error: { code: string; message: string; field?: string };
  /** The same message and the URL of the API documentation, where Gitea's clients expect them. */
  message: string;
  url: string;
}

interface ErrorResponse extends Pick<ErrorBody, 'error'> {
  status: number;
  headers: Readonly<Record<string, string>>;
}

function responseTo(error: unknown, requestId: string): ErrorResponse {
  if (error instanceof AsUnprocessable) return { ...responseTo(error.refusal, requestId), status: 422 };
  if (error instanceof HttpError) {
    const { status, message, headers } = error;
    return { status, headers, error: { code: codeOfStatus[status] ?? 'refused', message } };
  }
  if (!isRefusal(error)) {
    return {
      status: 500,
      headers: {},
      error: { code: 'internal', message: `The server made a mistake (${requestId}).` },
    };
  }
  const status = statusOfReason.get(error.reason) ?? httpStatusOf(error, apiStatusOf);
  const headers: Record<string, string> = retryAfter(status, error);
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer realm="Hearth"';
  const { reason: code, message, field } = error;
  return { status, headers, error: field === undefined ? { code, message } : { code, message, field } };
}

/**
 * Maps all errors of operations and of the middlewares before them. Hidden and absent resources get the same bytes:
 * responses never repeat parts of the request.
 */
export function withApiErrors(logger: Logger): Middleware {
  return async (ctx: Context, next) => {
    if (!ctx.path.startsWith('/api/')) return next();
    try {
      await next();
    } catch (error) {
      if (ctx.res.headersSent || ctx.res.destroyed) throw error;
      const { status, headers, error: reported } = responseTo(explainFullDisk(error), ctx.state.requestId);
      if (status === 500) logger.error('api.fault', { id: ctx.state.requestId, error });
      discardBody(ctx.req);
      ctx.status = status;
      ctx.set({
        ...headers,
        'Cache-Control': 'no-store',
        Vary: 'Authorization',
        'Content-Type': 'application/json; charset=utf-8',
      });
      const url = `${ctx.state.origin ?? ''}/api/v1`;
      ctx.body = JSON.stringify({
        error: reported,
        message: sentenceOfReason.get(reported.code) ?? reported.message,
        url,
      } satisfies ErrorBody);
    }
  };
}
