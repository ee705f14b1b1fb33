import type { FederationHandlers } from '../http-activitypub/index.ts';
import type { ArtifactHandlers } from '../http-artifacts/index.ts';
import { throughPages } from '../http-git/index.ts';
import type { GitHandlers } from '../http-git/index.ts';
import type { Middleware } from '../http/index.ts';
import type { ProtocolRoute } from './route.ts';

/** What answers the URLs that are no pages; each of them is made by a module of its own. */
export interface ProtocolHandlers {
  git: GitHandlers;
  federation: FederationHandlers;
  artifacts: ArtifactHandlers;
  api: Middleware;
  metrics: Middleware;
}

const git = '/git/:owner/:name';
/** Actors: of repositories and of people. */
const repository = '/ap/repos/:owner/:name';
const person = '/ap/users/:username';

const gitRoutes = ({ git: handlers }: ProtocolHandlers): ProtocolRoute[] => [
  { method: 'GET', path: `${git}/info/refs`, access: 'git', cost: 'transfer', handle: throughPages(handlers.infoRefs) },
  {
    method: 'POST',
    path: `${git}/git-upload-pack`,
    access: 'git',
    cost: 'transfer',
    handle: throughPages(handlers.uploadPack),
  },
  {
    method: 'POST',
    path: `${git}/git-receive-pack`,
    access: 'git',
    cost: 'transfer',
    handle: throughPages(handlers.receivePack),
  },
  ...['upload', 'receive'].map(
    (service): ProtocolRoute => ({
      method: 'GET',
      path: `${git}/git-${service}-pack`,
      access: 'git',
      cost: 'free',
      handle: throughPages(handlers.refuseMethod),
    }),
  ),
  // Below every address at which git finds a repository: git-lfs does not follow the redirects that git follows.
  ...[git, '/repos/:owner/:name', '/:owner/:name'].map(
    (at): ProtocolRoute => ({
      method: 'ANY',
      path: `${at}/info/lfs/{*operation}`,
      access: 'git',
      cost: 'rows',
      handle: throughPages(handlers.lfs),
    }),
  ),
];

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
  { method: 'GET', path: repository, access: 'federation', cost: 'rows', handle: ap.actor },
  { method: 'GET', path: `${repository}/outbox`, access: 'federation', cost: 'rows', handle: ap.outbox },
  { method: 'GET', path: `${repository}/followers`, access: 'federation', cost: 'rows', handle: ap.followers },
  { method: 'GET', path: `${repository}/activities/:id`, access: 'federation', cost: 'rows', handle: ap.activity },
  { method: 'POST', path: `${repository}/inbox`, access: 'federation', cost: 'signature', handle: ap.inbox },
  { method: 'GET', path: '/ap', access: 'federation', cost: 'free', handle: ap.nothing },
  { method: 'GET', path: '/ap/{*rest}', access: 'federation', cost: 'free', handle: ap.nothing },
  { method: 'POST', path: '/ap/{*rest}', access: 'federation', cost: 'free', handle: ap.nothing },
];

/** The URLs of every other protocol: metrics, the JSON API, artifacts, git and ActivityPub. */
export const protocolRoutes = (handlers: ProtocolHandlers): readonly ProtocolRoute[] => [
  { method: 'GET', path: '/metrics', access: 'operator', cost: 'rows', handle: handlers.metrics },
  // The operations of the API are a table of their own: src/http-api/v1/operations.ts.
  { method: 'ANY', path: '/api/v1/{*operation}', access: 'api', cost: 'free', handle: handlers.api },
  // The addresses that the actions of GitHub's toolkit call; src/http-artifacts reads the rest of the path.
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
  ...gitRoutes(handlers),
  ...federationRoutes(handlers),
];
