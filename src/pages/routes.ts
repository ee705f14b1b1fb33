import { gitRoutes } from '../http-git/index.ts';
import type { Middleware } from './app/context.ts';
import { accountRoutes } from './account/routes.ts';
import { adminRoutes } from './admin/routes.ts';
import { boardsRoutes } from './boards/routes.ts';
import { codeRoutes } from './code/routes.ts';
import { editingRoutes } from './editing/routes.ts';
import { exploreRoutes } from './explore/routes.ts';
import { followsRoutes } from './follows/routes.ts';
import { helpRoutes } from './help/routes.ts';
import { issuesRoutes } from './issues/routes.ts';
import { notificationsRoutes } from './notifications/routes.ts';
import { oauthRoutes } from './oauth/routes.ts';
import { organisationRoutes } from './organisation/routes.ts';
import { changesRoutes } from './pulls/changes-routes.ts';
import { protocolRoutes } from './protocol-routes.ts';
import type { ProtocolHandlers } from './protocol-routes.ts';
import { packagesRoutes } from './packages/routes.ts';
import { pullsRoutes } from './pulls/routes.ts';
import { releasesRoutes } from './releases/routes.ts';
import { repositoryRoutes, shortUrlRoutes } from './repository/routes.ts';
import type { Route } from './app/route.ts';
import { runsRoutes } from './runs/routes.ts';
import { signInRoutes } from './sign-in/routes.ts';
import { notFoundRoutes, siteRoutes } from './site/routes.ts';
import { wikiRoutes } from './wiki/routes.ts';
import { webhooksRoutes } from './webhooks/routes.ts';
import { writingRoutes } from './writing/routes.ts';

export type { Route } from './app/route.ts';

/** Every URL of the web server, one table per subject. The first row that matches serves it. */
export const routes = (handlers: ProtocolHandlers): Route[] => [
  ...siteRoutes,
  ...helpRoutes,
  ...signInRoutes,
  ...oauthRoutes,
  ...accountRoutes,
  ...followsRoutes,
  ...adminRoutes,
  ...exploreRoutes,
  ...organisationRoutes,
  ...repositoryRoutes,
  ...codeRoutes,
  ...releasesRoutes,
  ...packagesRoutes,
  ...wikiRoutes,
  ...editingRoutes,
  ...runsRoutes,
  ...boardsRoutes,
  ...issuesRoutes,
  ...changesRoutes,
  ...pullsRoutes,
  ...writingRoutes,
  ...webhooksRoutes,
  ...notificationsRoutes,
  ...protocolRoutes(handlers),
  // The patterns below also match URLs of the tables above.
  ...shortUrlRoutes,
  ...notFoundRoutes,
];

/** A route in the output of `hearth routes`. `git`: the handler authenticates by itself, before these routes. */
export interface ListedRoute extends Pick<Route, 'method' | 'path' | 'cost'> {
  access: Route['access'] | 'git';
}

/** Every URL without its handler, in the order of matching: available without a server. */
export function listRoutes(): ListedRoute[] {
  const unused: Middleware = () => {
    throw new Error('A route that is only listed was called');
  };
  // A stand-in for the handlers and for every property of them.
  const handlers: never = new Proxy(unused, { get: () => handlers }) as never;
  return [
    ...gitRoutes.map(({ method, path }): ListedRoute => ({ method, path, access: 'git', cost: 'transfer' })),
    ...routes(handlers).map(({ method, path, access, cost }) => ({
      method,
      path,
      access,
      cost,
    })),
  ];
}
