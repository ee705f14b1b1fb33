import { notFound, unauthenticated } from '../../kernel/index.ts';
import type { Repositories } from '../../repositories/index.ts';
import { neededRight, type AccessDeclaration } from '../access-declarations.ts';
import type { Context, Middleware } from '../context.ts';
import { repositoryUrl } from '../views/urls.ts';

function admitPerson(access: AccessDeclaration, { state: { identity } }: Context): void {
  if (access === 'public') return;
  if (identity.person === null) {
    throw access === 'administrator' ? notFound() : unauthenticated('sign_in', 'Please sign in first.');
  }
  if (access === 'administrator' && !(identity.viewer.kind === 'person' && identity.viewer.isAdministrator)) throw notFound();
}

/** The same path with the names in their canonical spelling, or null when they already are. */
function canonicalUrl(ctx: Context, canonical: { owner: string; name: string }): string | null {
  const { owner = '', name = '' } = ctx.params as Record<string, string>;
  if (owner === canonical.owner && name === canonical.name) return null;
  const rest = ctx.path.split('/').slice(4).map((part) => `/${part}`).join('');
  return repositoryUrl(canonical) + rest + ctx.search;
}

/**
 * Lets in whom the route declares. A repository that is absent, hidden or out
 * of the viewer's rights is the same 404 (SPEC §5, §7); only somebody who may
 * read it learns its canonical spelling, by redirect.
 */
export function admit(access: AccessDeclaration, repositories: Repositories): Middleware {
  const right = neededRight(access);
  return async (ctx, next) => {
    if (right === null) {
      admitPerson(access, ctx);
      return next();
    }
    const { owner = '', name = '' } = ctx.params as Record<string, string>;
    const found = await repositories.find(ctx.state.identity.viewer, owner, name, right);
    const elsewhere = ctx.method === 'POST' ? null : canonicalUrl(ctx, found.canonical);
    if (elsewhere !== null) {
      ctx.status = 301;
      ctx.set('Cache-Control', 'no-cache');
      ctx.redirect(elsewhere);
      return;
    }
    ctx.state.found = found;
    await next();
  };
}
