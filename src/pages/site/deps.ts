import type { WebDeps } from '../../web/index.ts';

/** The modules that the pages of this folder call. */
export type SiteDeps = Pick<WebDeps, 'assets' | 'config' | 'imageProxy' | 'signing' | 'unready'>;
