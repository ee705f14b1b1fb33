import { createWebApplication } from './application.ts';
import type { WebOptions } from './application.ts';
import type { Probe } from './probe.ts';
import { runnersFirst } from './runner-door.ts';
import type { RunnerDoor } from './runner-door.ts';
import { createHttpServer } from './server.ts';
import type { WebServer } from './server.ts';

export type { WebOptions } from './application.ts';
export { createProbe } from './probe.ts';
export type { WebServer } from './server.ts';
export type { RunnerDoor } from './runner-door.ts';
export type { SshFacts } from './rooms.ts';

/** The web edge: pages, git over HTTP, health. Nothing listens before `listen`. */
export function createWebServer(options: WebOptions & { runners?: RunnerDoor; probe?: Probe }): WebServer {
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
