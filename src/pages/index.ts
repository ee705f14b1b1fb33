export { renderForMail } from './markdown/render-for-mail.ts';
export { prerenderText, shownTextsOf } from './markdown/render-text.ts';
export { createWebServer } from './middleware-chain.ts';
export type { WebOptions } from './middleware-chain.ts';
export { listRoutes } from './routes.ts';
export type { ListedRoute } from './routes.ts';
