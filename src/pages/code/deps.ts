import type { WebDeps } from '../../http/index.ts';

/** What the pages of this folder call. */
export type CodeDeps = Pick<
  WebDeps,
  | 'config'
  | 'clock'
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
