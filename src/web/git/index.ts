export { gitFirst, throughPages } from './door.ts';
export type { GitHandlers } from './exchange.ts';
export { createGitHandlers } from './handlers.ts';
