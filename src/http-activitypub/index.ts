export { createFederationHandlers } from './handlers.ts';
export type { FederationHandlers } from './handlers.ts';
export { negotiateActors } from './content-negotiation.ts';
