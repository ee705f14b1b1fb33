import type { WebDeps } from '../../web/index.ts';

/** What the pages of packages call. */
export type PackagesDeps = Pick<
  WebDeps,
  'clock' | 'config' | 'imageProxy' | 'organisations' | 'owners' | 'packages' | 'repositories' | 'workers'
>;
