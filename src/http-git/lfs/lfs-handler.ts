import { invalid, notFound } from '../../kernel/index.ts';
import { discardBody } from '../../http/index.ts';
import type { GitHttpDeps } from '../deps.ts';
import type { GitExchange, GitHandler } from '../git-exchange.ts';
import { serveBatch } from './batch-handler.ts';
import { sendLfsError } from './lfs-errors.ts';
import { serveCreateLock, serveListLocks, serveUnlock, serveVerifyLocks } from './lock-handlers.ts';
import { serveDownload, serveUpload, serveVerify } from './object-handlers.ts';

type Serve = (deps: GitHttpDeps, exchange: GitExchange, id: string) => Promise<void>;

const oid = '([0-9a-f]{64})';
const uuid = '([0-9a-f-]{36})';

/** Every URL below `info/lfs`, by method. */
const routes: readonly (readonly [path: RegExp, methods: Readonly<Record<string, Serve>>])[] = [
  [/^objects\/batch$/, { POST: serveBatch }],
  [new RegExp(`^objects/${oid}$`), { GET: serveDownload, HEAD: serveDownload, PUT: serveUpload }],
  [new RegExp(`^objects/${oid}/verify$`), { POST: serveVerify }],
  [/^locks$/, { GET: serveListLocks, POST: serveCreateLock }],
  [/^locks\/verify$/, { POST: serveVerifyLocks }],
  [new RegExp(`^locks/${uuid}/unlock$`), { POST: serveUnlock }],
];

/** Time that a client may continue sending a request after its response. */
const restMs = 5_000;

/** The Git LFS API below `info/lfs`. Every error is JSON, as its clients expect. */
export function createLfsHandler(deps: GitHttpDeps): GitHandler {
  return async (exchange) => {
    try {
      await serve(deps, exchange);
    } catch (error) {
      await sendLfsError(exchange, error, deps.logger);
    }
    discardBody(exchange.req, restMs);
  };
}

async function serve(deps: GitHttpDeps, exchange: GitExchange): Promise<void> {
  const { req, res, rest } = exchange;
  for (const [path, methods] of routes) {
    const found = path.exec(rest);
    if (found === null) continue;
    const handle = methods[req.method ?? ''];
    if (handle === undefined) {
      const allowed = Object.keys(methods).join(', ');
      res.setHeader('Allow', allowed);
      throw invalid('method_not_taken', `This address accepts only ${allowed}.`);
    }
    await handle(deps, exchange, found[1] ?? '');
    return;
  }
  throw notFound('lfs_no_such_address', 'This address does not exist in the Git LFS API.');
}
