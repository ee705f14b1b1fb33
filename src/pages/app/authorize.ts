import { isDomainError, notFound, unauthenticated } from '../../kernel/index.ts';
import type { Found, Needed } from '../../repositories/index.ts';
import { neededRight, type AccessDeclaration } from './access-declarations.ts';
import type { WebDeps } from '../../web/index.ts';
import type { Context, Middleware } from './context.ts';
import { organisationUrl, repositoryUrl } from '../../http/index.ts';

type Params = Readonly<Record<string, string>>;

function authorizePerson(access: AccessDeclaration, { state: { identity } }: Context): void {
  if (access === 'public') return;
  if (identity.person === null) {
    throw access === 'administrator' ? notFound() : unauthenticated('sign_in', 'Sign in first.');
  }
  if (access === 'administrator' && !(identity.viewer.kind === 'person' && identity.viewer.isAdministrator))
    throw notFound();
}

/** The same page below another URL: keeps the query and the path after its first `parts` segments. */
function movedAddress(ctx: Context, base: string, parts: number): string {
  return (
    base +
    ctx.path
      .split('/')
      .slice(parts + 1)
      .map((part) => `/${part}`)
      .join('') +
    ctx.search
  );
}

/** Browsers do not cache the redirect, because a name may be used again. */
function redirect(ctx: Context, to: string): void {
  ctx.set('Cache-Control', 'no-cache');
  ctx.redirect(to);
  // The browser must send the form again unchanged.
  ctx.status = ctx.method === 'POST' ? 307 : 301;
}

async function findOrMove(ctx: Context, { repositories }: WebDeps, right: Needed): Promise<Found | string> {
  const { owner = '', name = '' } = ctx.params as Params;
  const { viewer } = ctx.state.identity;
  try {
    const found = await repositories.find(viewer, owner, name, right);
    const { canonical } = found;
    if (ctx.method === 'POST' || (owner === canonical.owner && name === canonical.name)) return found;
    return movedAddress(ctx, repositoryUrl(canonical), 3);
  } catch (error) {
    if (!isDomainError(error) || error.code !== 'not_found') throw error;
    const moved = await repositories.findMoved(viewer, owner, name);
    if (moved === null) throw error;
    return movedAddress(ctx, repositoryUrl(moved), 3);
  }
}

async function authorizeOwner(ctx: Context, { organisations, owners }: WebDeps): Promise<string | null> {
  if (ctx.state.identity.person === null) throw unauthenticated('sign_in', 'Sign in first.');
  const { name = '' } = ctx.params as Params;
  const { viewer } = ctx.state.identity;
  const current = (await owners.resolve(name)) ?? (ctx.method === 'POST' ? null : await owners.resolveFormer(name));
  const organisation = await organisations.findManaged(viewer, current?.handle ?? name);
  ctx.state.organisation = organisation;
  const isThere = ctx.method === 'POST' || organisation.name === name;
  return isThere ? null : movedAddress(ctx, organisationUrl(organisation.name), 2);
}

/**
 * Enforces the access declaration of a route. A repository that is absent, hidden or beyond the viewer's permissions
 * gets the same 404 (SPEC §5, §7); only a viewer who can read it is redirected to its canonical spelling or to its new
 * name.
 */
export function authorize(access: AccessDeclaration, deps: WebDeps): Middleware {
  const right = neededRight(access);
  return async (ctx, next) => {
    if (access === 'organisation:owner') {
      const to = await authorizeOwner(ctx, deps);
      if (to !== null) return redirect(ctx, to);
    } else if (right === null) {
      authorizePerson(access, ctx);
    } else {
      const found = await findOrMove(ctx, deps, right);
      if (typeof found === 'string') return redirect(ctx, found);
      const { id } = found.repository;
      const [isPinned, stars, issues, watch, forks, releases, packages] = await Promise.all([
        deps.repositories.pins.isPinned(ctx.state.identity.viewer, id),
        deps.repositories.stars.stateOf(ctx.state.identity.viewer, id),
        deps.issues.tab(id),
        deps.notifications.watchingOf(ctx.state.identity.viewer, id),
        deps.repositories.forks.summary(ctx.state.identity.viewer, found.repository),
        deps.releases.count(id),
        deps.packages.countOf(id),
      ]);
      ctx.state.found = { ...found, isPinned, stars, issues, watch, forks, releases, packages };
    }
    await next();
  };
}
