export { gitFirst, throughPages } from './git-first.ts';
export type { GitHandlers } from './exchange.ts';
export { createGitHandlers } from './handlers.ts';
