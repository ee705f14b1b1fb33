import type { RequestListener } from 'node:http';
import Koa from 'koa';
import type { Accounts } from '../accounts/index.ts';
import type { Ci } from '../ci/index.ts';
import type { Audit } from '../audit/index.ts';
import type { Backups } from '../backup/index.ts';
import type { Config, Origin } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import type { InstanceCounts } from '../doctor/index.ts';
import { embedded } from '../embedded/index.ts';
import type { Mirrors } from '../mirrors/index.ts';
import type { Webhooks } from '../webhooks/index.ts';
import type { Federation } from '../federation/index.ts';
import type { Git } from '../git/index.ts';
import { createHighlighting } from '../highlighting/index.ts';
import { systemRandom } from '../kernel/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Avatars, Owners } from '../owners/index.ts';
import type { Repositories } from '../repositories/index.ts';
import { createFederationHandlers, nameActors } from './activitypub/index.ts';
import type { CodeSearch, Search } from '../search/index.ts';
import { answerApiErrors, createApiHandler } from './api/index.ts';
import { createArtifactHandlers } from './artifacts/index.ts';
import { createAssets } from './assets.ts';
import type { Context, State } from './context.ts';
import { createGitHandlers } from './git/index.ts';
import { createHttpCounts } from './metrics/http-counts.ts';
import { serveMetrics } from './metrics/serve-metrics.ts';
import { createAnonymousBudget } from './middleware/anonymous-budget.ts';
import { createBudgets } from './middleware/budget.ts';
import { compressText } from './middleware/compression.ts';
import { answerErrors } from './middleware/errors.ts';
import { acceptHost } from './middleware/host.ts';
import { nameRequest } from './middleware/request-id.ts';
import { logRequests } from './middleware/request-log.ts';
import { setSecurityHeaders } from './middleware/security-headers.ts';
import { createOnceSecrets } from './once-secrets.ts';
import { createRender } from './render.ts';
import type { ListedJob, SshFacts, WebRooms } from './rooms.ts';
import { mountRoutes } from './routing.ts';
import { routes } from './routes.ts';

export interface WebOptions {
  db: Pick<Database, 'state'>;
  config: Config;
  clock: Clock;
  logger: Logger;
  random?: Random;
  accounts: Accounts;
  owners: Owners;
  avatars: Avatars;
  organisations: Organisations;
  repositories: Repositories;
  federation: Federation;
  ci: Ci;
  webhooks: Webhooks;
  mirrors: Mirrors;
  git: Git;
  search: Search;
  codeSearch: CodeSearch;
  audit: Audit;
  backups: Backups;
  /** How much of everything there is. */
  counts(): Promise<InstanceCounts>;
  /** Where each setting comes from. */
  origins?: ReadonlyMap<string, Origin>;
  /** What runs by the clock, and how it went the last time. */
  jobs?(): Promise<ListedJob[]>;
  /** How SSH is reached; null while it is off or not listening yet. */
  ssh(): SshFacts | null;
  /** The parts that are not ready to serve; empty means ready. */
  unready(): Promise<string[]>;
}

/** The middlewares of every request, in order, then the route table. */
export function createWebApplication(options: WebOptions): RequestListener {
  const { config, clock, logger, random = systemRandom } = options;
  const assets = createAssets(embedded);
  const render = createRender({ embedded, assets });
  const rooms: WebRooms = { origins: new Map(), jobs: async () => [], ...options, assets, highlighting: createHighlighting({ embedded }), onceSecrets: createOnceSecrets({ clock, random }) };

  const app = new Koa<State>();
  app.use(nameRequest(random));
  app.use(logRequests({ logger, clock }));
  const counts = createHttpCounts(clock);
  app.use(counts.count);
  app.use(setSecurityHeaders(config));
  app.use(compressText);
  app.use(answerErrors({ logger, render }));
  app.use(answerApiErrors(logger));
  app.use(acceptHost(config));
  app.use(nameActors(options.federation));
  const budgets = createBudgets();
  const anonymous = createAnonymousBudget(clock);
  const metrics = serveMetrics(rooms, counts, anonymous);
  const table = routes(createGitHandlers(options), createFederationHandlers(options), createArtifactHandlers(options), createApiHandler({ rooms, budgets }), metrics);
  for (const middleware of mountRoutes(table, { rooms, render, budgets, anonymous })) {
    app.use(middleware);
  }
  // What is thrown past `answerErrors` broke while the answer was being sent.
  app.on('error', (error: Error, ctx?: Context) => {
    logger.debug('http.broken_answer', { id: ctx?.state.requestId, error: error.message });
  });
  return app.callback();
}
