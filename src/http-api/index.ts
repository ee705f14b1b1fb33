import { embedded } from '../embedded/index.ts';
import type { Admission, Middleware } from '../http/index.ts';
import type { WebDeps } from '../web/index.ts';
import { crossOrigin } from './cross-origin.ts';
import { loadInPieces } from './load-in-pieces.ts';
import type { OpenApi } from './open-api.ts';

export { withApiErrors } from './errors.ts';
export type { OpenApi, OpenApiOperation } from './open-api.ts';

/** Serves every operation of the API; `v1/operations.ts` lists them. */
export function createApiHandler(options: { deps: WebDeps; admission: Admission }): Middleware {
  let serving: Promise<Middleware> | undefined;
  const allowOrigins = crossOrigin(options.deps.config.api.corsOrigins);
  const serve: Middleware = async (ctx, next) => {
    serving ??= startServing(options);
    return (await serving)(ctx, next);
  };
  return (ctx, next) => allowOrigins(ctx, () => serve(ctx, next) as Promise<void>);
}

async function startServing(options: { deps: WebDeps; admission: Admission }): Promise<Middleware> {
  const operations = await loadInPieces();
  const { serveOperations } = await import('./serve.ts');
  return serveOperations(operations, options);
}

let document: Promise<OpenApi> | undefined;

/** The OpenAPI document; identical for all clients until the next version. */
export function apiDocument(): Promise<OpenApi> {
  document ??= writeDocument();
  return document;
}

let documentBytes: Promise<Buffer> | undefined;

/** The document as JSON, more than a megabyte, serialized once. */
export function apiDocumentBytes(): Promise<Buffer> {
  documentBytes ??= apiDocument().then((made) => Buffer.from(JSON.stringify(made)));
  return documentBytes;
}

async function writeDocument(): Promise<OpenApi> {
  const operations = await loadInPieces();
  const { openApiOf } = await import('./open-api.ts');
  return openApiOf(operations, embedded.version);
}
