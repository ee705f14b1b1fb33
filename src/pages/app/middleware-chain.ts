import type { RequestListener } from 'node:http';
import Koa from 'koa';
import { embedded } from '../../embedded/index.ts';
import { createHighlighting } from '../../highlighting/index.ts';
import { systemRandom } from '../../kernel/index.ts';
import type { Logger, Random } from '../../kernel/index.ts';
import { createFederationHandlers, negotiateActors } from '../../http-activitypub/index.ts';
import { withApiErrors, createApiHandler } from '../../http-api/index.ts';
import { createArtifactHandlers } from '../../http-artifacts/index.ts';
import { createPackageHandlers } from '../../http-packages/index.ts';
import { createIdentityHandler } from '../../http-identity/index.ts';
import { createOAuthServer } from '../../http-oauth/index.ts';
import {
  acceptHost,
  anonymousIdentity,
  compressText,
  createAdmission,
  createAssets,
  createClientReader,
  createHttpMetrics,
  createHttpServer,
  createOneTimeSecrets,
  createPendingForms,
  createRequestLog,
  readPreferences,
  securityHeaders,
  routeRunnerRequests,
} from '../../http/index.ts';
import type { Admission, Probe, RunnerListener, WebServer } from '../../http/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { Context, Middleware, State } from './context.ts';
import { serveMetrics } from '../../http-metrics/index.ts';
import { createGitHandlers, createGitListener } from '../../http-git/index.ts';
import { chooseLanguage, inLanguage } from '../../translation/index.ts';
import type { OpenKeptValues } from '../../nodes/index.ts';
import type { PageRoute, Route } from '../route.ts';
import { routes } from '../routes.ts';
import { authorize } from './authorize.ts';
import { withConfirmation } from './confirm-identity.ts';
import { refuseCrossSite } from './csrf.ts';
import { readCommitUploadForm } from './commit-upload-form.ts';
import { readFormWithAttachments, readFormWithReleaseFiles } from './attachment-forms.ts';
import { readForm } from './forms.ts';
import { keepForm } from './keep-form.ts';
import { withErrorMapping } from './map-errors.ts';
import { createPageCache } from './page-cache.ts';
import type { PageCache } from './page-cache.ts';
import { createRender } from './render.ts';
import type { Render } from './render.ts';
import { requireOnboarding } from './require-onboarding.ts';
import { mountRoutes, nameRoute } from './routing.ts';
import { sendResponse } from './send-response.ts';
import { initRequestState } from './request-state.ts';
import { readUpload } from './uploads.ts';
import { answerGoGet } from './answer-go-get.ts';
import { identifyCaller, identifyViewer } from './viewer.ts';
import { scriptsWithWords } from './script-words.ts';
import { createRenderings } from '../renderings.ts';

/** The modules that pages call, without what is made here. */
export interface WebOptions
  extends Omit<
      WebDeps,
      | 'assets'
      | 'highlighting'
      | 'renderings'
      | 'oneTimeSecrets'
      | 'pendingForms'
      | 'backgroundPriority'
      | 'consents'
      | 'origins'
      | 'scheduledTasks'
      | 'startTask'
    >,
    Partial<Pick<WebDeps, 'origins' | 'scheduledTasks' | 'startTask'>> {
  logger: Logger;
  random?: Random;
  /** For what pages keep between two requests. */
  openKeptValues: OpenKeptValues;
  runners?: RunnerListener;
  probe?: Probe;
}

/** A stage before Koa: responds to a request, or hands it on to the next stage, perhaps later. */
type Stage = (next: RequestListener) => RequestListener;

/**
 * The web port: every request passes `stages`, then `middlewares`, then the `routeChain` of the
 * route that matches, each from top to bottom. `createHttpServer` runs before them all: it
 * limits connections, headers and silence, and hands HTTP/2 connections to gRPC.
 * Nothing listens before `listen`.
 */
