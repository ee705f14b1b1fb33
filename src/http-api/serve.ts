import Router from '@koa/router';
import { isDomainError, notFound } from '../kernel/index.ts';
import type { Admission, Context, Middleware, State } from '../http/index.ts';
import type { WebDeps } from '../web/index.ts';
import { HttpError } from '../http/index.ts';
import { authorizeCall } from './authorize-call.ts';
import { authenticate } from './authenticate-token.ts';
import type { Caller } from './authenticate-token.ts';
import { withCurrentName } from './current-names.ts';
import { AsUnprocessable } from './errors.ts';
import { runPage } from './number-pages.ts';
import type { Operation } from './operation.ts';
import { readBody, readIfMatch, readQuery } from './read-input.ts';
import { sendApiResponse } from './send-api-response.ts';

/** Base path of all operations. */
const apiPrefix = '/api/v1';

/** The caller, set by the authentication middleware and read by the authorization middleware. */
const callers = new WeakMap<State, Caller>();

/** The middlewares of a call, in order: a refused call has caused no reads. */
function chainFor(operation: Operation, deps: WebDeps, admission: Admission): Middleware[] {
  const begin: Middleware = (ctx, next) => {
    ctx.state.routePath = apiPrefix + operation.path;
    if (operation.cost === 'search') admission.background.yield(ctx.state);
    return next();
  };
  const identify: Middleware = async (ctx, next) => {
    callers.set(ctx.state, await authenticate(ctx, deps, operation.tag === 'Packages' ? 'packages' : 'everything'));
    await next();
  };
  const serve: Middleware = async (ctx) => {
    const params = await withCurrentName(operation.path, (ctx.params ?? {}) as Record<string, string>, deps.owners);
    const caller = callers.get(ctx.state)!;
    const { viewer, found, organisation } = await authorizeCall(operation, caller, params, deps);
    ctx.state.identity = { ...ctx.state.identity, viewer };
    const given = readGiven(ctx.querystring);
    const query = readQuery(operation, given);
    const body = await readBody(operation, ctx);
    const { origin } = ctx.state;
    const ifMatch = operation.takesIfMatch ? readIfMatch(ctx) : null;
    const { secret } = caller;
    const call = { viewer, found, organisation, secret, params, query, body, deps, origin, ifMatch };
    const { response, links } = await runPage(operation, given, query, (query) =>
      operation.run({ ...call, query }),
    ).catch((error: unknown) => {
      const isConflict = operation.conflictStatus === 422 && isDomainError(error) && error.code === 'conflict';
      throw isConflict ? new AsUnprocessable(error) : error;
    });
    await sendApiResponse(ctx, operation, response, links);
  };
  return [begin, ...admission.limit(operation.cost, identify), serve];
}

/** The unparsed query; GitHub's clients send `per_page` as the number of rows. */
function readGiven(querystring: string): URLSearchParams {
  const given = new URLSearchParams(querystring);
  const rows = given.get('per_page');
  if (rows !== null && !given.has('limit')) given.set('limit', rows);
  return given;
}

/** Names that may contain slashes: the rest of the path. */
const rests = /\{(filepath|branch|ref|basehead)\}/g;

/** `/repos/{owner}` in the router's syntax: `/repos/:owner`. */
const routerPath = (path: string): string =>
  apiPrefix + path.replaceAll(rests, '*$1').replaceAll(/\{([a-z]+)\}/gi, ':$1');

/** The router of all operations; unknown paths get an error in the format of the API. */
export function serveOperations(
  operations: readonly Operation[],
  { deps, admission }: { deps: WebDeps; admission: Admission },
): Middleware {
  const router = new Router<State>({ sensitive: true });
  for (const operation of operations)
    router.register(routerPath(operation.path), [operation.method], chainFor(operation, deps, admission) as never);
  const serve = router.routes() as Middleware;
  const refuse = (ctx: Context): never => {
    const methods = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
    if (methods.size === 0) throw notFound('no_such_operation', 'There is no such operation.');
    throw new HttpError(405, 'This address does not accept this method.', { Allow: [...methods].join(', ') });
  };
  return (ctx) => serve(ctx as never, async () => refuse(ctx));
}
