import type { RequestListener } from 'node:http';
import Koa from 'koa';
import { embedded } from '../../embedded/index.ts';
import { createHighlighting } from '../../highlighting/index.ts';
import { systemRandom } from '../../kernel/index.ts';
import type { Logger, Random } from '../../kernel/index.ts';
import { createFederationHandlers, nameActors } from '../../http-activitypub/index.ts';
import { withApiErrors, createApiHandler } from '../../http-api/index.ts';
import { createArtifactHandlers } from '../../http-artifacts/index.ts';
import {
  createAssets,
  createBackgroundPriority,
  createHttpCounts,
  serveMetrics,
  createAnonymousCpuBudget,
  createBudgets,
  compressText,
  acceptHost,
  delayRefusals,
  nameRequest,
  createRequestLog,
  securityHeaders,
  createOneTimeSecrets,
  createClientReader,
  createFairQueue,
} from '../../http/index.ts';
import type { Context, State, WebDeps } from '../../http/index.ts';
import { createGitHandlers, gitFirst } from '../../http-git/index.ts';
import { createResponseCache } from './cached-response.ts';
import { withErrorMapping } from './map-errors.ts';
import { createRender } from './render.ts';
import { mountRoutes } from './routing.ts';
import { routes } from '../routes.ts';

/** The rooms that pages call, without what is made here. */
export interface WebOptions
  extends Omit<WebDeps, 'assets' | 'highlighting' | 'oneTimeSecrets' | 'backgroundPriority' | 'origins' | 'jobs'>,
    Partial<Pick<WebDeps, 'origins' | 'jobs'>> {
  logger: Logger;
  random?: Random;
}

/** The middlewares of every request, in order, then the route table. */
export function createWebApplication(options: WebOptions): RequestListener {
  const { config, clock, logger, random = systemRandom } = options;
  const assets = createAssets(embedded);
  const givingWay = createBackgroundPriority();
  const render = createRender({ embedded, assets });
  const deps: WebDeps = {
    origins: new Map(),
    jobs: async () => [],
    ...options,
    assets,
    highlighting: createHighlighting(options),
    oneTimeSecrets: createOneTimeSecrets({ clock, random }),
    backgroundPriority: givingWay,
  };

  const app = new Koa<State>();
  const readClient = createClientReader(config.proxy.trusted);
  const counts = createHttpCounts(clock, options.git.traffic);
  const turns = createFairQueue();
  const notes = [createRequestLog({ logger, clock }), counts.count, turns.note, givingWay.note];
  const headers = securityHeaders(config);
  const again = createResponseCache({ deps, random, readClient, notes });
  app.use(again.remember);
  app.use(nameRequest(random));
  app.use((ctx, next) => {
    for (const note of notes) note(ctx);
    ctx.set(headers);
    return next();
  });
  app.use(delayRefusals());
  app.use(compressText);
  app.use(withErrorMapping({ logger, render }));
  app.use(withApiErrors(logger));
  app.use(acceptHost(config));
  app.use(nameActors(options.federation));
  const budgets = createBudgets(givingWay);
  const anonymous = createAnonymousCpuBudget(clock);
  const metrics = serveMetrics(deps, counts, anonymous);
  const git = createGitHandlers(options);
  const table = routes(
    git,
    createFederationHandlers(options),
    createArtifactHandlers(options),
    createApiHandler({ deps, budgets, anonymous }),
    metrics,
  );
  for (const middleware of mountRoutes(table, { deps, render, budgets, anonymous })) {
    app.use(middleware);
  }
  // What is thrown past `answerErrors` broke while the answer was being sent.
  app.on('error', (error: Error, ctx?: Context) => {
    logger.debug('http.broken_answer', { id: ctx?.state.requestId, error: error.message });
  });
  return turns.before(gitFirst({ handlers: git, random, headers, notes, readClient }, again.before(app.callback())));
}
