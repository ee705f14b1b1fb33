import Router from '@koa/router';
import { notFound } from '../kernel/index.ts';
import type { Context, Middleware, State, AnonymousCpuBudget, Budgets, WebDeps } from '../http/index.ts';
import { Refusal } from '../http/index.ts';
import { authorizeCall } from './authorize-call.ts';
import { authenticate } from './authenticate.ts';
import type { Operation } from './operation.ts';
import { readBody, readQuery } from './read-input.ts';
import { respond } from './respond.ts';

/** Where all operations are. */
export const apiPrefix = '/api/v1';

/** Everything a call passes on its way, in order: whoever is refused has made the server read nothing. */
function serveOperation(
  operation: Operation,
  deps: WebDeps,
  within: (ctx: Context, serve: () => Promise<void>) => Promise<unknown>,
): Middleware {
  return async (ctx: Context) => {
    ctx.state.routePath = apiPrefix + operation.path;
    if (operation.cost === 'search') deps.backgroundPriority.yield(ctx.state);
    const viewer = await authenticate(ctx, deps);
    const params = (ctx.params ?? {}) as Record<string, string>;
    const serve = async (): Promise<void> => {
      const { found, organisation } = await authorizeCall(operation, viewer, params, deps);
      const query = readQuery(operation, new URLSearchParams(ctx.querystring));
      const body = await readBody(operation, ctx);
      respond(
        ctx,
        operation,
        await operation.run({ viewer, found, organisation, params, query, body, deps, origin: ctx.state.origin }),
      );
    };
    await within(ctx, serve);
  };
}

/** `/repos/{owner}` as the router writes it: `/repos/:owner`. */
const routerPath = (path: string): string => apiPrefix + path.replaceAll(/\{([a-z]+)\}/gi, ':$1');

/** Puts the operations into effect, and words into what is no operation. */
export function serveOperations(
  operations: readonly Operation[],
  { deps, budgets, anonymous }: { deps: WebDeps; budgets: Budgets; anonymous: AnonymousCpuBudget },
): Middleware {
  const router = new Router<State>({ sensitive: true });
  for (const operation of operations) {
    const budget = budgets[operation.cost];
    // Strangers wait in a line of their own before they take anybody's place.
    const line = anonymous.before[operation.cost];
    const chain =
      line === null
        ? [budget, serveOperation(operation, deps, (_ctx, serve) => serve())]
        : [serveOperation(operation, deps, (ctx, serve) => line(ctx, () => budget(ctx, serve)))];
    router.register(routerPath(operation.path), [operation.method], chain as never);
  }
  const serve = router.routes() as Middleware;
  const refuse = (ctx: Context): never => {
    const methods = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
    if (methods.size === 0) throw notFound('no_such_operation', 'There is no such operation.');
    throw new Refusal(405, 'This address does not take that method.', { Allow: [...methods].join(', ') });
  };
  return (ctx) => serve(ctx as never, async () => refuse(ctx));
}
