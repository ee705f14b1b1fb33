export { createGitHandlers } from './handlers.ts';
export { createGitListener } from './listener.ts';
