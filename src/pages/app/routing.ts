import Router from '@koa/router';
import { notFound } from '../../kernel/index.ts';
import { HttpError } from '../../http/index.ts';
import type { BackgroundPriority, Context, Middleware, State } from '../../http/index.ts';
import type { Route } from '../route.ts';
import { accessDeclarations, neededRight } from './access-declarations.ts';

/** Notes the pattern of the route that matched; a search makes way for other requests from here on. */
export function nameRoute(route: Route, backgroundPriority: BackgroundPriority): Middleware {
  return (ctx, next) => {
    ctx.state.routePath = route.path;
    if (route.cost === 'search') backgroundPriority.yield(ctx.state);
    return next();
  };
}

/**
 * A route without an access declaration, or one that names a repository and asks for no right on it, stops the start.
 */
function checkDeclaration({ method, path, access }: Route): void {
  if (!accessDeclarations.includes(access)) throw new Error(`The route ${method} ${path} declares no access`);
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
      .path.filter((layer) => layer.path !== '/{*rest}');
    const allowed = [...new Set(matched.flatMap((layer) => layer.methods))];
    if (allowed.length === 0) throw notFound();
    throw new HttpError(405, 'This address does not take that kind of request.', { Allow: allowed.join(', ') });
  };
}

/** The routers of the table: the first route that matches runs its chain; an address that none has is refused. */
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
 * Asked for every request: a router compares with each of its patterns in turn, and there
 * are two hundred. So there is one router for each first segment, made when it is first
 * asked for, and one for what begins with no segment of the table.
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
