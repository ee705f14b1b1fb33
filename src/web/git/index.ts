export { createGitHandlers } from './handlers.ts';
export type { GitHandlers } from './handlers.ts';
