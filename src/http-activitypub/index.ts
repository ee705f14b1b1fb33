export { createFederationHandlers } from './handlers.ts';
export type { FederationHandlers } from './handlers.ts';
export { nameActors } from './negotiate.ts';
