import Router from '@koa/router';
import { notFound } from '../../kernel/index.ts';
import { HttpError } from '../../http/index.ts';
import type { BackgroundPriority } from '../../http/index.ts';
import type { Context, Middleware, State } from './context.ts';
import type { Route } from './route.ts';
import { accessDeclarations, neededRight } from './access-declarations.ts';

/** Records the pattern of the matched route; from here on a search has background priority. */
export function nameRoute(route: Route, backgroundPriority: BackgroundPriority): Middleware {
  return (ctx, next) => {
    ctx.state.routePath = route.path;
    if (route.cost === 'search') backgroundPriority.yield(ctx.state);
    return next();
  };
}

/**
 * At server start, throws for a route without an access declaration, and for one that requires a permission on a
 * repository or organisation that its path does not name.
 */
function checkDeclaration(route: Route): void {
  const { method, path, access } = route;
  if (!accessDeclarations.includes(access)) throw new Error(`The route ${method} ${path} declares no access`);
  const isSignedIn =
    access === 'signed-in' || access === 'administrator' || /^organisation:|^repository:(?!read)/.test(access);
  if ('confirmation' in route && !isSignedIn)
    throw new Error(`The route ${method} ${path} asks to confirm who it is that has no account`);
  const namesOrganisation = path.startsWith('/orgs/:name');
  if (access === 'organisation:owner' && !namesOrganisation) {
    throw new Error(`The route ${method} ${path} asks for the OWNERs of an organisation that its path does not name`);
  }
  const namesRepository = path.startsWith('/repos/:owner/:name');
  if (neededRight(access) !== null && !namesRepository) {
    throw new Error(`The route ${method} ${path} asks for a right on a repository that its path does not name`);
  }
}

function refuseUnrouted(routerOf: (path: string) => Router<State>): (ctx: Context) => void {
  return (ctx) => {
    const matched = routerOf(ctx.path)
      .match(ctx.path, ctx.method)
      .path.filter((layer) => !String(layer.path).endsWith('/{*rest}'));
    const allowed = [...new Set(matched.flatMap((layer) => layer.methods))];
    if (allowed.length === 0) throw notFound();
    throw new HttpError(405, 'This URL does not accept this request method.', { Allow: allowed.join(', ') });
  };
}

/** Runs the middleware of the first route that matches; a path without a route gets 404, a wrong method 405. */
export function mountRoutes(routes: readonly Route[], chainOf: (route: Route) => Middleware[]): Middleware[] {
  const chains = routes.map((route) => {
    checkDeclaration(route);
    return { ...route, chain: chainOf(route) };
  });
  const routerOf = byFirstSegment(chains, (some) => {
    const router = new Router<State>({ sensitive: true });
    for (const { method, path, chain } of some)
      router.register(path, method === 'ANY' ? router.methods : [method], chain as never);
    return Object.assign(router, { serve: router.routes() as Middleware });
  });
  return [(ctx, next) => routerOf(ctx.path).serve(ctx, next), refuseUnrouted(routerOf) as never];
}

/**
 * Looks up the router of a path. A router compares a path with each of its patterns in turn, and two hundred
 * comparisons per request are too many, so each first segment has its own router, created at first use; paths with an
 * unknown first segment share one.
 */
function byFirstSegment<Each extends { path: string }, Made>(
  routes: readonly Each[],
  make: (some: readonly Each[]) => Made,
): (path: string) => Made {
  const segmentOf = (path: string): string => path.split('/', 2)[1] ?? '';
  const isPattern = (segment: string): boolean => /[:{*]/.test(segment);
  const known = new Set(routes.map(({ path }) => segmentOf(path)).filter((segment) => !isPattern(segment)));
  const made = new Map<string | null, Made>();
  return (path) => {
    const first = segmentOf(path);
    const segment = known.has(first) ? first : null;
    let router = made.get(segment);
    if (router === undefined) {
      router = make(routes.filter((route) => segmentOf(route.path) === segment || isPattern(segmentOf(route.path))));
      made.set(segment, router);
    }
    return router;
  };
}