export function createWebServer(options: WebOptions): WebServer {
  const { config, clock, logger, random = systemRandom, runners, probe } = options;
  const assets = createAssets(embedded, scriptsWithWords(embedded));
  const admission = createAdmission(clock);
  const render = createRender({
    embedded,
    assets,
    sendsMail: options.mail.isConfigured,
    hasProviders: options.singleSignOn.providers.length > 0,
    hasNodes: options.nodes.isShared,
    federates: options.federation.isOperational,
  });
  const oauth = createOAuthServer({
    ...options,
    renderPage({ signedIn, headers }, template, locals) {
      const identity = signedIn === null ? anonymousIdentity : { ...signedIn, avatarAt: null };
      const frame = { identity, preferences: readPreferences(headers.cookie), path: '/', unread: 0 };
      const language = chooseLanguage(signedIn?.person.language, headers['accept-language'], config.locale);
      return inLanguage(language, () => render(template, frame, locals));
    },
  });
  const kept = { random, openKeptValues: options.openKeptValues };
  const deps: WebDeps = {
    origins: new Map(),
    scheduledTasks: async () => [],
    startTask: () => false,
    ...options,
    assets,
    highlighting: createHighlighting(options),
    renderings: createRenderings(options),
    oneTimeSecrets: createOneTimeSecrets(kept),
    pendingForms: createPendingForms(kept),
    backgroundPriority: admission.background,
    consents: oauth.consents,
  };
  const readClient = createClientReader(config.proxy.trusted);
  const counts = createHttpMetrics(clock, options.git.traffic);
  const headers = securityHeaders;
  /** Called when a request begins, by whichever stage takes it: log line, metrics, and what admission remembers. */
  const onRequest = [createRequestLog({ logger, clock }), counts.count, admission.onRequest];
  const pageCache = createPageCache({ deps, random, readClient, onRequest });
  const git = createGitHandlers(options);
  const metrics = serveMetrics(deps, counts, admission);
  const table = routes({
    federation: createFederationHandlers(options),
    artifacts: createArtifactHandlers(options),
    identity: createIdentityHandler(options),
    packages: createPackageHandlers({ ...options, random }),
    oauth: oauth.handle,
    api: createApiHandler({ deps, admission }),
    metrics,
  });

  const stages: Stage[] = [
    // Serves the requests of `hearth doctor --url`: first, since it shows them as they arrived.
    (next) => probe?.before(next) ?? next,
    // The runner protocol over Connect: before the queue, because a job must not wait for readers.
    (next) => routeRunnerRequests(runners, next),
    // Fair queue: a client begins a few requests per turn of the event loop, before any of them costs something.
    admission.enqueue,
    // git over HTTP: past Koa, whose middlewares cost more than a response from the ref cache.
    (next) => createGitListener({ handlers: git, random, headers, onRequest, readClient, config }, next),
    // Page cache, cached responses to anonymous requests: past Koa for the same reason.
    pageCache.serve,
  ];

  const middlewares: Middleware[] = [
    // Stores what the middlewares below respond, for the last stage above; so it sees the complete response.
    pageCache.store,
    // State and request id, which all others read.
    initRequestState(random),
    // Log, metrics and headers of every response, whatever comes of it.
    (ctx, next) => {
      for (const record of onRequest) record(ctx);
      ctx.set(headers);
      return next();
    },
    // The API below the address of git: before anything looks at the path.
    apiBelowGit,
    // Delays refusals to anonymous clients: outside of whatever refuses.
    admission.delayRefusals,
    // gzip: outside of the error pages, which are compressed too.
    compressText,
    // Errors become pages: outside of everything that throws.
    withErrorMapping({ logger, render, locale: config.locale }),
    // Errors below /api become JSON.
    withApiErrors(logger),
    // Client address and origin; refuses ambiguous requests before a route is looked for.
    acceptHost(config),
    // `Accept: application/activity+json` on a page leads to the actor's document: needs the origin.
    negotiateActors(options.federation),
    // Packages of Go, below addresses of repositories that are no pages: before a route is looked for.
    answerGoGet(config),
    // Runs the chain of the first route that matches, or refuses with 404 or 405.
    ...mountRoutes(table, routeChain({ deps, render, admission, pageCache })),
  ];

  const app = new Koa<State>();
  for (const middleware of middlewares) app.use(middleware);
  // What is thrown past `withErrorMapping` failed while the response was being sent.
  app.on('error', (error: Error, ctx?: Context) => {
    logger.debug('http.broken_answer', { id: ctx?.state.requestId, error: error.message });
  });
  return createHttpServer({
    ...config.http.listen,
    runners,
    trusted: config.proxy.trusted,
    handle: stages.reduceRight<RequestListener>((next, stage) => stage(next), app.callback()),
  });
}

