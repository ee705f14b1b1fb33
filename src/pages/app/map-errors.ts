import { explainFullDisk, isDomainError, isRefusal } from '../../kernel/index.ts';
import type { DomainError, ErrorCode, Logger } from '../../kernel/index.ts';
import type { Context, Middleware } from './context.ts';
import {
  readPreferences,
  HttpError,
  httpStatusByErrorCode,
  httpStatusOf,
  retryAfter,
  discardBody,
} from '../../http/index.ts';
import { t, translateRefusal } from '../../translation/index.ts';
import { inLanguageOf } from './language.ts';
import type { Render } from './render.ts';
import { viewRepositoryHeader } from './repository-header.view.ts';

/**
 * Status of each error code on error pages. When a form is refused, the page of the form is rendered (`submit-form.ts`)
 * with the same statuses; errors here have no form to go back to.
 */
const pageStatusOf: Record<ErrorCode, number> = { ...httpStatusByErrorCode, invalid: 422, unauthenticated: 303 };

/**
 * A conflict about a field (a taken name) is an invalid form value: another value helps, so it is 422. Without a field
 * the current state refuses the request: 409.
 */
export function statusOfRefusal(error: DomainError): number {
  if (error.code === 'conflict' && error.field !== undefined) return 422;
  return httpStatusOf(error, pageStatusOf);
}

/** Statuses with their own title; the others use `app.error.title`. */
const titled = new Set([400, 403, 404, 405, 409, 413, 414, 415, 421, 422, 429, 500, 503]);
const titleOf = (status: number): string => t(titled.has(status) ? `app.error.title.${status}` : 'app.error.title');

/** An image is not a page: SPEC §4.3 has the same 404 for a missing one and for a missing repository. */
const imageRoute = '/repos/:owner/:name/image';

interface ErrorResponse {
  status: number;
  message: string;
  headers: Readonly<Record<string, string>>;
  /** Only with 500: the text of the 404 page is always the same. */
  requestId?: string;
}

function responseTo(error: unknown, requestId: string): ErrorResponse {
  if (error instanceof HttpError) {
    const { status, message, headers } = error;
    return { status, message: translateRefusal({ reason: `http_${status}`, message }), headers };
  }
  if (isRefusal(error)) {
    const status = statusOfRefusal(error);
    if (status === 404) {
      return { status, headers: {}, message: t('app.error.missing') };
    }
    return { status, message: translateRefusal(error), headers: retryAfter(status, error) };
  }
  return {
    status: 500,
    headers: {},
    requestId,
    message: t('app.error.internal'),
  };
}

const isClientGone = (error: unknown): boolean =>
  ['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(
    (error as NodeJS.ErrnoException)?.code ?? '',
  );

function logError(logger: Logger, error: unknown, requestId: string): void {
  const cause = isDomainError(error) ? (error.cause ?? error) : error;
  logger.error('http.fault', {
    id: requestId,
    error: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
  });
}

function renderError(ctx: Context, response: ErrorResponse, render: Render): void {
  const { status, message, headers, requestId } = response;
  ctx.status = status;
  ctx.set({ ...headers, 'Cache-Control': 'no-store' });
  ctx.vary('Cookie');
  ctx.vary('Accept-Language');
  const frame = {
    identity: ctx.state.identity,
    preferences: readPreferences(ctx.req.headers.cookie),
    // Omits the requested path: error pages never echo request data.
    path: '/',
    origin: '',
    // Makes no query: the part that failed may fail again.
    unread: 0,
  };
  ctx.type = 'html';
  const { found } = ctx.state;
  if (status === 404 && found !== null && ctx.state.routePath !== imageRoute) {
    // The viewer can read the repository, so its name is not secret: the page keeps the header and the tabs.
    const repository = viewRepositoryHeader(found);
    ctx.body = render('app/missing-page', frame, { repository, title: titleOf(404) });
    return;
  }
  ctx.body = render('app/error', frame, { title: titleOf(status), status, message, requestId });
}

/** Catches errors of the later middlewares and responds with an error page. */
export function withErrorMapping({
  logger,
  render,
  locale,
}: {
  logger: Logger;
  render: Render;
  locale: string;
}): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (isClientGone(error) || ctx.res.headersSent) {
        logger.debug('http.client_left', { id: ctx.state.requestId });
        ctx.respond = false;
        ctx.res.destroy();
        return;
      }
      if (isDomainError(error) && error.code === 'unauthenticated') {
        const next = ctx.method === 'GET' ? `?next=${encodeURIComponent(ctx.url)}` : '';
        ctx.status = 303;
        ctx.redirect(`/login${next}`);
        ctx.set('Cache-Control', 'no-store');
        return;
      }
      const response = inLanguageOf(ctx, locale, () => responseTo(explainFullDisk(error), ctx.state.requestId));
      if (response.status === 500) logError(logger, error, ctx.state.requestId);
      discardBody(ctx.req);
      inLanguageOf(ctx, locale, () => renderError(ctx, response, render));
    }
  };
}
