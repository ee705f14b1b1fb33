export { createGitHandlers } from './handlers.ts';
export { createGitListener, gitRoutes } from './listener.ts';