/**
 * Clients that take the address of the API from that of a clone ask below `/git`: the importers of Gitea and Forgejo
 * cut owner and name off `/git/alice/site.git`. No owner is called `api`.
 */
const apiBelowGit: Middleware = (ctx, next) => {
  if (ctx.path.startsWith('/git/api/v1/')) ctx.path = ctx.path.slice('/git'.length);
  return next();
};

interface RouteDeps {
  deps: WebDeps;
  render: Render;
  admission: Admission;
  pageCache: Pick<PageCache, 'rendered'>;
}

/** What a request passes once its route is known. */
export function routeChain({ deps, render, admission, pageCache }: RouteDeps): (route: Route) => Middleware[] {
  return (route) => {
    // The pattern, for log and metrics: first, so that a refusal is counted under it.
    const name = nameRoute(route, deps.backgroundPriority);
    // Other protocols authenticate by themselves, and ignore cookies.
    if ('handle' in route) return [name, ...admission.limit(route.cost), route.handle];
    // Behind "Confirm it is you", where the route declares it.
    const page = sendResponse(withConfirmation(route), {
      deps,
      render,
      rendered: isCacheable(route) ? pageCache.rendered : null,
    });
    // No client is asked for credentials.
    if (route.access === 'open') return [name, ...admission.limit(route.cost), page];
    return [
      name,
      // Who asks, by the session cookie, and the limits of the cost class, in the order that admission wants.
      ...admission.limit(route.cost, route.takesTokens === true ? identifyCaller(deps) : identifyViewer(deps)),
      // Needs the session; before anything is looked up or read for another site's form.
      refuseCrossSite,
      // Answers a form whose session has ended with a page that keeps it: around whatever refuses it.
      keepForm(route, render, deps.config.locale),
      // Leads to the choice of a username, password or second factor: before rights, which need a complete account.
      requireOnboarding(route.path, deps),
      // Enforces the route's declaration: a viewer without the right on the repository gets 404.
      authorize(route.access, deps),
      // The body: only for those who may send it.
      bodyReaderOf(route, deps),
      // Finds the page in the page cache, or makes it and renders it.
      page,
    ];
  };
}

function bodyReaderOf(route: PageRoute, deps: WebDeps): Middleware {
  if (route.ignoresBody === true) return (_ctx, next) => next();
  if (route.takesContents === true) return readCommitUploadForm(deps, route.maxFormBytes);
  if (route.takesFiles !== undefined) return readFormWithAttachments(deps, route.takesFiles, route.maxFormBytes);
  if (route.takesReleaseFiles === true) return readFormWithReleaseFiles(deps, route.maxFormBytes);
  return route.upload === undefined ? readForm(route.maxFormBytes) : readUpload(route.upload);
}

/** Pages that are made from git for any reader: expensive to make, and the same for the next reader. */
const isCacheable = ({ method, access, cost }: Route): boolean =>
  method === 'GET' && access === 'repository:read' && cost === 'objects';
