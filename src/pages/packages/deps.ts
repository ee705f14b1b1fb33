import type { WebDeps } from '../../http/index.ts';

/** What the pages of packages call. */
export type PackagesDeps = Pick<
  WebDeps,
  'clock' | 'config' | 'imageProxy' | 'organisations' | 'owners' | 'packages' | 'repositories' | 'workers'
>;
