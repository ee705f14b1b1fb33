import { createWebApplication } from './application.ts';
import type { WebOptions } from './application.ts';
import type { Probe } from './probe.ts';
import { runnersFirst } from './runner-listener.ts';
import type { RunnerListener } from './runner-listener.ts';
import { createHttpServer } from './server.ts';
import type { WebServer } from './server.ts';

export type { WebOptions } from './application.ts';
export { createProbe } from './probe.ts';
export type { WebServer } from './server.ts';
export type { RunnerListener } from './runner-listener.ts';
export type { SshFacts } from './deps.ts';

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
