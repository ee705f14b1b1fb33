import type { WebDeps } from '../../web/index.ts';

/** The modules that the pages of this folder call. */
export type CodeDeps = Pick<
  WebDeps,
  | 'config'
  | 'clock'
  | 'ci'
  | 'accounts'
  | 'owners'
  | 'signing'
  | 'releases'
  | 'repositories'
  | 'pulls'
  | 'git'
  | 'lfs'
  | 'highlighting'
  | 'workers'
  | 'issues'
  | 'imageProxy'
>;
