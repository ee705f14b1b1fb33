import type { FederationHandlers } from '../http-activitypub/index.ts';
import type { ArtifactHandlers } from '../http-artifacts/index.ts';
import type { PackageHandlers } from '../http-packages/index.ts';
import { oauthPaths } from '../http-oauth/index.ts';
import type { Middleware } from './app/context.ts';
import type { ProtocolRoute } from './app/route.ts';

/** The handlers of URLs that are not pages; each comes from its own module. */
export interface ProtocolHandlers {
  federation: FederationHandlers;
  artifacts: ArtifactHandlers;
  identity: Middleware;
  packages: PackageHandlers;
  oauth: Middleware;
  api: Middleware;
  metrics: Middleware;
}

/** Actors: repositories, users and organisations. */
const repository = '/ap/repos/:owner/:name';
const person = '/ap/users/:username';
const organisation = '/ap/orgs/:name';

const federationRoutes = ({ federation: ap }: ProtocolHandlers): ProtocolRoute[] => [
  { method: 'GET', path: '/.well-known/webfinger', access: 'federation', cost: 'rows', handle: ap.webFinger },
  { method: 'GET', path: '/.well-known/nodeinfo', access: 'federation', cost: 'free', handle: ap.nodeInfoLinks },
  { method: 'GET', path: '/nodeinfo/2.1', access: 'federation', cost: 'rows', handle: ap.nodeInfo },
  { method: 'GET', path: '/ap/instance', access: 'federation', cost: 'rows', handle: ap.actor },
  { method: 'GET', path: '/ap/instance/outbox', access: 'federation', cost: 'rows', handle: ap.outbox },
  { method: 'POST', path: '/ap/instance/inbox', access: 'federation', cost: 'signature', handle: ap.inbox },
  { method: 'POST', path: '/ap/pairing', access: 'federation', cost: 'rows', handle: ap.pairing },
  { method: 'GET', path: person, access: 'federation', cost: 'rows', handle: ap.actor },
  { method: 'GET', path: `${person}/outbox`, access: 'federation', cost: 'rows', handle: ap.outbox },
  { method: 'GET', path: `${person}/repositories`, access: 'federation', cost: 'rows', handle: ap.repositories },
  { method: 'GET', path: `${person}/activities/:id`, access: 'federation', cost: 'rows', handle: ap.activity },
  { method: 'POST', path: `${person}/inbox`, access: 'federation', cost: 'signature', handle: ap.inbox },
  { method: 'GET', path: `${person}/followers`, access: 'federation', cost: 'rows', handle: ap.followers },
  { method: 'GET', path: `${person}/notes/:id`, access: 'federation', cost: 'rows', handle: ap.note },
  { method: 'GET', path: organisation, access: 'federation', cost: 'rows', handle: ap.actor },
  { method: 'GET', path: `${organisation}/outbox`, access: 'federation', cost: 'rows', handle: ap.outbox },
  { method: 'GET', path: `${organisation}/followers`, access: 'federation', cost: 'rows', handle: ap.followers },
  { method: 'GET', path: `${organisation}/activities/:id`, access: 'federation', cost: 'rows', handle: ap.activity },
  { method: 'GET', path: `${organisation}/notes/:id`, access: 'federation', cost: 'rows', handle: ap.note },
  { method: 'POST', path: `${organisation}/inbox`, access: 'federation', cost: 'signature', handle: ap.inbox },
  { method: 'GET', path: repository, access: 'federation', cost: 'rows', handle: ap.actor },
  { method: 'GET', path: `${repository}/outbox`, access: 'federation', cost: 'rows', handle: ap.outbox },
  { method: 'GET', path: `${repository}/followers`, access: 'federation', cost: 'rows', handle: ap.followers },
  { method: 'GET', path: `${repository}/activities/:id`, access: 'federation', cost: 'rows', handle: ap.activity },
  { method: 'GET', path: `${repository}/notes/:id`, access: 'federation', cost: 'rows', handle: ap.note },
  { method: 'POST', path: `${repository}/inbox`, access: 'federation', cost: 'signature', handle: ap.inbox },
  { method: 'GET', path: '/ap', access: 'federation', cost: 'free', handle: ap.nothing },
  { method: 'GET', path: '/ap/{*rest}', access: 'federation', cost: 'free', handle: ap.nothing },
  { method: 'POST', path: '/ap/{*rest}', access: 'federation', cost: 'free', handle: ap.nothing },
];

const oauthRoutes = ({ oauth: handle }: ProtocolHandlers): ProtocolRoute[] =>
  (
    [
      ['GET', '/.well-known/openid-configuration', 'rows'],
      ['GET', '/.well-known/oauth-authorization-server', 'rows'],
      ['GET', oauthPaths.authorization, 'rows'],
      ['GET', `${oauthPaths.authorization}/:uid`, 'rows'],
      ['ANY', oauthPaths.token, 'signature'],
      ['ANY', oauthPaths.userinfo, 'rows'],
      ['GET', oauthPaths.jwks, 'rows'],
      ['ANY', oauthPaths.introspection, 'rows'],
      ['ANY', oauthPaths.revocation, 'rows'],
      ['ANY', oauthPaths.device_authorization, 'rows'],
      ['GET', oauthPaths.end_session, 'rows'],
      ['POST', `${oauthPaths.end_session}/confirm`, 'rows'],
      ['GET', `${oauthPaths.end_session}/success`, 'free'],
    ] as const
  ).map(([method, path, cost]) => ({ method, path, access: 'oauth', cost, handle }));

/**
 * The URLs of other protocols: metrics, the JSON API, artifacts and ActivityPub. Those of git:
 * src/http-git/listener.ts.
 */
export const protocolRoutes = (handlers: ProtocolHandlers): readonly ProtocolRoute[] => [
  { method: 'GET', path: '/metrics', access: 'operator', cost: 'rows', handle: handlers.metrics },
  // The operations of the API have their own table: src/http-api/v1/operations.ts.
  { method: 'ANY', path: '/api/v1/{*operation}', access: 'api', cost: 'free', handle: handlers.api },
  // The URLs that the actions of GitHub's toolkit call; src/http-artifacts reads the rest of the path.
  {
    method: 'ANY',
    path: '/twirp/github.actions.results.api.v1.ArtifactService/{*method}',
    access: 'task',
    cost: 'transfer',
    handle: handlers.artifacts.results,
  },
  {
    method: 'ANY',
    path: '/api/actions_pipeline/{*rest}',
    access: 'task',
    cost: 'transfer',
    handle: handlers.artifacts.pipelines,
  },
  // Identity tokens of jobs, and the documents that verify them: src/http-identity.
  { method: 'ANY', path: '/api/oidc/{*rest}', access: 'task', cost: 'rows', handle: handlers.identity },
  // Packages: src/http-packages reads the rest of the path, and passes on paths that name no package.
  { method: 'ANY', path: '/v2/{*rest}', access: 'packages', cost: 'transfer', handle: handlers.packages.oci },
  {
    method: 'ANY',
    path: '/packages/:owner/{*rest}',
    access: 'packages',
    cost: 'transfer',
    handle: handlers.packages.registry,
  },
  {
    method: 'ANY',
    path: '/api/packages/:owner/{*rest}',
    access: 'packages',
    cost: 'transfer',
    handle: handlers.packages.registry,
  },
  ...federationRoutes(handlers),
  ...oauthRoutes(handlers),
];
