import type { WebDeps } from '../../http/index.ts';

/** What the pages of this folder call. */
export type HelpDeps = Pick<WebDeps, 'workers'>;
