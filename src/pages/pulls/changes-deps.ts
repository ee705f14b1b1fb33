import type { WebDeps } from '../../http/index.ts';

/** What the page of changes calls. */
export type ChangesDeps = Pick<
  WebDeps,
  | 'config'
  | 'clock'
  | 'accounts'
  | 'owners'
  | 'signing'
  | 'repositories'
  | 'git'
  | 'highlighting'
  | 'workers'
  | 'issues'
  | 'pulls'
  | 'imageProxy'
>;
