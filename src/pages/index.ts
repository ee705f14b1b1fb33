export { createWebServer } from './app/chain.ts';
export type { WebOptions } from './app/chain.ts';
