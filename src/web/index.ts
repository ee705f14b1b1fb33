import { createWebApplication } from './application.ts';
import type { WebOptions } from './application.ts';
import { createHttpServer } from './server.ts';
import type { WebServer } from './server.ts';

export type { WebOptions } from './application.ts';
export type { WebServer } from './server.ts';
export type { SshFacts } from './rooms.ts';

/** The web edge: pages, git over HTTP, health. Nothing listens before `listen`. */
export function createWebServer(options: WebOptions): WebServer {
  const { host, port } = options.config.http.listen;
  return createHttpServer({ host, port, handle: createWebApplication(options) });
}
