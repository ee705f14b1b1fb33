import { embedded } from '../embedded/index.ts';
import type { Admission, Middleware, WebDeps } from '../http/index.ts';
import { crossOrigin } from './cross-origin.ts';
import type { OpenApi } from './open-api.ts';

export { withApiErrors } from './errors.ts';
export type { OpenApi, OpenApiOperation, OpenApiParameter } from './open-api.ts';

/** Read by the first call and not at every start: some forty operations with their schemas. */
async function loadOperations() {
  const [{ operations }, { serveOperations }] = await Promise.all([import('./v1/operations.ts'), import('./serve.ts')]);
  return { operations, serveOperations };
}

/** Serves every operation of the API; `v1/operations.ts` is their table. */
export function createApiHandler(options: { deps: WebDeps; admission: Admission }): Middleware {
  let serving: Promise<Middleware> | undefined;
  const allowOrigins = crossOrigin(options.deps.config.api.corsOrigins);
  const serve: Middleware = async (ctx, next) => {
    serving ??= loadOperations().then(({ operations, serveOperations }) => serveOperations(operations, options));
    return (await serving)(ctx, next);
  };
  return (ctx, next) => allowOrigins(ctx, () => serve(ctx, next) as Promise<void>);
}

let document: Promise<OpenApi> | undefined;

/** The document of the API; the same for everyone until the next version. */
export function apiDocument(): Promise<OpenApi> {
  document ??= Promise.all([loadOperations(), import('./open-api.ts')]).then(([{ operations }, { openApiOf }]) =>
    openApiOf(operations, embedded.version),
  );
  return document;
}
