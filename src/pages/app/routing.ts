import Router from '@koa/router';
import { notFound } from '../../kernel/index.ts';
import { accessDeclarations, neededRight } from './access-declarations.ts';
import type { Context, Middleware, State, AnonymousCpuBudget, Budgets, CostClass, WebDeps } from '../../http/index.ts';
import { authorize } from './authorize.ts';
import { sendResponse } from './send-response.ts';
import { refuseCrossSite } from './csrf.ts';
import { readForm } from './forms.ts';
import { requireOnboarding } from './require-onboarding.ts';
import { readUpload } from './uploads.ts';
import { identifyViewer } from './viewer.ts';
import { Refusal } from '../../http/index.ts';
import { createPageCache } from './page-cache.ts';
import type { PageCache } from './page-cache.ts';
import type { Render } from './render.ts';
import type { Route } from '../route.ts';
import type { PageHandler } from './request-context.ts';

interface Mounting {
  deps: WebDeps;
  render: Render;
  budgets: Budgets;
  anonymous: AnonymousCpuBudget;
}

/** Pages read from git for whoever may read: what is dear to make and the same for the next reader. */
const mayBeKept = ({ method, access, cost }: Route): boolean =>
  method === 'GET' && access === 'repository:read' && cost === 'objects';

function remember(route: Route, { backgroundPriority }: WebDeps): Middleware {
  return (ctx, next) => {
    ctx.state.routePath = route.path;
    if (route.cost === 'search') backgroundPriority.yield(ctx.state);
    return next();
  };
}

/** Git works for minutes without a byte on the wire; its handlers have deadlines of their own. */
const allowSilence: Middleware = (ctx, next) => {
  ctx.req.socket.setTimeout(0);
  return next();
};

/** Everything a request passes on its way to a page, in order. */
function chainFor(route: Route, { deps, render, budgets, anonymous }: Mounting, kept: PageCache): Middleware[] {
  const budget = budgets[route.cost];
  if (
    route.access === 'git' ||
    route.access === 'federation' ||
    route.access === 'api' ||
    route.access === 'task' ||
    route.access === 'operator'
  ) {
    return [remember(route, deps), budget, ...(route.access === 'git' ? [allowSilence] : []), route.handle];
  }
  // The declaration decides what a visit surely has; `admit` makes it true.
  const page = sendResponse(route.page as PageHandler, { deps, render, kept: mayBeKept(route) ? kept : null });
  if (route.access === 'open') return [remember(route, deps), budget, page];
  return [
    remember(route, deps),
    ...beforeWork(route.cost, budget, identifyViewer(deps), anonymous),
    refuseCrossSite,
    requireOnboarding(route.path),
    authorize(route.access, deps),
    route.upload === undefined ? readForm : readUpload(route.upload),
    page,
  ];
}

/** Strangers wait in a line of their own before they take anybody's place. */
function beforeWork(
  cost: CostClass,
  budget: Middleware,
  identify: Middleware,
  { before }: AnonymousCpuBudget,
): Middleware[] {
  const line = before[cost];
  return line === null ? [budget, identify] : [identify, line, budget];
}

/** A route table that forgot who may come in, or names a repository without asking, stops the start. */
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
    throw new Refusal(405, 'This address does not take that kind of request.', { Allow: allowed.join(', ') });
  };
}

/** Puts the table into effect. The first route that matches answers. */
export function mountRoutes(routes: readonly Route[], mounting: Mounting): Middleware[] {
  const kept = createPageCache();
  const chains = routes.map((route) => {
    checkDeclaration(route);
    return { ...route, chain: chainFor(route, mounting, kept) };
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
