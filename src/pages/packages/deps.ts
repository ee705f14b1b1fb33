import type { WebDeps } from '../../web/index.ts';

/** The modules that the package pages call. */
export type PackagesDeps = Pick<
  WebDeps,
  'clock' | 'config' | 'imageProxy' | 'organisations' | 'owners' | 'packages' | 'repositories' | 'workers'
>;
