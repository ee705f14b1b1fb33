import type { Route } from '../app/route.ts';
import { showDocument, showHelp } from './help.page.ts';

/** The documentation, also for anonymous clients. */
export const helpRoutes: readonly Route[] = [
  { method: 'GET', path: '/help', access: 'public', cost: 'rows', page: showHelp },
  { method: 'GET', path: '/help/:name', access: 'public', cost: 'rows', page: showDocument },
];
