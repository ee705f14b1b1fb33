import type { Route } from '../app/route.ts';
import { showApi, showOpenApi } from './api.page.ts';
import { showDiagramFrame } from './diagram-frame.page.ts';
import { showNotFound } from './not-found.page.ts';
import { showRemoteImage } from './remote-image.page.ts';
import {
  showHealth,
  showReadiness,
  showRobots,
  showFavicon,
  showAsset,
  showSigningKey,
} from './well-known-files.page.ts';

/** The routes of the server itself. */
export const siteRoutes: readonly Route[] = [
  { method: 'GET', path: '/healthz', access: 'open', cost: 'free', page: showHealth },
  { method: 'GET', path: '/readyz', access: 'open', cost: 'rows', page: showReadiness },
  { method: 'GET', path: '/robots.txt', access: 'open', cost: 'free', page: showRobots },
  { method: 'GET', path: '/favicon.ico', access: 'open', cost: 'free', page: showFavicon },
  { method: 'GET', path: '/assets/mermaid', access: 'open', cost: 'free', page: showDiagramFrame },
  { method: 'GET', path: '/assets/:file', access: 'open', cost: 'free', page: showAsset },
  // Knowing the URL grants access, as for the document that contains it.
  { method: 'GET', path: '/-/images/:signature/:encoded', access: 'open', cost: 'rows', page: showRemoteImage },
  { method: 'GET', path: '/-/signing-key', access: 'public', cost: 'rows', page: showSigningKey },
  { method: 'GET', path: '/api/v1', access: 'public', cost: 'free', page: showApi },
  { method: 'GET', path: '/api/v1/openapi.json', access: 'open', cost: 'free', page: showOpenApi },
];

/** The page for URLs that no other row matches. */
export const notFoundRoutes: readonly Route[] = [
  { method: 'GET', path: '/repos/:owner/:name/{*rest}', access: 'repository:read', cost: 'rows', page: showNotFound },
  { method: 'GET', path: '/{*rest}', access: 'public', cost: 'free', page: showNotFound },
];
