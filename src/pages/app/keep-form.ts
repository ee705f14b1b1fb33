import { isDomainError } from '../../kernel/index.ts';
import { createForm, discardBody, readMultipart, readPreferences, returnTarget } from '../../http/index.ts';
import type { Context, Middleware } from './context.ts';
import type { PageRoute } from './route.ts';
import { readForm } from './forms.ts';
import { inLanguageOf } from './language.ts';
import type { Render } from './render.ts';

/** Limit on a form apart from its fields: files are not kept, so reading stops soon. */
const multipartLimits = { files: 10, fileBytes: 1024 * 1024, fields: 100, fieldBytes: 128 * 1024 };

/** Fields that are never written into a page. */
const secretField = /password|passkey|secret|token|code$/i;

type Field = [name: string, value: string];

/**
 * Responds to a form of a user whose session has ended with a page that keeps all entered fields and resubmits them
 * after a new sign-in, so that no text is lost with a session. The page is the same for a hidden and an absent URL, and
 * shows neither; its form posts to the URL that it came from. It follows the check of the origin.
 */
export function keepForm(route: PageRoute, render: Render, locale: string): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const status = statusOf(ctx, route, error);
      if (status === null) throw error;
      const fields = await readFields(ctx, route).catch(() => []);
      if (!fields.some(([, value]) => value.trim() !== '')) throw error;
      discardBody(ctx.req);
      ctx.status = status;
      ctx.set({ 'Cache-Control': 'no-store' });
      ctx.vary('Cookie');
      ctx.vary('Accept-Language');
      ctx.type = 'html';
      const frame = {
        identity: ctx.state.identity,
        preferences: readPreferences(ctx.req.headers.cookie),
        path: '/',
        origin: '',
        unread: 0,
      };
      const locals = { fields, longest: longestOf(fields), next: cameFrom(ctx) ?? '/' };
      ctx.body = inLanguageOf(ctx, locale, () => render('app/kept-form', frame, locals));
    }
  };
}

/** The status of the page; null when another kind of page is the response. */
function statusOf(ctx: Context, { access }: PageRoute, error: unknown): 403 | 404 | null {
  if (ctx.method !== 'POST' || ctx.state.identity.person !== null || !isDomainError(error)) return null;
  // Browsers send the page that a form comes from; other clients get the plain response.
  if (cameFrom(ctx) === null) return null;
  if (error.code === 'unauthenticated') return 403;
  // A page that the session could see may be hidden without it.
  return error.code === 'not_found' && access !== 'public' && access !== 'administrator' ? 404 : null;
}

async function readFields(ctx: Context, { maxFormBytes }: PageRoute): Promise<Field[]> {
  if (ctx.state.form.entries().length === 0) {
    if (ctx.is('multipart/form-data')) {
      const { fields } = await readMultipart(ctx.req, multipartLimits, async ({ content }) => void content.resume());
      ctx.state.form = createForm(fields);
    } else await readForm(maxFormBytes)(ctx, async () => {});
  }
  return ctx.state.form.entries().filter(([name]) => !secretField.test(name));
}

const longestOf = (fields: readonly Field[]): string =>
  fields.reduce((longest, [, value]) => (value.length > longest.length ? value : longest), '');

/** The page of the form, so that a sign-in in another tab returns there. */
function cameFrom(ctx: Context): string | null {
  const { referer } = ctx.req.headers;
  if (referer === undefined || !URL.canParse(referer)) return null;
  const { origin, pathname, search } = new URL(referer);
  return origin === ctx.state.origin ? returnTarget(pathname + search) : null;
}
