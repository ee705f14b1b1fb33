import { createWebApplication } from './app/chain.ts';
import type { WebOptions } from './app/chain.ts';
import type { Probe, RunnerListener, WebServer } from '../http/index.ts';
import { runnersFirst, createHttpServer } from '../http/index.ts';

export type { WebOptions } from './app/chain.ts';
export { listRoutes } from './routes.ts';
export type { ListedRoute } from './routes.ts';

/** The web edge: pages, git over HTTP, health. Nothing listens before `listen`. */
export function createWebServer(options: WebOptions & { runners?: RunnerListener; probe?: Probe }): WebServer {
  const { host, port } = options.config.http.listen;
  const { runners, probe } = options;
  const handle = runnersFirst(runners, createWebApplication(options));
  const { trusted } = options.config.proxy;
  return createHttpServer({
    host,
    port,
    runners,
    trusted,
    handle: probe === undefined ? handle : probe.before(handle),
  });
}
