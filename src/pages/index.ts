export { createWebServer } from './app/chain.ts';
export type { WebOptions } from './app/chain.ts';
export { listRoutes } from './routes.ts';
export type { ListedRoute } from './routes.ts';
