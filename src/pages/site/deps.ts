import type { WebDeps } from '../../web/index.ts';

/** What the pages of this folder call. */
export type SiteDeps = Pick<WebDeps, 'assets' | 'config' | 'imageProxy' | 'signing' | 'unready'>;
