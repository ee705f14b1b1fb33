import type { RequestListener } from 'node:http';
import Koa from 'koa';
import { embedded } from '../embedded/index.ts';
import { createHighlighting } from '../highlighting/index.ts';
import { systemRandom } from '../kernel/index.ts';
import type { Logger, Random } from '../kernel/index.ts';
import { createFederationHandlers, negotiateActors } from '../http-activitypub/index.ts';
import { withApiErrors, createApiHandler } from '../http-api/index.ts';
import { createArtifactHandlers } from '../http-artifacts/index.ts';
import { createPackageHandlers } from '../http-packages/index.ts';
import { createIdentityHandler } from '../http-identity/index.ts';
import { createOAuthServer } from '../http-oauth/index.ts';
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
} from '../http/index.ts';
import type { Admission, Probe, RunnerListener, WebServer } from '../http/index.ts';
import type { WebDeps } from '../web/index.ts';
import type { Context, Middleware, State } from './app/context.ts';
import { serveMetrics } from '../http-metrics/index.ts';
import { createGitHandlers, createGitListener } from '../http-git/index.ts';
import { chooseLanguage, inLanguage } from '../translation/index.ts';
import type { OpenKeptValues } from '../nodes/index.ts';
import type { PageRoute, Route } from './app/route.ts';
import { routes } from './routes.ts';
import { authorize } from './app/authorize.ts';
import { withConfirmation } from './app/confirm-identity.ts';
import { refuseCrossSite } from './app/csrf.ts';
import { readCommitUploadForm } from './app/commit-upload-form.ts';
import { readFormWithAttachments, readFormWithReleaseFiles } from './app/attachment-forms.ts';
import { readForm } from './app/forms.ts';
import { keepForm } from './app/keep-form.ts';
import { withErrorMapping } from './app/map-errors.ts';
import { createPageCache } from './app/page-cache.ts';
import type { PageCache } from './app/page-cache.ts';
import { createRender } from './app/render.ts';
import type { Render } from './app/render.ts';
import { requireOnboarding } from './app/require-onboarding.ts';
import { mountRoutes, nameRoute } from './app/routing.ts';
import { sendResponse } from './app/send-response.ts';
import { initRequestState } from './app/request-state.ts';
import { readUpload } from './app/uploads.ts';
import { answerGoGet } from './app/answer-go-get.ts';
import { identifyCaller, identifyViewer } from './app/viewer.ts';
import { scriptsWithWords } from './app/script-words.ts';
import { createRenderings } from './renderings.ts';

/** The modules that pages call, except those created here. */
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
  /** Storage for values that pages need between two requests. */
  openKeptValues: OpenKeptValues;
  runners?: RunnerListener;
  probe?: Probe;
}

/** A stage before Koa: responds to a request, or passes it to the next stage, perhaps later. */
type Stage = (next: RequestListener) => RequestListener;

/**
 * The web port: every request passes `stages`, then `middlewares`, then the `routeChain` of the route that matches,
 * each from top to bottom. `createHttpServer` runs before them: it limits connections, headers and idle time, and
 * passes HTTP/2 connections to gRPC. Nothing listens before `listen`.
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
      const frame = { identity, preferences: readPreferences(headers.cookie), path: '/', origin: '', unread: 0 };
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
  /** Every stage that takes a request calls this at its start: log line, metrics, and the records of admission. */
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
    // Serves the requests of `hearth doctor --url`: first, since it shows them unmodified.
    (next) => probe?.before(next) ?? next,
    // The runner protocol over Connect: before the queue, because jobs must not wait for readers.
    (next) => routeRunnerRequests(runners, next),
    // Fair queue: a client begins a few requests per turn of the event loop, before any expensive work.
    admission.enqueue,
    // git over HTTP: bypasses Koa, whose middlewares cost more than a response from the ref cache.
    (next) => createGitListener({ handlers: git, random, headers, onRequest, readClient, config }, next),
    // Page cache, cached responses to anonymous requests: bypasses Koa for the same reason.
    pageCache.serve,
  ];

  const middlewares: Middleware[] = [
    // Stores the responses of the middlewares below for the last stage above; first, so it sees the complete response.
    pageCache.store,
    // State and request id, which all others read.
    initRequestState(random),
    // Log, metrics and headers of every response, including errors.
    (ctx, next) => {
      for (const record of onRequest) record(ctx);
      ctx.set(headers);
      return next();
    },
    // The API below the URL of git: before any middleware that reads the path.
    apiBelowGit,
    // Delays refusals to anonymous clients: outside of all middlewares that refuse.
    admission.delayRefusals,
    // gzip: outside of the error pages, which are also compressed.
    compressText,
    // Turns errors into pages: outside of all middlewares that throw.
    withErrorMapping({ logger, render, locale: config.locale }),
    // Turns errors below /api into JSON.
    withApiErrors(logger),
    // Client address and origin; refuses ambiguous requests before routing.
    acceptHost(config),
    // Redirects a page request with `Accept: application/activity+json` to the actor's document: needs the origin.
    negotiateActors(options.federation),
    // Go packages, at URLs below repositories that are not pages: before routing.
    answerGoGet(config),
    // Runs the chain of the first route that matches, or refuses with 404 or 405.
    ...mountRoutes(table, routeChain({ deps, render, admission, pageCache })),
  ];

  const app = new Koa<State>();
  for (const middleware of middlewares) app.use(middleware);
  // An error past `withErrorMapping` occurred while the response was being sent.
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
 * Clients that derive the API URL from a clone URL call it below `/git`: the importers of Gitea and Forgejo cut owner
 * and name off `/git/alice/site.git`. No owner can be called `api`.
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

/** The middlewares of a matched route. */
export function routeChain({ deps, render, admission, pageCache }: RouteDeps): (route: Route) => Middleware[] {
  return (route) => {
    // Records the pattern for log and metrics: first, so that refusals are counted under it.
    const name = nameRoute(route, deps.backgroundPriority);
    // Other protocols authenticate by themselves and ignore cookies.
    if ('handle' in route) return [name, ...admission.limit(route.cost), route.handle];
    // Shows "Confirm it is you" first, if the route declares it.
    const page = sendResponse(withConfirmation(route), {
      deps,
      render,
      rendered: isCacheable(route) ? pageCache.rendered : null,
    });
    // Open routes do not authenticate the client.
    if (route.access === 'open') return [name, ...admission.limit(route.cost), page];
    return [
      name,
      // The viewer, by the session cookie, and the limits of the cost class, in the order that admission requires.
      ...admission.limit(route.cost, route.takesTokens === true ? identifyCaller(deps) : identifyViewer(deps)),
      // Needs the session; precedes every lookup and body read for another site's form.
      refuseCrossSite,
      // Responds to a form whose session has ended with a page that keeps it: outside of the middlewares that refuse
      // it.
      keepForm(route, render, deps.config.locale),
      // Redirects to the choice of a username, password or second factor: before permissions, which need a complete
      // account.
      requireOnboarding(route.path, deps),
      // Enforces the route's declaration: a viewer without the permission on the repository gets 404.
      authorize(route.access, deps),
      // The body: read only for authorized clients.
      bodyReaderOf(route, deps),
      // Finds the page in the page cache, or creates and renders it.
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

/** Pages made from git for any reader: expensive, and identical for the next reader. */
const isCacheable = ({ method, access, cost }: Route): boolean =>
  method === 'GET' && access === 'repository:read' && cost === 'objects';
